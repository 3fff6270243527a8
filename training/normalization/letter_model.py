"""The model of letters of a normalizer: each word pair a sentence pair, each letter a word."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.files import scratch_directory
from phrasebeam.decoder.normalization.candidates import LetterCosts
from phrasebeam.decoder.normalization.letter_edits import edits_of
from phrasebeam.decoder.normalization.word_letters import letter_tokens
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.normalization.normalizer_settings import LetterModelSettings
from phrasebeam.training.normalization.word_pairs import Pair

EDITS = "edits"  # as the name of an aligner
KNOWN_MODEL = "lm2.bin"  # the language model of the known words, which models without a fold share


class LetterModelBuilder:
    """What makes models of letters of word pairs, all with the same known words of the target language."""

    def __init__(self, known: Collection[str], settings: LetterModelSettings, threads: int, memory: int):
        self.known, self.settings, self.threads, self.memory = sorted(known), settings, threads, memory

    def build(self, pairs: Mapping[Pair, int], letters: LetterCosts, output: Path, other: Path | None = None) -> None:
        """Build the model of word pairs, with how often each occurs, in `output`. Raises SmtError or OSError.

        Letters are aligned as edits by `letters` align them, unless settings name an aligner. `other`: a model that was
        built before with the same known words.
        """
        with scratch_directory(output.parent) as directory:
            source, target, words = directory / "words", directory / "forms", directory / "known"
            copies = [(pair, min(count, self.settings.copies)) for pair, count in sorted(pairs.items())]
            _write(source, [word for (word, _), count in copies for _ in range(count)])
            _write(target, [form for (_, form), count in copies for _ in range(count)])
            alignment = None
            if EDITS in self.settings.aligners:
                alignment = directory / "alignment"
                _write_alignment(alignment, [(pair, count) for pair, count in copies], letters)
            _write(words, self.known)
            kept = {KNOWN_MODEL: other / KNOWN_MODEL} if other and self.known else {}
            config = self._config(words)
            train_model(source, target, output, config, alignment, is_forced=True, kept_models=kept)
        save_config(ModelSearch(search=self.settings.search), output / SEARCH)

    def _config(self, words: Path) -> TrainModelConfig:
        settings = self.settings
        config: dict[str, object] = {
            "clean": False,
            "phrases": {"max_length": settings.longest},
            "reordering": {"orientation": "none"},
            "language_model": {"order": settings.order},
            "threads": self.threads,
            "memory": self.memory,
        }
        if self.known:
            config["language_models"] = [{"text": [str(words)]}]
        others = [{"aligner": name} for name in settings.aligners if name != EDITS]
        if EDITS not in settings.aligners:
            config["alignment"] = others.pop(0)
        config["more_alignments"] = others
        if settings.operations:
            config["operations"] = {"order": settings.operations}
        return parse_config(config, TrainModelConfig, "the model of letters")


def _write(path: Path, words: list[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for word in words:
            file.write(f"{' '.join(letter_tokens(word))}\n")


def _write_alignment(path: Path, copies: Sequence[tuple[Pair, int]], letters: LetterCosts) -> None:
    """Write which letters of words and forms the cheapest edits align, in Pharaoh's format, a line for each copy."""
    words, forms = ([pair[side] for pair, _ in copies] for side in (0, 1))
    texts = letters.alphabet.texts(words), letters.alphabet.texts(forms)
    edits = edits_of(texts[0], np.arange(len(copies)), texts[1], letters.costs)
    sizes = zip(np.diff(texts[0].first).tolist(), np.diff(texts[1].first).tolist())
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for i, ((_, count), (n, m)) in enumerate(zip(copies, sizes)):
            here = slice(edits.first[i], edits.first[i + 1])
            both = zip(edits.word_letter[here].tolist(), edits.form_letter[here].tolist())
            points = [(0, 0), *((a + 1, b + 1) for a, b in both if a >= 0 and b >= 0), (n + 1, m + 1)]
            file.write((" ".join(f"{a}-{b}" for a, b in points) + "\n") * count)
