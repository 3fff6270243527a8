"""Settings of the training of a normalizer, with all their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from phrasebeam.base.config import WITHOUT_EFFECT, PositiveFactor, Section, Seed, Threads
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.decoder.normalization.candidates import CandidateSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.letter_forms import LETTER_SEARCH
from phrasebeam.lm.estimate import MIN_ORDER
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.training.word_alignment.alignment_settings import Aligner

MOST_FOLDS = 100


FormLetters = Literal["auto", "characters", "spaced"]
LetterAligner = Literal["edits", Aligner]


class LetterTableSettings(Section):
    """A phrase-based model that translates the letters of a word."""

    copies: int = Field(3, ge=1, le=1_000_000, description="maximum number of times that a repeated word pair counts")
    aligners: list[LetterAligner] = Field(
        ["edits"],
        min_length=1,
        max_length=10,
        description="aligners of letters; phrase pairs are extracted from the alignments of all of them. edits: "
        "edit distance with learned costs; others: word aligners",
    )
    order: int = Field(7, ge=MIN_ORDER, le=MAX_ORDER, description="length of the longest n-grams of letters")
    operations: int = Field(
        5,
        ge=0,
        le=MAX_ORDER,
        description="length of the longest n-grams of the operation sequence model; 0: no such model",
    )
    longest: int = Field(7, ge=1, le=20, description="maximum phrase length in letters")


class LetterModelSettings(LetterTableSettings):
    """The letter model of a normalizer, and how it lists candidates."""

    search: SearchSettings = Field(LETTER_SEARCH, description="search settings for the lists of candidates")


class OutputSettings(Section):
    """The model of how each letter changes between its neighbours; its weights are learned by AdaGrad."""

    passes: int = Field(10, ge=1, le=100, description="number of passes over the distinct training pairs")
    rate: PositiveFactor = Field(0.1, description="learning rate")
    penalty: float = Field(
        0.02, ge=0, le=1000, description="factor of the sum of squared weights, at each step that changes a weight"
    )
    bits: int = Field(20, ge=4, le=24, description="base-2 logarithm of the number of weights")
    seed: Seed = Field(1, description="random seed of the order of letters")


class SparseSettings(Section):
    """Sparse features of candidates, whose weights are learned by AdaGrad."""

    neighbours: bool = Field(True, description="use features of the words before and after")
    passes: int = Field(3, ge=1, le=100, description="number of passes over the training words")
    rate: PositiveFactor = Field(0.1, description="learning rate")
    penalty: float = Field(
        0.05, ge=0, le=1000, description="factor of the sum of squared weights, at each step that changes a weight"
    )
    bits: int = Field(18, ge=4, le=24, description="base-2 logarithm of the number of weights")
    seed: Seed = Field(1, description="random seed of the order of words")


class NormalizerSettings(MemorySettings):
    """Settings of the training of a normalizer."""

    folds: int = Field(
        5,
        ge=2,
        le=MOST_FOLDS,
        description="number of parts of the training words; candidates for each part come from a letter model "
        "trained on the others",
    )
    form_letters: FormLetters = Field(
        "auto",
        description="symbols of a form: characters; or spaced, the strings between spaces, as in pronunciations; "
        "auto: spaced if most forms contain spaces",
    )
    letter_model: LetterModelSettings = LetterModelSettings()
    outputs: OutputSettings = OutputSettings()
    candidates: CandidateSettings = CandidateSettings()
    penalty: PositiveFactor = Field(1.0, description="factor of the sum of squared weights of dense features")
    sparse: SparseSettings = SparseSettings()
    threads: Annotated[Threads, WITHOUT_EFFECT] = 2


class NormalizerRecipe(Section):
    """A recipe file that trains a normalizer."""

    normalizer: NormalizerSettings
