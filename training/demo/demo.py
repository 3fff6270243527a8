"""A tour in one call: the embedded corpus, a model of it, translations of unseen sentences and their BLEU."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.build.config import TrainModelConfig
from phrasebeam.training.build.train_model import train_model
from phrasebeam.training.demo.demo_corpus import DemoFiles, write_corpus
from phrasebeam.training.metrics.evaluation import bleu

TEST_SENTENCES = 200
SHOWN = 3
SHORTEST_SHOWN, LONGEST_SHOWN = 7, 14  # words: enough for reordering, little enough to read


@dataclass(frozen=True)
class Example:
    """A sentence of the test part, how it was translated, and how it should have been."""

    source: str
    translation: Translation
    reference: str


@dataclass(frozen=True)
class DemoResult:
    """What the demo made: its files, the model's directory, and how good the translations are."""

    corpus: DemoFiles
    model: Path
    output: Path
    bleu: float
    signature: str
    examples: tuple[Example, ...]


def run_demo(directory: str | Path, sentences: int, seed: int, config: TrainModelConfig) -> DemoResult:
    """Train on `sentences` pairs of the demo corpus, translate and score a held-out part; all files in `directory`.

    Raises SmtError, OSError.
    """
    if sentences < 1:
        raise ConfigError(f"sentences is {sentences}; expected 1 or more")
    directory = Path(directory)
    with stage("writing the demo corpus"):
        corpus = write_corpus(directory / "corpus", sentences, TEST_SENTENCES, seed)
    model = directory / "model"
    train_model(corpus.train_source, corpus.train_target, model, config)
    sources, references = list(read_lines(corpus.test_source)), list(read_lines(corpus.test_target))
    with stage("translating the test part", len(sources)) as advance:
        translations = []
        for translation in Decoder.load(model).translate_all(sources, config.threads):
            translations.append(translation)
            advance(1)
    output = directory / "test.output.en"
    with atomic_file(output) as file:
        file.write("".join(f"{translation.text}\n" for translation in translations).encode())
    score, signature = bleu([translation.text for translation in translations], references)
    examples = [Example(*found) for found in zip(sources, translations, references)]
    return DemoResult(corpus, model, output, score, signature, tuple(islice(_worth_showing(examples), SHOWN)))


def _worth_showing(examples: list[Example]) -> Iterator[Example]:
    """Examples of readable length in which phrases change places come first, then the others."""

    def interesting(example: Example) -> bool:
        starts = [phrase.source_span[0] for phrase in example.translation.phrases]
        return SHORTEST_SHOWN <= len(example.source.split()) <= LONGEST_SHOWN and starts != sorted(starts)

    yield from (example for example in examples if interesting(example))
    yield from (example for example in examples if not interesting(example))
