"""How long stages of a recipe will take: how many sentences each decodes, times what a sentence has taken so far."""

from collections.abc import Mapping

from phrasebeam.training.common.settings import TrainingDataSettings
from phrasebeam.training.recipe.recipe import AnyStage, BuildStage, ChooseStage, RiskStage
from phrasebeam.training.tuning.config import TuneConfig

OPTIMIZING = 2.0  # an iteration of tuning takes as long as decoding its sentences so often
BUILDING = 0.5  # the same of a training pair and the model that is built of it


def decodings(stage: AnyStage, sentences: Mapping[str, int]) -> float:
    """About how many sentences a stage decodes, at most; `sentences`: numbers of training and development data."""
    development, training = sentences["development"], sentences["training"]
    if isinstance(stage, BuildStage):
        return BUILDING * training
    if isinstance(stage, RiskStage):
        return float(len(stage.sizes) * len(stage.scales) * development)
    if isinstance(stage, ChooseStage):
        return len(stage.searches) * development + stage.tuned * _tuning(stage.settings, development)
    settings = stage.settings
    if isinstance(settings, TuneConfig):
        return _tuning(settings, development)
    return _learning(settings, training, development)


def _tuning(settings: TuneConfig, development: int) -> float:
    n_runs = len(settings.seeds) * max(1, len(settings.c))
    return n_runs * settings.iterations * development * OPTIMIZING


def _learning(settings: TrainingDataSettings, training: int, development: int) -> float:
    """Of trainers that decode training data: expected BLEU once, the others in each iteration."""
    training = min(training, settings.sentences or training)
    iterations, score_every = getattr(settings, "iterations", 1), getattr(settings, "score_every", 0)
    n_passes, n_scores = (1, iterations / score_every) if score_every else (iterations, iterations)
    tune = getattr(settings, "tune", None)
    scoring = _tuning(tune, development) if tune else development
    return float(len(getattr(settings, "seeds", [1])) * (n_passes * training + n_scores * scoring))


def seconds_left(expected: Mapping[str, float], taken: Mapping[str, float], elapsed: float) -> float | None:
    """Seconds until the end, None where nothing is known; `expected`: decodings of stages in their order.

    `taken`: seconds of those that are done; `elapsed`: of the next one so far.
    """
    done = sum(expected[name] for name in taken)
    if not done:
        return None
    rate = sum(taken.values()) / done
    waiting = [rate * number for name, number in expected.items() if name not in taken]
    return max(0.0, waiting[0] - elapsed) + sum(waiting[1:]) if waiting else 0.0
