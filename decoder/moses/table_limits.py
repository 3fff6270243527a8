"""The pairs of a phrase table that Moses looks at: for each source phrase the best ones, up to the table's limit.

Of a model with several tables each has its own limit. A model directory has one table, so that the limits are applied
when it is made, by the weights of the moses.ini.
"""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.features.dense import dense_weights
from phrasebeam.decoder.features.reordering import orientations
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import Lookup, RankingWeights, choose, lookup_of_pairs, new_candidates
from phrasebeam.decoder.options.score_checks import check_candidates
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.tables.language_models import LN10, LanguageModels, TargetModel
from phrasebeam.decoder.tables.phrase_table import PhraseTable, longest
from phrasebeam.kernels.jit import kernel


@kernel
def mark_chosen(lookup: Lookup, chosen: np.ndarray) -> None:
    """Set `chosen` (bool[P]) for the pairs of each source phrase of lookup.tables that are within lookup.limit."""
    offsets = lookup.tables.phrases.pair_offsets
    for source in range(offsets.size - 1):
        for k in range(choose(source, source + 1, lookup)):
            chosen[offsets[source] + lookup.candidates.heap[k]] = True


def within_limit(
    phrases: PhraseTable,
    limit: int,
    weights: Weights,
    sparse: Sparse,
    language_models: tuple[Sequence[TargetModel], LanguageModels],
) -> np.ndarray:
    """bool[P], the pairs that are among the best `limit` ones (0: all) of their source phrase.

    They are ranked by `weights` as the search ranks them, with the language model's score of the target phrase alone;
    `sparse` has the table's own sparse features.
    """
    most, longest_target = longest(phrases.pair_offsets), longest(phrases.target_offsets)
    if limit == 0 or most <= limit:
        return np.ones(len(phrases.ln_scores), np.bool_)
    models, lms = language_models
    dense = dense_weights(weights, phrases.ln_scores.shape[1], None, len(models))
    lms = lms._replace(ln_weights=dense.language_model * LN10)
    tables = Tables(phrases, np.zeros((0, 0), np.float32), orientations(None), lms, sparse)
    candidates = new_candidates(most, max(longest_target, 1), limit, lms.orders.size, sparse)
    ranking = RankingWeights(dense, lms.ln_weights, is_own=False)
    lookup = lookup_of_pairs(tables, dense, ranking, limit, candidates)
    chosen = np.zeros(len(phrases.ln_scores), np.bool_)
    mark_chosen(lookup, chosen)
    check_candidates(lookup, models)
    return chosen
