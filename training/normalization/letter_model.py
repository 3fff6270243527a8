"""The model of letters of a normalizer: each word pair a sentence pair, each letter a word."""

from collections.abc import Collection, Mapping
from pathlib import Path

from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.files import scratch_directory
from phrasebeam.decoder.normalization.word_letters import letter_tokens
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.normalization.normalizer_settings import LetterModelSettings
from phrasebeam.training.normalization.word_pairs import Pair


class LetterModelBuilder:
    """What makes models of letters of word pairs, all with the same known words of the target language."""

    def __init__(self, known: Collection[str], settings: LetterModelSettings, threads: int, memory: int):
        self.known, self.settings, self.threads, self.memory = sorted(known), settings, threads, memory

    def build(self, pairs: Mapping[Pair, int], output: Path) -> None:
        """Build the model of word pairs, with how often each occurs, in `output`. Raises SmtError or OSError."""
        with scratch_directory(output.parent) as directory:
            source, target, words = directory / "words", directory / "forms", directory / "known"
            copies = [(pair, min(count, self.settings.copies)) for pair, count in sorted(pairs.items())]
            _write(source, [word for (word, _), count in copies for _ in range(count)])
            _write(target, [form for (_, form), count in copies for _ in range(count)])
            _write(words, self.known)
            train_model(source, target, output, self._config(words), is_forced=True)
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
        if settings.operations:
            config["operations"] = {"order": settings.operations}
        return parse_config(config, TrainModelConfig, "the model of letters")


def _write(path: Path, words: list[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for word in words:
            file.write(f"{' '.join(letter_tokens(word))}\n")
