"""The directory of a normalizer: its description, its model of letters, its memory of words, its weights.

normalizer.yaml        NormalizerDescription
letters/               a model of letters, a model directory as train-model writes it
pairs.tsv, words.txt   WordMemory: word, form, count; the known words of the target language
edits.npy              float64[A, A], costs of edits of letters; the alphabet is in normalizer.yaml
output-first.npy, outputs.npy, output-weights.npy    LetterOutputs
sparse.npy             float32[S], weights of the second choice
"""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.array_file import map_array
from phrasebeam.base.array_struct import array
from phrasebeam.base.config import Count, Section, load_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.decoder.model.digests import Digest, file_digest
from phrasebeam.decoder.normalization.candidates import CandidateSettings, LetterCosts
from phrasebeam.decoder.normalization.directory import NORMALIZER, is_normalizer
from phrasebeam.decoder.normalization.letter_outputs import LetterOutputs
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.normalization.word_memory import WordMemory
from phrasebeam.decoder.tokenizers.spelling import Spelling

NORMALIZER_FORMAT = "phrasebeam normalizer 3"
LETTER_MODEL = "letters"
PAIRS, WORDS, EDITS, SPARSE = "pairs.tsv", "words.txt", "edits.npy", "sparse.npy"
OUTPUTS = "output-first.npy", "outputs.npy", "output-weights.npy"  # in the order of the fields of LetterOutputs
OWN_FILES = PAIRS, WORDS, EDITS, *OUTPUTS, SPARSE
TRAIN_AGAIN = "train the normalizer again or copy it whole"
MOST_SLOTS = 1 << 24


class CalibrationBin(Section):
    """Held-out words whose forms have a confidence in one range."""

    least: float = Field(ge=0, le=1, description="confidence, from this")
    words: Count
    right: Count
    confidence: float = Field(ge=0, le=1, description="their mean")


class HeldOutResult(Section):
    """Accuracy of a normalizer on words that were not used to learn its weights."""

    words: Count = 0
    right: Count = 0
    letters_right: Count = Field(0, description="where the best form of the model of letters is taken")
    reachable: Count = Field(0, description="whose form is one of the candidates")
    calibration: list[CalibrationBin] = Field([], max_length=100)

    @property
    def accuracy(self) -> float:
        """Percentage of words whose form is right."""
        return 100 * self.right / max(1, self.words)


class NormalizerDescription(Section):
    """normalizer.yaml: what a normalizer is and how it was made."""

    format: Literal["phrasebeam normalizer 3"]
    version: str
    signature: str
    candidates: CandidateSettings = CandidateSettings()
    alphabet: list[str] = Field(max_length=1 << 16)
    has_spaced_forms: bool = Field(False, description="whether spaces set letters of forms apart")
    weights: dict[str, float] = Field(max_length=1000, description="by feature, of the first choice")
    held_out: HeldOutResult = HeldOutResult()
    data: dict[str, dict[str, str]] = Field({}, description="names and digests of the files that it was made of")
    files: dict[str, Digest] = Field({}, description="of the other files of its own")


class NormalizerParts(NamedTuple):
    """Parts of a normalizer besides its model of letters."""

    description: NormalizerDescription
    memory: WordMemory
    letters: LetterCosts
    sparse: np.ndarray  # float32[S], S a power of two


def open_parts(directory: Path) -> NormalizerParts:
    """Load all parts in a directory but the model of letters. Raises SmtError with the name of the damaged file."""
    if not is_normalizer(directory):
        raise ConfigError(f"{directory}: not a normalizer; train one with --recipe normalize")
    description = load_config(directory / NORMALIZER, NormalizerDescription)
    for name in OWN_FILES:
        if not (directory / name).is_file():
            raise ModelError(f"{directory / name}: missing; {TRAIN_AGAIN}")
        if description.files.get(name) != file_digest(directory / name):
            raise FormatError(directory / name, f"has changed since it was written; {TRAIN_AGAIN}")
    spelling = Spelling(description.has_spaced_forms)
    alphabet, counts = Alphabet(description.alphabet, spelling), dict[str, int]()
    counts["A"] = alphabet.size
    costs = map_array(directory / EDITS, array(np.float64, "A", "A"), counts, TRAIN_AGAIN)
    outputs = LetterOutputs(
        map_array(directory / OUTPUTS[0], array(np.int64, "A + 1"), counts, TRAIN_AGAIN),
        map_array(directory / OUTPUTS[1], array(np.uint64, "O"), counts, TRAIN_AGAIN),
        _weights(directory / OUTPUTS[2]),
    )
    if outputs.first[0] < 0 or outputs.first[-1] != outputs.outputs.size or (np.diff(outputs.first) < 0).any():
        raise FormatError(directory / OUTPUTS[0], f"places of outputs that do not fit them; {TRAIN_AGAIN}")
    memory = WordMemory.load(directory / PAIRS, directory / WORDS)
    return NormalizerParts(description, memory, LetterCosts(alphabet, costs, outputs), _weights(directory / SPARSE))


def _weights(path: Path) -> np.ndarray:
    """float32[S], S a power of two."""
    weights = map_array(path, array(np.float32, "S"), {}, TRAIN_AGAIN)
    if weights.size > MOST_SLOTS or weights.size & (weights.size - 1) or not weights.size:
        raise FormatError(path, f"{weights.size} weights, expected a power of two; {TRAIN_AGAIN}")
    return weights
