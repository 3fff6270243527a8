"""The weights of a decoder for its searches: an immutable snapshot; other weights make another snapshot."""

from typing import NamedTuple

from phrasebeam.decoder.features.dense import (
    DenseWeights,
    FeatureLayout,
    active_groups,
    check_counts,
    check_letters,
    check_stateful,
    dense_weights,
    feature_names,
)
from phrasebeam.decoder.features.stateful import histories_lower, history_columns
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import RankingWeights
from phrasebeam.decoder.search.extension import SearchParameters
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_features import only_groups
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.tables.language_models import LN10
from phrasebeam.decoder.tables.word_counts import NO_IDF


class WeightSnapshot(NamedTuple):
    """Everything that depends on weights. A search takes one snapshot when it begins, and uses it until it ends.

    The arrays of sparse weights are not copied: a caller that learns while searches run must give copies.
    """

    named: Weights  # as the caller gave them
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

    `ranking`: weights by which the table limit selects pairs, if not by `weights`.
    """
    tables = model.tables
    check_counts(weights, tables.phrases)
    check_stateful(weights, tables)
    check_letters(weights, model.letters is not None)
    n_scores, n_models = tables.phrases.ln_scores.shape[1], len(model.language_models)
    dense = dense_weights(weights, n_scores, model.description.reordering, n_models)
    active = only_groups(tables.sparse, active_groups(weights, tables.sparse))
    lms = tables.lms._replace(ln_weights=dense.language_model * LN10)
    needs_idf = weights.target_idf is not None or weights.source_idf is not None
    idf = model.word_idf() if needs_idf else NO_IDF
    weighted = tables._replace(lms=lms, sparse=active._replace(weights=sparse), idf=idf)
    columns, n_columns = history_columns(dense, weighted)
    parameters = SearchParameters(
        stack=settings.stack,
        pops=settings.pop_limit,
        ln_beam=settings.ln_beam_threshold,
        distortion_limit=settings.distortion_limit,
        columns=columns,
        n_columns=n_columns,
        keeps_histories=n_columns > 1,
        histories_lower=histories_lower(dense, columns),
    )
    ranking = ranking or RankingWeights(dense, lms.ln_weights, is_own=False)
    return WeightSnapshot(weights, dense, feature_names(dense, weights), weighted, parameters, ranking)


def ranking_weights(snapshot: WeightSnapshot) -> RankingWeights:
    """Weights from a snapshot with which the table limit selects pairs for searches with other weights."""
    return snapshot.ranking._replace(is_own=True)
