"""What a candidate model is worth on development data, with the weights that it has or with tuned ones."""

import shutil
from pathlib import Path

from phrasebeam.base.config import load_config
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.decoding import score_translations
from phrasebeam.training.tuning.tune_model import TuningData, tune_model


def fixed_score(candidate: Path, data: TuningData, config: ExpectedBleuConfig) -> float:
    """The score of the translations by the model in `candidate` as it is."""
    decoder = Decoder.load(candidate, config.development_search or config.search)
    development = data.read(TuneConfig().scored_as(config))
    return 100 * score_translations(decoder, development.source, development.metric, config.threads)


def tuned_score(candidate: Path, data: TuningData, config: ExpectedBleuConfig, tuning: TuneConfig, path: Path) -> float:
    """The best score that tuning comes to; the weights are written to the YAML file `path`.

    A tuning that was stopped goes on, from the directory `path` without its suffix.
    """
    directory = path.with_suffix("")
    results = tune_model(candidate, data, directory, tuning.scored_as(config))
    with atomic_file(path) as file:
        file.write((directory / "weights.yaml").read_bytes())
    shutil.rmtree(directory)  # it holds a phrase table
    return max(-result.score if config.metric == "ter" else result.score for result in results)


def tuned_weights(path: Path) -> Weights:
    """The weights that tuned_score wrote."""
    return load_config(path, Weights)
