"""What is learned of n-best lists, weights of features or the two phrase channel models, and the tables they make."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import log
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.tables.phrase_table import LEAST_LN, SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE
from phrasebeam.decoder.tables.source_slots import hash_phrases
from phrasebeam.training.expected_bleu.calibration import calibrate
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.features import MODELS, condensed, find_features
from phrasebeam.training.expected_bleu.growth_transformation import (
    Channel,
    GrowthStep,
    ascend,
    divergence,
    ln_ratio,
    step,
)
from phrasebeam.training.expected_bleu.list_store import ListStore
from phrasebeam.training.expected_bleu.objective import Objective, ObjectiveValue, expectations, ln_expected
from phrasebeam.training.expected_bleu.optimizers import OPTIMIZERS, State
from phrasebeam.training.expected_bleu.orientation_features import (
    PAIRS_AT_ONCE,
    condensed_orientations,
    find_orientation_features,
)


class Learner(Protocol):
    """One way to learn, over the lists of a model; `parameters` are float64 arrays of one size."""

    def start(self) -> np.ndarray:
        """The parameters before the first step."""

    def step(self, parameters: np.ndarray, state: State) -> ObjectiveValue:
        """The objective at `parameters`, which make a step; they and `state` change in place."""

    def table_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray]:
        """float32[K, columns] ln_scores of the phrase table, in pieces."""

    def orientation_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray] | None:
        """float32[K, columns] ln_scores of the reordering table, in pieces; None: they are as they were."""

    def model_weights(self) -> Weights:
        """The weights that go with them."""


class FeatureLearner:
    """Weights of features, by steps along the gradient; those of a model of features become a score of the table.

    Raises ConfigError where the model has no orientations, and features of these are asked for.
    """

    def __init__(self, opened: Model, store: ListStore, config: ExpectedBleuConfig):
        self.opened, self.config, events = opened, config, store.events()
        self.features = find_features(opened.tables.phrases, events.pair, [s for s in config.features if s in MODELS])
        designs, self.by_orientation = self.features.designs, None
        if "d" in config.features:
            if opened.description.reordering is None:
                raise ConfigError("features are of orientations (d), and the model has no lexicalized reordering")
            orientations = opened.tables.orientations
            self.by_orientation = find_orientation_features(orientations, events, self.features.size)
            designs = (*designs, self.by_orientation.design)
        self.size = self.features.size + (self.by_orientation.size if self.by_orientation else 0)
        shared = config.tau, config.scale, config.threads, config.memory
        known = _calibrated(opened, store, config)
        self.objective = Objective(store.lists(), designs, self.size, *shared, known)

    def start(self) -> np.ndarray:
        """All 0."""
        return np.zeros(self.size)

    def step(self, parameters: np.ndarray, state: State) -> ObjectiveValue:
        """See Learner."""
        value, gradient = self.objective.at(parameters)
        OPTIMIZERS[self.config.optimizer](parameters, gradient, state, self.config.steps)
        return value

    def table_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray]:
        """The scores that are there, and behind them one for each model of features."""
        table = self.opened.tables.phrases
        begin = 0
        for piece in condensed(table, self.features, parameters[: self.features.size]):
            end = begin + len(piece)
            yield np.hstack([table.ln_scores[begin:end], piece])
            begin = end

    def orientation_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray] | None:
        """The scores that are there, and behind them the weights of each pair in each orientation."""
        features, ln_scores = self.by_orientation, self.opened.tables.ln_reordering
        if features is None:
            return None
        weights, n_columns = parameters[self.features.size :], self.opened.tables.orientations.ln_default.size
        pieces = condensed_orientations(features, weights, len(ln_scores), n_columns)
        return (np.hstack([before, piece]) for before, piece in zip(_pieces(ln_scores), pieces, strict=True))

    def model_weights(self) -> Weights:
        """1 for each further score; of groups by length these are no part."""
        weights, n_scores = self.opened.weights, len(self.features.models)
        update = {"translation": [*weights.translation, *[1.0] * n_scores]}
        if self.by_orientation:
            n_columns = self.opened.tables.orientations.ln_default.size
            update["reordering"] = [*(weights.reordering or []), *[1.0] * n_columns]
        if weights.length_groups is not None:
            n_ranges = len(weights.length_groups) // len(weights.translation)
            update["length_groups"] = [*weights.length_groups, *[0.0] * (n_ranges * n_scores)]
        return weights.model_copy(update=update)


class ChannelLearner:
    """p(f|e) and p(e|f) of all pairs, one behind the other, by growth transformation (He & Deng 2012)."""

    columns = SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE

    def __init__(self, opened: Model, store: ListStore, config: ExpectedBleuConfig):
        table = opened.tables.phrases
        self.opened, self.config, self.lists, self.pairs = opened, config, store.lists(), store.events().pair
        self.known = _calibrated(opened, store, config)
        _, targets = np.unique(hash_phrases(table.target_offsets, table.target_words), return_inverse=True)
        sources = np.repeat(np.arange(table.source_counts.size), np.diff(table.pair_offsets))
        self.channels = tuple(
            Channel(given, np.exp(table.ln_scores[:, column].astype(np.float64)), opened.weights.translation[column])
            for given, column in zip((targets, sources), self.columns)
        )

    def start(self) -> np.ndarray:
        """The probabilities of the model."""
        return np.concatenate([channel.prior for channel in self.channels])

    def step(self, parameters: np.ndarray, state: State) -> ObjectiveValue:
        """See Learner; where the last step went down, the next one is made from where that began."""
        config, found = self.config, tuple(np.split(parameters, len(self.channels)))
        by_pair = sum(ln_ratio(channel, one) for channel, one in zip(self.channels, found))
        weights = np.asarray(by_pair)[self.pairs] + (0.0 if self.known is None else self.known)
        expected, by_event = expectations(self.lists, weights, config.scale, config.threads, config.memory)
        away = sum(divergence(channel, one) for channel, one in zip(self.channels, found))
        value = ObjectiveValue(ln_expected(expected) - config.tau * away, expected, away)
        gradient = np.zeros(found[0].size)
        np.add.at(gradient, self.pairs, by_event / expected)
        ascent = ascend(_restored(state), value.objective, found, gradient)
        state.update(
            value=np.array([ascent.value]),
            probabilities=np.concatenate(ascent.probabilities),
            gradient=ascent.gradient,
            smoothing=np.array([ascent.smoothing]),
        )
        parameters[:] = np.concatenate(step(self.channels, ascent, config.tau))
        return value

    def table_scores(self, parameters: np.ndarray) -> Iterator[np.ndarray]:
        """The scores that are there, those of the channel models replaced."""
        ln_scores, found = self.opened.tables.phrases.ln_scores, np.split(parameters, len(self.channels))
        for piece, *shares in zip(_pieces(ln_scores), *map(_pieces, found), strict=True):
            piece = piece.copy()
            for column, probabilities in zip(self.columns, shares):
                with np.errstate(divide="ignore"):
                    piece[:, column] = np.maximum(np.log(probabilities), LEAST_LN)
            yield piece

    def orientation_scores(self, parameters: np.ndarray) -> None:
        """None."""

    def model_weights(self) -> Weights:
        """As they are."""
        return self.opened.weights


def _calibrated(opened: Model, store: ListStore, config: ExpectedBleuConfig) -> np.ndarray | None:
    """float64[E], what events weigh before anything is learned; None: nothing."""
    if not config.calibrate:
        return None
    target_words = np.diff(opened.tables.phrases.target_offsets)[store.events().pair]
    known, (phrase, word) = calibrate(store.lists(), target_words, config.memory)
    log.info("calibration: %.2f for a phrase, %.2f for a target word", phrase, word)
    return known


def _pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """Some rows at a time."""
    return (array[begin : begin + PAIRS_AT_ONCE] for begin in range(0, len(array), PAIRS_AT_ONCE))


def _restored(state: State) -> GrowthStep | None:
    """The ascent in a state, if there is one."""
    if not state:
        return None
    probabilities = tuple(np.split(state["probabilities"], len(ChannelLearner.columns)))
    return GrowthStep(float(state["value"][0]), probabilities, state["gradient"], float(state["smoothing"][0]))


def new_learner(opened: Model, store: ListStore, config: ExpectedBleuConfig) -> Learner:
    """The one for the optimizer that the settings name."""
    return (ChannelLearner if config.optimizer == "gt" else FeatureLearner)(opened, store, config)
