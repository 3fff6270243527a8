"""demo: a tour, from text to BLEU."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from phrasebeam.api.arguments import File, Force, Settings
from phrasebeam.api.config import CONFIGS
from phrasebeam.base.config import MOST_COUNTED, config_with_options
from phrasebeam.base.options import Option, described
from phrasebeam.training.demo.demo import DemoResult, run_demo
from phrasebeam.training.model_building.config import TrainModelConfig

MOST_TRAINED = 1_000_000  # sentence pairs


@described()
def demo(
    *,
    output: Annotated[File, "Output directory for the corpus, the model and the translations."] = "demo",
    sentences: Annotated[int, Field(ge=1, le=MOST_TRAINED), "Number of sentence pairs to train on."] = 5000,
    seed: Annotated[int, Field(ge=0, le=MOST_COUNTED), "Random seed of the corpus."] = 1,
    config: Annotated[
        Settings | None, Option("YAML file with settings, as for train-model.", unset="the settings of the demo")
    ] = None,
    force: Force = False,
) -> DemoResult:
    """Train on the generated German-English corpus, translate new sentences, and score them.

    Returns the model, its BLEU and examples. Raises SmtError or OSError.

    >>> len(demo(output="tour", sentences=200).examples)
    3
    """
    settings = config_with_options(config or CONFIGS / "demo.yaml", TrainModelConfig, {})
    return run_demo(Path(output), sentences, seed, settings, force)
