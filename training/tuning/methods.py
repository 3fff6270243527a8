"""The methods by name: a problem and settings in, weights out."""

from collections.abc import Callable

from training.tuning.config import Method, TuneConfig
from training.tuning.mert import mert
from training.tuning.mira_batch import mira_batch
from training.tuning.mira_chiang import mira_chiang
from training.tuning.mira_corpus import mira_corpus
from training.tuning.pro import pro
from training.tuning.problem import Optimum, Problem

METHODS: dict[Method, Callable[[Problem, TuneConfig], Optimum]] = {
    "mert": lambda problem, config: mert(problem, config.mert),
    "pro": lambda problem, config: pro(problem, config.pro),
    "mira-chiang": lambda problem, config: mira_chiang(problem, config.mira_chiang),
    "mira-batch": lambda problem, config: mira_batch(problem, config.mira_batch),
    "mira-corpus": lambda problem, config: mira_corpus(problem, config.mira_corpus),
}
