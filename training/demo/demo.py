"""The demo: generate a corpus, train a model on it, translate held-out sentences and score them by BLEU."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from phrasebeam.base.config import Count, Section, load_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.model.replacement import FORCE
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.tables.provenance import check_output, differences, version
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.demo.demo_corpus import DemoFiles, write_corpus
from phrasebeam.training.metrics.evaluation import bleu
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model

SETTINGS = "demo.yaml"
TEST_SENTENCES = 200
N_EXAMPLES = 3
SHORTEST_EXAMPLE, LONGEST_EXAMPLE = 7, 14  # source words: long enough for reordering, short enough to read


@dataclass(frozen=True)
class DemoExample:
    """A sentence of the test part, its translation and its reference."""

    source: str
    translation: Translation
    reference: str


@dataclass(frozen=True)
class DemoResult:
    """The files of the demo, the BLEU of its translations, and examples of them."""

    corpus: DemoFiles
    model: Path  # directory
    output: Path  # translations of the test part
    bleu: float  # in percent
    signature: str  # sacrebleu's, of the score
    examples: tuple[DemoExample, ...]


class DemoSettings(Section):
    """Settings of a demo. The directory of a demo is recognized by the file of its settings."""

    format: Literal["phrasebeam demo 1"] = "phrasebeam demo 1"
    version: str
    sentences: Count
    seed: Count
    settings: dict[str, object]  # of train-model


def run_demo(
    directory: str | Path, sentences: int, seed: int, config: TrainModelConfig, is_forced: bool = False
) -> DemoResult:
    """Train on `sentences` pairs of the demo corpus, translate and score a held-out part. All files are in `directory`.

    An existing demo with other settings is refused or, if `is_forced`, deleted. Raises ConfigError if
    `sentences` < 1, or if `directory` has other files; SmtError and OSError as training and translating do.
    """
    if sentences < 1:
        raise ConfigError(f"sentences is {sentences}; expected 1 or more")
    directory = Path(directory)
    settings = config.model_dump(mode="json", exclude={"threads", "memory"})
    made = DemoSettings(version=version(), sentences=sentences, seed=seed, settings=settings)
    _check_directory(directory, made, is_forced)
    save_config(made, directory / SETTINGS)
    with stage("writing the demo corpus"):
        corpus = write_corpus(directory / "corpus", sentences, TEST_SENTENCES, seed)
    model = directory / "model"
    train_model(corpus.train_source, corpus.train_target, model, config, is_forced=is_forced)
    sources, references = list(read_lines(corpus.test_source)), list(read_lines(corpus.test_target))
    translations = []
    with (
        stage("translating the test part", len(sources), "sentences") as advance,
        closing(Decoder.load(model).translate_all(sources, config.threads)) as found,
    ):
        for translation in found:
            translations.append(translation)
            advance(1)
    output = directory / "test.output.en"
    with atomic_file(output) as file:
        file.write("".join(f"{translation.text}\n" for translation in translations).encode())
    score, signature = bleu([translation.text for translation in translations], references)
    examples = [DemoExample(*example) for example in zip(sources, translations, references)]
    return DemoResult(corpus, model, output, score, signature, tuple(islice(_reordered_first(examples), N_EXAMPLES)))


def _check_directory(directory: Path, made: DemoSettings, is_forced: bool) -> None:
    """Raise ConfigError unless `directory` is absent, empty, or a demo that `made` may replace."""
    path = directory / SETTINGS
    check_output(directory, SETTINGS, f"format: {made.format}", "a demo")
    before = load_config(path, DemoSettings) if path.exists() and not is_forced else made
    if found := differences(before.model_dump(), made.model_dump()):
        raise ConfigError(f"{directory}: a demo: {found}; {FORCE}")


def _reordered_first(examples: list[DemoExample]) -> Iterator[DemoExample]:
    """Yield the examples of readable length in which phrases are reordered, then the others."""

    def is_reordered(example: DemoExample) -> bool:
        starts = [phrase.source_span[0] for phrase in example.translation.phrases]
        return SHORTEST_EXAMPLE <= len(example.source.split()) <= LONGEST_EXAMPLE and starts != sorted(starts)

    yield from (example for example in examples if is_reordered(example))
    yield from (example for example in examples if not is_reordered(example))
