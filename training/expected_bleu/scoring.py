"""What a candidate model is worth on development data, with the weights that it has or with tuned ones."""

import shutil
from pathlib import Path

import numpy as np

from decoder.config import Weights
from decoder.translator import Decoder
from lm.config import load_config
from lm.files import atomic_file
from lm.progress import stage
from training.expected_bleu.config import ExpectedBleuConfig
from training.tuning.config import TuneConfig
from training.tuning.tune_model import TuningData, tune_model


def fixed_score(candidate: Path, data: TuningData, config: ExpectedBleuConfig) -> float:
    """The score of the translations by the model in `candidate` as it is."""
    decoder = Decoder.load(candidate, config.development_search or config.search)
    development = data.read(_tuning(TuneConfig(), config))
    with stage("scoring", len(development.source)) as advance:
        texts = []
        for translation in decoder.translate_all(development.source, config.threads):
            texts.append(translation.text)
            advance(1)
    statistics = development.metric.statistics(np.arange(len(texts)), texts)
    return 100 * development.metric.corpus_score(statistics)


def tuned_score(candidate: Path, data: TuningData, config: ExpectedBleuConfig, tuning: TuneConfig, path: Path) -> float:
    """The best score that tuning comes to; the weights are written to the YAML file `path`.

    A tuning that was stopped goes on, from the directory `path` without its suffix.
    """
    directory = path.with_suffix("")
    results = tune_model(candidate, data, directory, _tuning(tuning, config))
    with atomic_file(path) as file:
        file.write((directory / "weights.yaml").read_bytes())
    shutil.rmtree(directory)  # it holds a phrase table
    return max(-result.score if config.metric == "ter" else result.score for result in results)


def tuned_weights(path: Path) -> Weights:
    """The weights that tuned_score wrote."""
    return load_config(path, Weights)


def _tuning(tuning: TuneConfig, config: ExpectedBleuConfig) -> TuneConfig:
    """Tuning with what all scoring shares."""
    names = ("metric", "lowercase", "reference_length", "threads")
    return tuning.model_copy(update={name: getattr(config, name) for name in names})
