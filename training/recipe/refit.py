"""The last stage of a recipe that tunes on training pairs: it builds the best model again from all training pairs."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.recipe.stage import RecipeStage, StageWork, tried_in, write_changed
from phrasebeam.training.recipe.stages import BUILDING, BuildStage


class RefitStage(RecipeStage):
    """Builds the best model again from all training pairs, also those held out, with its weights and search."""

    is_scored: ClassVar[bool] = False  # the deciding sentences are part of its training data

    kind: Literal["refit"]

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """An equivalent: building decodes nothing, but takes as long as decoding so many sentences."""
        return BUILDING * sentences["training"]

    def run(self, work: StageWork) -> None:
        """Build the model again, and write it with the weights and search settings of the previous stage."""
        (build,) = (one for one in work.earlier if isinstance(one, BuildStage))
        place = tried_in(work.output) / "model"
        place.parent.mkdir(parents=True, exist_ok=True)
        files = work.files._replace(training=work.files.whole)
        build.run(work._replace(files=files, output=place, earlier=()))  # alignments of `earlier` are of fewer pairs
        search = ModelSearch.of(work.model).model_dump(exclude_unset=True)
        write_changed(place, work.output, Making("refit", {}), open_model(work.model).weights, search)
