"""The sentence pairs that a model was made of, as training that decodes them reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.sentence_input import Input, LeaveOneOut
from phrasebeam.decoder.model.language_model_folds import Fold, open_folds
from phrasebeam.decoder.model.model import Model
from phrasebeam.lm.text.corpus import split
from phrasebeam.training.common.build_lm_folds import build_lm_folds


@dataclass(frozen=True)
class TrainingData:
    """Sentences, their translations, and the word alignment that the model was made of."""

    source: Path
    target: Path
    alignment: Path | None

    @property
    def files(self) -> dict[str, Path]:
        """All files by name."""
        files = {"source": self.source, "target": self.target}
        return files | ({"alignment": self.alignment} if self.alignment else {})

    def check(self, leave_one_out: LeaveOneOut | None) -> None:
        """Raises ConfigError where leave-one-out lacks the alignment."""
        if leave_one_out and self.alignment is None:
            raise ConfigError("leave-one-out needs the word alignment of the training data; give --alignment")

    def pairs(
        self, leave_one_out: LeaveOneOut | None, lm_folds: int, sentences: int
    ) -> Iterator[tuple[Input, tuple[str, ...]]]:
        """The first `sentences` pairs, or with 0 all. Raises FormatError where files have not as many lines."""
        alignment = self.alignment if leave_one_out else None
        files = TrainingFiles(self.target, alignment, leave_one_out or "drop", lm_folds or None)
        inputs = (Input(split(line)) for line in read_lines(self.source))
        return islice(with_references(inputs, files), sentences or None)

    def folds(self, model: Model, directory: Path, n_folds: int, memory: int) -> Sequence[Fold]:
        """Language models without a fold of the target side each, in `directory`, where they are made if absent."""
        if not n_folds:
            return ()
        if not (directory / "folds.yaml").exists():
            build_lm_folds(self.target, directory, n_folds, model.description.language_model_order, memory_bytes=memory)
        return open_folds(directory, model)
