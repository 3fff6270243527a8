"""Learners of phrase pair scores on n-best lists: they learn weights of features, or the two phrase channel models."""

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from phrasebeam.base.array_struct import ArrayField, array
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import log
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.tables.phrase_table import LEAST_LN, SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE
from phrasebeam.decoder.tables.source_slots import hash_phrases
from phrasebeam.training.expected_bleu.calibration import calibrate
from phrasebeam.training.expected_bleu.config import BY_ORIENTATION, ExpectedBleuConfig
from phrasebeam.training.expected_bleu.features import MODELS, condensed, find_features
from phrasebeam.training.expected_bleu.growth_transformation import (
    Channel,
    GrowthStep,
    ascend,
    divergence,
    ln_ratio,
    step,
)
from phrasebeam.training.expected_bleu.list_store import Events, ListStore
from phrasebeam.training.expected_bleu.objective import Objective, ObjectiveValue, expectations, ln_expected
from phrasebeam.training.expected_bleu.optimizers import OPTIMIZERS, State, state_names
from phrasebeam.training.expected_bleu.orientation_features import (
    PAIRS_AT_ONCE,
    OrientationFeatures,
    find_orientation_features,
)


class Learner(Protocol):
    """A way to learn scores from the lists of a model; its parameters are one float64 array of fixed size."""

    declared: Mapping[str, ArrayField]  # the arrays of a checkpoint: "parameters", and the state after a step

    def start(self) -> np.ndarray:
        """The parameters before the first step."""

    def step(self, parameters: np.ndarray, state: State) -> ObjectiveValue:
        """Make a step: `parameters` and `state` change in place. Returns the objective before the step."""

    def table_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray]:
        """The ln_scores of the phrase table, in pieces (float32[K, columns])."""

    def orientation_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray] | None:
        """The ln_scores of the reordering table, in pieces (float32[K, columns]); None if it does not change."""

    def model_weights(self) -> Weights:
        """Weights of a model with the learned scores."""


class FeatureLearner:
    """Learns weights of features by gradient steps; each model of features adds one score to the phrase table.

    Raises ConfigError if the settings have features by orientation, but the model has no lexicalized reordering.
    """

    def __init__(self, opened: Model, store: ListStore, config: ExpectedBleuConfig):
        self.opened, self.config, events = opened, config, store.events()
        sets = config.features or ()
        self.features = find_features(opened.tables.phrases, events.pair, [s for s in sets if s in MODELS])
        self.by_orientation, designs, self.size = None, self.features.designs, self.features.size
        if BY_ORIENTATION in sets:
            self.by_orientation = _by_orientation(opened, events, self.features.size)
            designs, self.size = (*designs, self.by_orientation.design), self.size + self.by_orientation.size
        shared = config.tau, config.scale, config.threads
        calibrated = _calibrated(opened, store, config)
        self.objective = Objective(store.lists(), designs, self.size, *shared, calibrated)
        names = "parameters", *state_names(config.optimizer, config.steps)
        self.declared: Mapping[str, ArrayField] = dict.fromkeys(names, array(np.float64, self.size))

    def start(self) -> np.ndarray:
        """The weights of all features, which are 0 (float64[F])."""
        return np.zeros(self.size)

    def step(self, parameters: np.ndarray, state: State) -> ObjectiveValue:
        """Make a step of the optimizer, in place. Returns the objective before the step."""
        value, gradient = self.objective.at(parameters)
        OPTIMIZERS[self.config.optimizer](parameters, gradient, state, self.config.steps)
        return value

    def table_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray]:
        """The scores of the phrase table, followed by one score for each model of features."""
        table = self.opened.tables.phrases
        begin = 0
        for piece in condensed(table, self.features, parameters[: self.features.size]):
            end = begin + len(piece)
            yield np.hstack([table.ln_scores[begin:end], piece])
            begin = end

    def orientation_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray] | None:
        """The scores of the reordering table, followed by the learned scores of the orientation features."""
        if self.by_orientation is None:
            return None
        learned = self.by_orientation.scores(parameters[self.features.size :])
        return map(np.hstack, zip(_pieces(self.opened.tables.ln_reordering), learned, strict=True))

    def model_weights(self) -> Weights:
        """The model's weights, extended by a weight of 1 for each added score; in weights by length it is 0."""
        weights, n_scores = self.opened.weights, len(self.features.models)
        update = {"translation": [*weights.translation, *[1.0] * n_scores]}
        if self.by_orientation is not None:
            update["reordering"] = [*(weights.reordering or []), *[1.0] * self.by_orientation.n_columns]
        if weights.length_groups is not None:
            n_ranges = len(weights.length_groups) // len(weights.translation)
            update["length_groups"] = [*weights.length_groups, *[0.0] * (n_ranges * n_scores)]
        return weights.model_copy(update=update)


class ChannelLearner:
    """Learns p(f|e) and p(e|f) of all pairs by growth transformation; the parameters are both arrays, concatenated."""

    columns = SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE

    def __init__(self, opened: Model, store: ListStore, config: ExpectedBleuConfig):
        table = opened.tables.phrases
        self.opened, self.config, self.lists, self.pairs = opened, config, store.lists(), store.events().pair
        self.calibrated = _calibrated(opened, store, config)
        _, targets = np.unique(hash_phrases(table.target_offsets, table.target_words), return_inverse=True)
        sources = np.repeat(np.arange(table.source_counts.size), np.diff(table.pair_offsets))
        self.channels = tuple(
            Channel(given, np.exp(table.ln_scores[:, column].astype(np.float64)), opened.weights.translation[column])
            for given, column in zip((targets, sources), self.columns)
        )
        one, by_pair, both = (array(np.float64, size) for size in (1, targets.size, targets.size * len(self.channels)))
        self.declared: Mapping[str, ArrayField] = {
            "parameters": both,
            "probabilities": both,
            "value": one,
            "smoothing": one,
            "gradient": by_pair,
        }

    def start(self) -> np.ndarray:
        """The probabilities of the model before training, concatenated (float64[2 P])."""
        return np.concatenate([channel.prior for channel in self.channels])

    def step(self, parameters: np.ndarray, state: State) -> ObjectiveValue:
        """Make a step of growth transformation, in place. Returns the objective before the step.

        If the last step decreased the objective, the new step starts again from the point before it.
        """
        config, probabilities = self.config, tuple(np.split(parameters, len(self.channels)))
        by_pair = sum(map(ln_ratio, self.channels, probabilities))
        weights = np.asarray(by_pair)[self.pairs] + (0.0 if self.calibrated is None else self.calibrated)
        expected, by_event = expectations(self.lists, weights, config.scale, config.threads)
        penalty = sum(map(divergence, self.channels, probabilities))
        value = ObjectiveValue(ln_expected(expected) - config.tau * penalty, expected, penalty)
        gradient = np.zeros(probabilities[0].size)
        np.add.at(gradient, self.pairs, by_event / expected)
        ascent = ascend(_restored(state), value.objective, probabilities, gradient)
        state.update(
            value=np.array([ascent.value]),
            probabilities=np.concatenate(ascent.probabilities),
            gradient=ascent.gradient,
            smoothing=np.array([ascent.smoothing]),
        )
        parameters[:] = np.concatenate(step(self.channels, ascent, config.tau))
        return value

    def table_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray]:
        """The scores of the phrase table, with the learned probabilities in place of the two channel models."""
        ln_scores, learned = self.opened.tables.phrases.ln_scores, np.split(parameters, len(self.channels))
        for piece, *shares in zip(_pieces(ln_scores), *map(_pieces, learned), strict=True):
            piece = piece.copy()
            for column, probabilities in zip(self.columns, shares):
                with np.errstate(divide="ignore"):
                    piece[:, column] = np.maximum(np.log(probabilities), LEAST_LN)
            yield piece

    def orientation_scores(self, parameters: np.ndarray) -> None:
        """Returns None: the reordering table does not change."""

    def model_weights(self) -> Weights:
        """The weights of the model before training, which do not change."""
        return self.opened.weights


def _by_orientation(opened: Model, events: Events, n_before: int) -> OrientationFeatures:
    """The orientation features of `events`, numbered from `n_before` on."""
    if opened.description.reordering is None:
        raise ConfigError(f"features use orientations ({BY_ORIENTATION}), and the model has no lexicalized reordering")
    return find_orientation_features(opened.tables.orientations, events, len(opened.tables.phrases.ln_scores), n_before)


def _calibrated(opened: Model, store: ListStore, config: ExpectedBleuConfig) -> np.ndarray | None:
    """The weights of events by calibration (float64[E]); None if the settings switch it off."""
    if not config.calibrate:
        return None
    target_words = np.diff(opened.tables.phrases.target_offsets)[store.events().pair]
    calibrated, (phrase, word) = calibrate(store.lists(), target_words)
    log.info("calibration: %.2f for a phrase, %.2f for a target word", phrase, word)
    return calibrated


def _pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """Views of PAIRS_AT_ONCE rows each."""
    return (array[begin : begin + PAIRS_AT_ONCE] for begin in range(0, len(array), PAIRS_AT_ONCE))


def _restored(state: State) -> GrowthStep | None:
    """The point stored in an optimizer's state; None in an empty one."""
    if not state:
        return None
    probabilities = tuple(np.split(state["probabilities"], len(ChannelLearner.columns)))
    return GrowthStep(float(state["value"][0]), probabilities, state["gradient"], float(state["smoothing"][0]))


def new_learner(opened: Model, store: ListStore, config: ExpectedBleuConfig) -> Learner:
    """The learner for the optimizer in the settings."""
    return (ChannelLearner if config.optimizer == "gt" else FeatureLearner)(opened, store, config)
