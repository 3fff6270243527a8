"""Settings of the training of a normalizer, with all their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from phrasebeam.base.config import WITHOUT_EFFECT, PositiveFactor, Section, Seed, Threads
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.decoder.normalization.candidates import CandidateSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.lm.estimate import MIN_ORDER
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.training.word_alignment.alignment_settings import Aligner

MOST_FOLDS = 100
LETTER_SEARCH = SearchSettings(algorithm="cube", pop_limit=100, stack=50, distortion_limit=0)


FormLetters = Literal["auto", "characters", "spaced"]
LetterAligner = Literal["edits", Aligner]


class LetterModelSettings(Section):
    """The model of letters: how a word is spelled anew, phrase by phrase of its letters."""

    copies: int = Field(
        3, ge=1, le=1_000_000, description="how often a word pair is read at most, of as often as it occurs"
    )
    aligners: list[LetterAligner] = Field(
        ["edits"],
        min_length=1,
        max_length=10,
        description="of letters, whose phrases are all taken: edits by learned costs, and aligners of words",
    )
    order: int = Field(7, ge=MIN_ORDER, le=MAX_ORDER, description="letters of the longest n-grams")
    operations: int = Field(5, ge=0, le=MAX_ORDER, description="operations of the longest n-grams; 0: no such model")
    longest: int = Field(7, ge=1, le=20, description="letters of the longest phrases")
    search: SearchSettings = Field(LETTER_SEARCH, description="that lists are made with")


class OutputSettings(Section):
    """What is written in place of a letter by the letters around it, whose weights are learned by AdaGrad."""

    passes: int = Field(10, ge=1, le=100, description="over the distinct training pairs")
    rate: PositiveFactor = Field(0.1, description="size of steps")
    penalty: float = Field(0.02, ge=0, le=1000, description="of the weights' squares, at each step that moves one")
    bits: int = Field(20, ge=4, le=24, description="ln of the number of weights, to the base 2")
    seed: Seed = Field(1, description="of the order of letters")


class SparseSettings(Section):
    """Sparse features of candidates, whose weights are learned by AdaGrad."""

    neighbours: bool = Field(True, description="of the words before and after")
    passes: int = Field(3, ge=1, le=100, description="over the training words")
    rate: PositiveFactor = Field(0.1, description="size of steps")
    penalty: float = Field(0.05, ge=0, le=1000, description="of the weights' squares, at each step that moves one")
    bits: int = Field(18, ge=4, le=24, description="ln of the number of weights, to the base 2")
    seed: Seed = Field(1, description="of the order of words")


class NormalizerSettings(MemorySettings):
    """Everything that the training of a normalizer can be told besides its files."""

    folds: int = Field(
        5,
        ge=2,
        le=MOST_FOLDS,
        description="parts of the training words, each of which is searched by a model of letters of all others",
    )
    form_letters: FormLetters = Field(
        "auto",
        description="characters, or spaced: what spaces set apart, as in sounds; auto: spaced if most forms are",
    )
    letter_model: LetterModelSettings = LetterModelSettings()
    outputs: OutputSettings = OutputSettings()
    candidates: CandidateSettings = CandidateSettings()
    penalty: PositiveFactor = Field(1.0, description="of squares of the weights of dense features")
    sparse: SparseSettings = SparseSettings()
    threads: Annotated[Threads, WITHOUT_EFFECT] = 2


class NormalizerRecipe(Section):
    """The file of a recipe that trains a normalizer."""

    normalizer: NormalizerSettings
