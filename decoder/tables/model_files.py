"""The one declaration of the files of a model directory, used by their writers, by `open_model` and by `check-model`.

docs/reference/model-files.md is generated from it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_file import ArrayWriter, map_array
from phrasebeam.base.array_struct import ArrayField, array
from phrasebeam.base.errors import FormatError

TRAIN_AGAIN = "train the model again or copy it whole"

COUNTS = {  # names of sizes in the shapes of arrays
    "N": "source phrases",
    "P": "phrase pairs",
    "F": "words of all source phrases",
    "E": "words of all target phrases",
    "A": "alignment points of all pairs",
    "S": "slots of the hash table: a power of two, at most half of them used",
    "K": "scores of a phrase pair",
    "C": "columns of the reordering model, see `Reordering`",
    "B": "columns of the reordering model that are not learned",
    "V": "words of the source vocabulary",
    "W": "words of the target vocabulary",
    "O": "operations of the operation sequence model",
    "Z": "sparse features of all pairs",
    "U": "sparse features with a weight",
}
TYPES = 3  # pairs that occur once, twice, three times or more
ORIENTATIONS = 8  # M S DL DR, backward then forward


class Offsets(NamedTuple):
    """Ascending numbers from 0 to a count: the begins of the parts of another array, and the end of the last part."""

    into: str  # a name in COUNTS

    def __str__(self) -> str:
        return f"0 to {self.into}, ascending"


class Whole(NamedTuple):
    """Whole numbers from `least` to below `end`."""

    least: int
    end: int | str  # a number or a name in COUNTS

    def __str__(self) -> str:
        if isinstance(self.end, int) and self.end > 1 << 16:
            return f"{self.least} to 2^{self.end.bit_length() - 1} - 1"
        return f"{self.least} to {self.end} - 1"


class Keys(NamedTuple):
    """Whole numbers from `least` to below `end`, each larger than the preceding one, for binary search."""

    least: int
    end: int

    def __str__(self) -> str:
        return f"{Whole(*self)}, ascending"


class Finite(NamedTuple):
    """Numbers that are neither infinite nor NaN."""

    # The first columns (a number or a name in COUNTS) are ln of probabilities in models made by train-model; imported
    # scores may be any numbers.
    probabilities: int | str = 0

    def __str__(self) -> str:
        columns = f"; the first {self.probabilities} columns at most 0, unless imported" if self.probabilities else ""
        return f"finite numbers{columns}"


Values = Offsets | Whole | Keys | Finite


N_CODES = 256  # codes of a score in 8 bits


class ArrayFile(NamedTuple):
    """An .npy file."""

    name: str  # without the ending .npy
    array: ArrayField  # dtype, and shape in numbers and COUNTS
    values: Values  # valid numbers of the array
    content: str


COUNTED = Whole(0, 2**31)
PHRASES = (
    ArrayFile("source_offsets", array(np.int64, "N + 1"), Offsets("F"), "start of each source phrase"),
    ArrayFile("target_offsets", array(np.int64, "P + 1"), Offsets("E"), "start of the target phrase of each pair"),
    ArrayFile("pair_offsets", array(np.int64, "N + 1"), Offsets("P"), "start of the pairs of each source phrase"),
    ArrayFile(
        "alignment_offsets", array(np.int64, "P + 1"), Offsets("A"), "start of the alignment points of each pair"
    ),
    ArrayFile("source_words", array(np.int32, "F"), Whole(0, "V"), "words of the source phrases"),
    ArrayFile("target_words", array(np.int32, "E"), Whole(0, "W"), "words of the target phrases"),
    ArrayFile("ln_scores", array(np.float32, "P", "K"), Finite(4), "ln p(f|e), lex(f|e), p(e|f), lex(e|f), others"),
    ArrayFile("alignment_points", array(np.uint8, "A", 2), Whole(0, 256), "source and target position in the phrases"),
    ArrayFile("joint_counts", array(np.int32, "P"), COUNTED, "c(f, e)"),
    ArrayFile("source_counts", array(np.int32, "N"), COUNTED, "c(f)"),
    ArrayFile("target_counts", array(np.int32, "P"), COUNTED, "c(e)"),
    ArrayFile("slots", array(np.int64, "S"), Whole(-1, "N"), "hash table of source phrases, -1 in empty slots"),
)
SCORE_CODES = (  # instead of ln_scores, in models with 8-bit scores
    ArrayFile("score_codes", array(np.uint8, "P", "K"), Whole(0, N_CODES), "codes of the scores, rows of the codebook"),
    ArrayFile(
        "codebook", array(np.float32, N_CODES, "K"), Finite(4), "the scores for which the codes stand, by column"
    ),
)
REORDERING = (
    ArrayFile("ln_scores", array(np.float32, "P", "C"), Finite("B"), "ln p of the orientations, then learned scores"),
    ArrayFile(
        "counts",
        array(np.int32, "P", ORIENTATIONS),
        COUNTED,
        "numbers of occurrences as M S DL DR: monotone, swap, discontinuous left, right; backward, then forward",
    ),
)
PAIR_TYPES = (
    ArrayFile(
        "target_types",
        array(np.int32, "P", TYPES),
        COUNTED,
        "numbers of pairs with e that occur once, twice, three or more times",
    ),
)
WORD_COUNTS = (  # in models that train-model made from text
    ArrayFile("source_occurrences", array(np.int64, "V"), Whole(0, 2**62), "number of occurrences of each source word"),
    ArrayFile("target_occurrences", array(np.int64, "W"), Whole(0, 2**62), "number of occurrences of each target word"),
    ArrayFile("source_sentences", array(np.int64, "V"), Whole(0, 2**62), "number of sentences with each source word"),
    ArrayFile("target_sentences", array(np.int64, "W"), Whole(0, 2**62), "number of sentences with each target word"),
)
SPARSE_WEIGHTS = (
    ArrayFile("keys", array(np.uint64, "U"), Keys(1, 2**64), "hashed features"),
    ArrayFile("values", array(np.float64, "U"), Finite(), "their weights"),
)
PAIR_FEATURES = (
    ArrayFile("offsets", array(np.int64, "P + 1"), Offsets("Z"), "start of the features of each pair"),
    ArrayFile("keys", array(np.uint64, "Z"), Whole(0, 2**64), "hashed features"),
    ArrayFile("values", array(np.float32, "Z"), Finite(), "their values"),
)
OPERATIONS = (ArrayFile("keys", array(np.int64, "O"), Keys(1, 2**62), "hashed operations"),)
ARRAY_FILES = {  # by folder
    "phrases": (*PHRASES, *SCORE_CODES),
    "reordering": REORDERING,
    "smoothing": PAIR_TYPES,
    "word_counts": WORD_COUNTS,
    "operations": OPERATIONS,
    "sparse": SPARSE_WEIGHTS,
    "sparse/pairs": PAIR_FEATURES,
}
OTHER_FILES = {  # content by name; * stands for a number, or for source and target
    "model.yaml": "description of the model and of how it was made; digests of all other files",
    "weights.yaml": "the dense weights, see [features](features.md); may be edited",
    "source.vocab": "words of the source phrases, one per line in the order of their ids",
    "target.vocab": "words of the target phrases, in the same form",
    "lm*.bin": "the language models, KenLM probing binaries; the first is lm.bin, the others lm2.bin and so on",
    "lm*.classes": "word classes of a language model over classes, lines `word class` or `class word count`",
    "alignment": "the word alignment of the training data in Pharaoh's format, for leave-one-out",
    "tokenizer.*": "data that the tokenizer of a side learned from raw text: YAML, or a SentencePiece model",
    "truecase.*": "case variants of the words of a side, if the model truecases raw text",
    "search.yaml": (
        "search settings: sections `search`, `mbr`, `input` and `confidence` of the settings of translate; "
        "may be edited"
    ),
    "README.md": "for people: how and from what the model was made, and its scores; no command reads it",
    "evidence/**/*": "a second model with the same source tokens, see `evidence` in the settings of minimum Bayes risk",
    "letters/**/*": "a model of letters, which translates unknown words, see `spelled_words` in the features",
    "operations/lm.bin": "language model over operations, a KenLM probing binary",
    "operations/names": "operations as words of that model, one per line in the order of their keys",
    "templates.yaml": "the groups of sparse features, and the format of their keys",
    "classes.*": "word classes of a level in templates.yaml",
    "sparse/names": "hexadecimal key and name of the features with the largest weights",
    "sparse/pairs/names": "names of the features of single phrase pairs",
}
ALIGNER = "aligner.yaml"  # of a saved aligner, which is not a model
MODEL, ALIGNMENT = "model.yaml", "alignment"
SEARCH, README = "search.yaml", "README.md"
EVIDENCE, LETTERS = "evidence", "letters"  # the folders of a second model, and of a model of letters
EDITABLE = ("weights.yaml", SEARCH, README)  # users may change them
WORK_DIRECTORIES = (
    "tuning",
    "maxforce",
    "ranking",
    "expected_bleu",
    "recipe",
)  # written by trainers to the models that they make


def phrase_files(directory: Path) -> Sequence[ArrayFile]:
    """The files of a phrase table with plain or coded scores."""
    if not (directory / f"{SCORE_CODES[0].name}.npy").exists():
        return PHRASES
    return [*(file for file in PHRASES if file.name != "ln_scores"), *SCORE_CODES]


def open_arrays(directory: Path, files: Sequence[ArrayFile], counts: dict[str, int]) -> dict[str, np.ndarray]:
    """Map the arrays of a folder of a model by their names, and check dtypes and shapes as far as counts are known.

    `counts`: by the names in COUNTS; counts that follow from shapes and last offsets are added. Raises ModelError if a
    file is missing, FormatError if it is damaged or does not fit.
    """
    arrays = {}
    for file in files:
        path = directory / f"{file.name}.npy"
        arrays[file.name] = found = map_array(path, file.array, counts, TRAIN_AGAIN)
        if isinstance(file.values, Offsets):
            end = int(found[-1])
            if end != counts.setdefault(file.values.into, max(end, 0)):
                raise FormatError(path, f"ends with {end}, expected {counts[file.values.into]}; {TRAIN_AGAIN}")
    return arrays


def array_writers(directory: Path, files: Sequence[ArrayFile], counts: Mapping[str, int]) -> dict[str, ArrayWriter]:
    """A writer for each file, by name; `counts` gives the numbers of columns."""
    writers = {}
    for file in files:
        row_shape = file.array._replace(shape=file.array.shape[1:]).lengths(counts)
        writers[file.name] = ArrayWriter(directory / f"{file.name}.npy", file.array.dtype, row_shape)
    return writers
