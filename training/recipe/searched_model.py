"""A copy of a model that carries other sections of search.yaml."""

from pathlib import Path
from typing import Any

from phrasebeam.base.config import save_config
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.common.derived_model import DerivedModel, Making


def write_with_search(model: Path, output: Path, search: dict[str, Any], making: Making) -> None:
    """Write a copy of a model to `output` that carries these sections of search.yaml besides its own."""
    output.mkdir(parents=True, exist_ok=True)
    carried = ModelSearch.of(model).model_dump(exclude_unset=True) | search
    opened = open_model(model)
    save_config(ModelSearch.model_validate(carried), output / SEARCH)
    DerivedModel(model, opened, output, output, {}).write(opened.weights, making, [SEARCH])
