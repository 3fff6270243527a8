"""Tasks, such as domains: the sentence pairs of each task are a shard, and tasks share the selected features.

Simianer et al. (2012, section 6) propose this. With `task_weights: own` each task gets a model with its own weights.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import log
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.joint_selection.config import MOST_SHARDS, RankingConfig
from phrasebeam.training.joint_selection.ranking_training import shards_of
from phrasebeam.training.online.featured_model import LearnedFeatures, write_learned
from phrasebeam.training.online.per_feature import PerFeature
from phrasebeam.training.online.progress import load_best
from phrasebeam.training.online.shards import Shards, labelled_shards
from phrasebeam.training.ranking.list_objective import ListExample

TASKS = "tasks"  # in the work directory: a model for each label, if tasks have their own weights
LONGEST_NAME = 255  # bytes of a file name


class Division(NamedTuple):
    """Shards, and the labels of the tasks, if there are any."""

    shards: Shards
    labels: list[str]  # by shard; empty without tasks


def divided(examples: Sequence[ListExample], tasks: Path | None, n_pairs: int, config: RankingConfig) -> Division:
    """Divide the examples into shards: one for each label in the file `tasks`, or at random without such a file.

    The file has a line for each of `n_pairs` sentence pairs. Raises ConfigError if settings contradict each other, and
    FormatError for labels that cannot be used.
    """
    if tasks is None:
        if config.task_weights == "own":
            raise ConfigError("task_weights is own, but there are no tasks; give --tasks, or leave it out")
        return Division(shards_of(len(examples), config), [])
    if config.algorithm == 1 or config.shards:
        raise ConfigError("each task is a shard: give algorithm 2, 3 or 4, and no number of shards")
    labels = list(read_lines(tasks))
    if len(labels) < n_pairs or (len(labels) > n_pairs and not config.sentences):
        raise FormatError(tasks, f"{len(labels)} lines, expected a label for each of {n_pairs} sentence pairs")
    for number, label in enumerate(labels[:n_pairs], 1):
        if not label:
            raise FormatError(tasks, "an empty line, expected a label", number)
        if config.task_weights == "own" and len(_file_name(label)) > LONGEST_NAME:
            found = f"{excerpt(label)} is too long for the name of a directory"
            raise FormatError(tasks, f"{found}; expected at most {LONGEST_NAME} bytes, quoted as in a URL", number)
    shards, names = labelled_shards([labels[one.number] for one in examples], config.seed, config.shuffle)
    if len(names) > MOST_SHARDS:
        raise FormatError(tasks, f"{len(names)} labels, expected at most {MOST_SHARDS}")
    return Division(shards, names)


def _file_name(label: str) -> str:
    return quote(label, safe="").replace(".", "%2E")


def weights_of_tasks(
    work: Path, signature: str, labels: Sequence[str], rates: PerFeature, config: RankingConfig
) -> Iterator[tuple[str, BestWeights]]:
    """Yield the label of each task, and the weights that its shard learned.

    Dense weights that are fixed, or tuned afterwards, such as scales of groups, are those of the mixed weights: only
    the mixed weights are tuned and scored.
    """
    dense = load_best(work, signature, rates.dense.size).dense
    is_own = (rates.dense > 0) & (config.tune is None)
    for shard, label in enumerate(labels):
        best = load_best(work, signature, rates.dense.size, shard)
        yield label, best._replace(dense=np.where(is_own, best.dense, dense))


def write_task_models(
    derived: DerivedModel,
    decoder: Decoder,
    weights: Iterable[tuple[str, BestWeights]],
    learned: LearnedFeatures,
    making: Making,
) -> None:
    """Write a model for each task to tasks/LABEL in the work directory; `weights` are those of weights_of_tasks."""
    for label, best in weights:
        of_task = replace(derived, output=derived.work / TASKS / _file_name(label))
        write_learned(of_task, decoder, best, learned, making._replace(gain="", run=f"task {label}"))
    log.info(f"models of tasks, not scored: {derived.work / TASKS}")
