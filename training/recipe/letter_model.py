"""The stage that adds a model of letters, which translates unknown words that resemble their translations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, Threads
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.base.progress import log
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.normalization.letter_edits import learn_costs
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.tables.model_files import LETTERS
from phrasebeam.decoder.tokenizers.spelling import OF_WORDS
from phrasebeam.decoder.translate.letter_forms import LETTER_SEARCH
from phrasebeam.decoder.unknown_words.spelled_pairs import has_letters
from phrasebeam.process.unfinished import put_in_place
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.normalization.letter_model import LetterModelBuilder
from phrasebeam.training.normalization.normalizer_settings import LetterTableSettings
from phrasebeam.training.normalization.resembling_words import resembling_pairs
from phrasebeam.training.recipe.stage import StageWork, TrainerStage, tried_in, write_changed


class LetterStageSettings(MemorySettings):
    """Which words a model of letters learns from, and how it is built."""

    similarity: float = Field(
        0.6,
        gt=0,
        le=1,
        description="least similarity of a word to its translation: 1 - edit distance / length of the longer word",
    )
    fewest_pairs: int = Field(
        300, ge=1, le=MOST_COUNTED, description="with fewer words that are so similar, there is no model of letters"
    )
    letter_model: LetterTableSettings = LetterTableSettings()
    threads: Annotated[Threads, WITHOUT_EFFECT] = 2


class LetterModelStage(TrainerStage):
    """Trains a model of letters from words that resemble their translations, and stores it with the present model.

    It translates unknown words. The weight of its log probabilities is that of the language models; later stages that
    tune may change it.
    """

    kind: Literal["letter-model"]
    settings: LetterStageSettings = LetterStageSettings()

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: none, but for its score."""
        return 0

    def run(self, work: StageWork) -> None:
        """Train the model of letters, and write both. With too few words, write only the present model."""
        add_letter_model(work.model, work.output, tried_in(work.output), self.settings)


def add_letter_model(model: Path, output: Path, place: Path, settings: LetterStageSettings) -> None:
    """Write `model` to `output` with a model of letters, unless it has too few words; `place`: temporary directory."""
    making = Making("letter-model", {"similarity": settings.similarity})
    place.mkdir(parents=True, exist_ok=True)
    if not build_letter_model(model, place, settings):
        write_changed(model, output, making)
        return
    weights = open_model(model).weights
    first = {"spelled_words": 0.0, "spelling": max(0.0, sum(weights.language_model))}
    write_changed(model, output, making, weights.model_copy(update=first))
    put_in_place(place / LETTERS, output / LETTERS)


def build_letter_model(model: Path, place: Path, settings: LetterStageSettings) -> bool:
    """Build LETTERS in the directory `place` from the words of `model`; return whether they are enough."""
    opened = open_model(model)
    pairs = resembling_pairs(opened, settings.similarity)
    is_enough = len(pairs) >= settings.fewest_pairs
    told = f"{len(pairs):,} words resemble their translations"
    log.info("%s: %s", told, "a model of letters" if is_enough else "too few for a model of letters")
    if not is_enough:
        return False
    words, forms = [word for word, _ in pairs], [form for _, form in pairs]
    alphabet = Alphabet.of(words, forms)
    costs = learn_costs(words, forms, np.log1p(list(pairs.values())), alphabet)
    known, bounds = filter(has_letters, opened.target.words), (settings.threads, settings.memory)
    builder = LetterModelBuilder(place, {*known}, OF_WORDS, settings.letter_model, LETTER_SEARCH, *bounds)
    builder.prepare()
    builder.build(LETTERS, pairs, alphabet, costs)
    return True
