"""The stage that builds a second model, of subwords, whose translations are evidence in minimum Bayes risk decoding."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from phrasebeam.base.config import MOST_COUNTED, save_config
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, SubwordSettings
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.tables.model_files import EVIDENCE, MODEL, SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.lm.estimate import MIN_ORDER
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.training.bitext.tokenized_files import write_tokens
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.recipe.chosen_search import tuning_decodings
from phrasebeam.training.recipe.stage import StageWork, TrainerStage, tried_in, write_changed
from phrasebeam.training.recipe.stages import BUILDING, BuildStage
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

UNDETERMINED = "und"  # code of an unknown language


class SecondModelStage(TrainerStage):
    """Builds and tunes a model of subwords of the target language, and stores it beside the present model.

    Both have the same source tokens. The stage `mbr` decides how much the translations of the second model count.
    """

    is_scored: ClassVar[bool] = False  # alone it changes no translation

    kind: Literal["second-model"]
    pieces: int = Field(1_000, ge=10, le=MOST_COUNTED, description="maximum number of distinct subwords")
    order: int = Field(6, ge=MIN_ORDER, le=MAX_ORDER, description="length of the longest n-grams of subwords")
    samplers: int = Field(1, ge=1, le=100, description="number of independent samplers of its word alignment")
    settings: TuneConfig = TuneConfig()

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: the development data in each iteration, and an equivalent for building the model."""
        return BUILDING * sentences["training"] + tuning_decodings(self.settings, sentences)

    def run(self, work: StageWork) -> None:
        """Build the model from the same text as the first stage, tune it, and store it with the present model."""
        build = next(one for one in work.earlier if isinstance(one, BuildStage))
        place, files = tried_in(work.output), work.files.training
        built, tuned = place / "built", place / "tuned"
        if not (built / MODEL).exists():
            train_model(files.source, files.target, built, self._of_pieces(build.settings), is_forced=True)
            save_config(ModelSearch(search=build.search), built / SEARCH)
        tokens = write_tokens(work.tuning_text, Tokenization.of_model(built), place / "tokens")
        tune_model(built, tokens, tuned, self.settings)
        making = Making("second-model", {"pieces": self.pieces, "order": self.order})
        write_changed(work.model, work.output, making)
        write_changed(tuned, work.output / EVIDENCE, making)

    def _of_pieces(self, settings: TrainModelConfig) -> TrainModelConfig:
        """The settings of a model of the same text with subwords of the target language."""
        subwords = {"target_tokenizer": "subwords", "subwords": SubwordSettings(pieces=self.pieces)}
        preprocessing = settings.preprocessing or _of_tokens(settings)
        return settings.model_copy(
            update={
                "preprocessing": preprocessing.model_copy(update=subwords),
                "alignment": settings.alignment.model_copy(update={"samplers": self.samplers}),
                "clean": False,  # the texts of a recipe are clean already
                "language_model": settings.language_model.model_copy(update={"order": self.order}),
            }
        )


def _of_tokens(settings: TrainModelConfig) -> RawTextSettings:
    """The settings of raw text for tokenized text, which leave the source as it is."""
    known = settings.languages
    return RawTextSettings(
        source_language=known.source_language if known else UNDETERMINED,
        target_language=known.target_language if known else UNDETERMINED,
        source_tokenizer="whitespace",
        casing="keep",
        capitalize=False,
    )
