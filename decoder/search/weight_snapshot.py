"""The weights of a decoder as its searches use them: an immutable snapshot; other weights make another one."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import (
    LN10,
    DenseWeights,
    FeatureLayout,
    active_groups,
    check_counts,
    check_operations,
    dense_weights,
    feature_names,
)
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import RankingWeights
from phrasebeam.decoder.search.extension import SearchParameters
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_features import only_groups
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.tables.word_counts import NO_IDF

OPERATION_UNITS = np.array([LN10, 1.0, 1.0])  # in which weights of operations are counted


class WeightSnapshot(NamedTuple):
    """All that depends on weights. A search takes hold of one when it begins, and keeps it until it ends.

    The arrays of sparse weights are those that were given, not copies: who learns while searches run gives copies.
    """

    named: Weights  # as they were given
    dense: DenseWeights
    layout: FeatureLayout  # of dense features
    tables: Tables  # the model's, with the weights of language models and sparse features
    parameters: SearchParameters
    ranking: RankingWeights


def weight_snapshot(
    model: Model,
    settings: SearchSettings,
    weights: Weights,
    sparse: SparseWeights,
    ranking: RankingWeights | None = None,
) -> WeightSnapshot:
    """The snapshot of dense and sparse weights. Raises ModelError if `weights` do not fit the model.

    `ranking`: by which the table limit selects pairs, where that is not to be by `weights`.
    """
    tables = model.tables
    check_counts(weights, tables.phrases)
    check_operations(weights, tables.operations.keys.size)
    n_scores, n_models = tables.phrases.ln_scores.shape[1], len(model.language_models)
    dense = dense_weights(weights, n_scores, model.description.reordering, n_models)
    active = only_groups(tables.sparse, active_groups(weights, tables.sparse))
    lms = tables.lms._replace(ln_weights=dense.language_model * LN10)
    parameters = SearchParameters(
        settings.stack,
        settings.pop_limit,
        settings.ln_beam_threshold,
        settings.distortion_limit,
        dense.distortion,
        dense.early_distortion,
        tables.orientations.is_hierarchical,
        tables.orientations.keeps_blocks,
        dense.sparse,
        active.has_history or dense.operations.size > 0,
        dense.operations.size > 0 and not active.has_history and bool((dense.operations >= 0).all()),
    )
    needs_idf = weights.target_idf is not None or weights.source_idf is not None
    idf = model.word_idf() if needs_idf else NO_IDF
    operations = tables.operations._replace(ln_weights=dense.operations * OPERATION_UNITS[: dense.operations.size])
    weighted = tables._replace(lms=lms, sparse=active._replace(weights=sparse), idf=idf, operations=operations)
    ranking = ranking or RankingWeights(dense, lms.ln_weights, is_own=False)
    return WeightSnapshot(weights, dense, feature_names(dense, weights), weighted, parameters, ranking)


def ranking_weights(snapshot: WeightSnapshot) -> RankingWeights:
    """The weights of a snapshot, by which the table limit selects pairs for searches by other weights."""
    return snapshot.ranking._replace(is_own=True)
