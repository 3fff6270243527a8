"""The letter model of a normalizer: a phrase-based model with word pairs as sentence pairs and letters as words."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.files import scratch_directory
from phrasebeam.decoder.normalization.letter_edits import edits_of
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.tokenizers.spelling import OF_WORDS, Spelling
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.normalization.normalizer_settings import LetterTableSettings
from phrasebeam.training.normalization.word_pairs import Pair

EDITS = "edits"  # name of the aligner that aligns letters by the cheapest edits
KNOWN_TEXT, KNOWN_MODEL = "known", "known.bin"  # the known words as letters, and their language model
KNOWN_LM = "lm2.bin"  # name of this language model in a model directory
# Close to the weights that the first choice learned for these features on six data sets, so that candidate lists are
# good from the start:
OWN_WEIGHT, KNOWN_WEIGHT = 0.1, 0.4  # of the language models of forms and of known words
OPERATION_WEIGHTS = [0.5, 0.0, 0.0]
WEIGHTS: dict[str, float | list[float]] = {
    "translation": [0.6, 0.05, 0.25, 0.0],
    "language_model": [OWN_WEIGHT],
    "word_penalty": 0.15,
    "phrase_penalty": 0.35,
}


class LetterModelBuilder:
    """Builds letter models in `directory`; all have the same known words of the target language."""

    def __init__(
        self,
        directory: Path,
        known: Collection[str],
        of_forms: Spelling,
        settings: LetterTableSettings,
        search: SearchSettings,
        threads: int,
        memory: int,
    ):
        self.directory, self.known, self.of_forms, self.settings = directory, sorted(known), of_forms, settings
        self.search = search  # stored with each model
        self.threads, self.memory = threads, memory  # for the building of each model

    def prepare(self) -> None:
        """Estimate the language model of the known words, unless it exists. Raises SmtError or OSError."""
        text, path = self.directory / KNOWN_TEXT, self.directory / KNOWN_MODEL
        if self.known and not path.exists():
            _write(text, self.known, self.of_forms)
            write_probing(estimate(text, self.settings.order, self.memory, self.directory), path, self.memory)

    def build(self, name: str, pairs: Mapping[Pair, int], alphabet: Alphabet, costs: np.ndarray) -> None:
        """Build the model `name` from word pairs and the number of their occurrences, unless it exists.

        The aligner "edits" aligns letters by the cheapest edits, with these `costs`. Raises SmtError, OSError.
        """
        output = self.directory / name
        if (output / SEARCH).exists():
            return
        with scratch_directory(self.directory) as directory:
            source, target = directory / "words", directory / "forms"
            copies = [(pair, min(count, self.settings.copies)) for pair, count in sorted(pairs.items())]
            _write(source, [word for (word, _), count in copies for _ in range(count)], OF_WORDS)
            _write(target, [form for (_, form), count in copies for _ in range(count)], self.of_forms)
            alignment = None
            if EDITS in self.settings.aligners:
                alignment = directory / "alignment"
                _write_alignment(alignment, copies, alphabet, costs)
            kept = {KNOWN_LM: self.directory / KNOWN_MODEL} if self.known else {}
            train_model(source, target, output, self._config(), alignment, is_forced=True, kept_models=kept)
        save_config(ModelSearch(search=self.search), output / SEARCH)

    def _config(self) -> TrainModelConfig:
        settings = self.settings
        config: dict[str, object] = {
            "clean": False,
            "phrases": {"max_length": settings.longest},
            "reordering": {"orientation": "none"},
            "language_model": {"order": settings.order},
            "threads": self.threads,
            "memory": self.memory,
        }
        weights: dict[str, object] = dict(WEIGHTS)
        if self.known:
            weights["language_model"] = [OWN_WEIGHT, KNOWN_WEIGHT]
            config["language_models"] = [{"text": [str(self.directory / KNOWN_TEXT)]}]
        others = [{"aligner": name} for name in settings.aligners if name != EDITS]
        if EDITS not in settings.aligners:
            config["alignment"] = others.pop(0)
        config["more_alignments"] = others
        if settings.operations:
            config["operations"] = {"order": settings.operations}
            weights["operations"] = OPERATION_WEIGHTS
        config["weights"] = weights
        return parse_config(config, TrainModelConfig, "the model of letters")


def _write(path: Path, words: list[str], spelling: Spelling) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for word in words:
            file.write(f"{' '.join(spelling.tokens(word))}\n")


def _write_alignment(path: Path, copies: Sequence[tuple[Pair, int]], alphabet: Alphabet, costs: np.ndarray) -> None:
    """Write the letters that the cheapest edits align, in Pharaoh's format, one line for each copy of a word pair."""
    words, forms = ([pair[side] for pair, _ in copies] for side in (0, 1))
    texts = alphabet.texts(words), alphabet.form_texts(forms)
    edits = edits_of(texts[0], np.arange(len(copies)), texts[1], costs)
    sizes = zip(np.diff(texts[0].first).tolist(), np.diff(texts[1].first).tolist())
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for i, ((_, count), (n, m)) in enumerate(zip(copies, sizes)):
            here = slice(edits.first[i], edits.first[i + 1])
            both = zip(edits.word_letter[here].tolist(), edits.form_letter[here].tolist())
            points = [(0, 0), *((a + 1, b + 1) for a, b in both if a >= 0 and b >= 0), (n + 1, m + 1)]
            file.write((" ".join(f"{a}-{b}" for a, b in points) + "\n") * count)
