"""Settings of `select`: weights of n-grams, scores of sentences, and the size of the selection."""

from typing import NamedTuple

from pydantic import Field

from phrasebeam.base.config import Section, Seed
from phrasebeam.base.errors import ConfigError
from phrasebeam.lm.ngrams import MAX_ORDER

UNLIMITED = 2**62  # sentences or words


class Budget(NamedTuple):
    """The size at which selection stops, by whichever bound comes first."""

    sentences: int
    words: int  # of the source; the last sentence may exceed them


class SelectionConfig(Section):
    """Settings of `select`; feature_decay.py explains the exponents."""

    order: int = Field(3, ge=1, le=MAX_ORDER, description="length of the longest n-grams")
    decay_factor: float = Field(1.0, gt=0, le=1, description="factor of an n-gram's weight, each time it is selected")
    decay_exponent: float = Field(
        1.0, ge=0, le=10, description="exponent of 1 / (1 + how often the n-gram was selected)"
    )
    idf_exponent: float = Field(1.0, ge=0, le=10, description="exponent of log(words / occurrences of the n-gram)")
    ngram_length_exponent: float = Field(0.0, ge=0, le=10, description="exponent of an n-gram's length, in its weight")
    sentence_length_exponent: float = Field(
        1.0, ge=0, le=10, description="exponent of the sentence length, by which the score of a sentence is divided"
    )
    sentences: int | None = Field(
        None, ge=1, le=UNLIMITED, description="number of sentence pairs to select; give either this or `words`"
    )
    words: int | None = Field(None, ge=1, le=UNLIMITED, description="number of source words to select")
    seed: Seed = Field(1, description="random seed of the random selection with which the coverage is compared")

    @property
    def budget(self) -> Budget:
        """The bound that is given. Raises ConfigError unless exactly one of `sentences` and `words` is given."""
        if (self.sentences is None) == (self.words is None):
            found = "neither sentences nor words" if self.sentences is None else "sentences and words"
            raise ConfigError(f"{found} to select; give one of the two, --sentences N or --words N")
        return Budget(self.sentences or UNLIMITED, self.words or UNLIMITED)
