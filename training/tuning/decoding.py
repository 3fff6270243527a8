"""Decodes n-best lists, and adds them to a store, with the statistics of a metric."""

from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.decoder.output.nbest_table import NbestTable
from phrasebeam.decoder.sparse.sparse_weights import joined
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.development_set import DevelopmentSet, points
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.nbest_store import Hypotheses, NbestStore
from phrasebeam.training.tuning.run_state import TuningIteration
from phrasebeam.training.tuning.sparse import is_group

BATCH = 64  # number of sentences that are stored at a time


class ListRequest(NamedTuple):
    """The kind of n-best lists that an iteration decodes."""

    n: int  # number of hypotheses of each sentence
    distinct: bool  # whether all have different texts
    sparse: bool  # whether to list sparse features; the values of group features are then 0, not to count them twice


class DecodedIteration(NamedTuple):
    """The result of decoding in an iteration."""

    iteration: TuningIteration  # with numbers of hypotheses, and the score of the 1-best translations
    texts: list[str]  # the 1-best translations


def decode_into(
    store: NbestStore, decoder: Decoder, development: DevelopmentSet, request: ListRequest
) -> DecodedIteration:
    """Add the n-best list of every sentence to the store, and commit."""
    metric = development.metric
    n_found, n_new, best, texts = 0, 0, np.zeros(metric.n_statistics), list[str]()
    with (
        stage("decode", len(development.source), "sentences") as advance,
        closing(decoder.nbest_tables(development.source, *request, development.threads)) as tables,
    ):
        numbered = enumerate(tables)
        while batch := list(islice(numbered, BATCH)):
            decoded = hypotheses(batch, metric)
            if request.sparse:
                decoded.dense[:, is_group(decoder.features)] = 0.0
            is_first = np.append(True, np.diff(decoded.sentence) != 0)
            texts += [decoded.texts[i] for i in np.flatnonzero(is_first).tolist()]
            best += decoded.statistics[is_first].sum(axis=0, dtype=np.float64)
            n_found, n_new = n_found + decoded.sentence.size, n_new + store.add(decoded)
            advance(len(batch))
    store.commit()
    scores = {"score": points(float(metric.score(best[None])[0])), "chrfpp": development.chrfpp_of(texts)}
    return DecodedIteration(TuningIteration(**scores, hypotheses=len(store), found=n_found, new=n_new), texts)


def hypotheses(lists: Sequence[tuple[int, NbestTable]], metric: Metric) -> Hypotheses:
    """Convert n-best tables of sentences (number, table) to hypotheses for a store, with statistics of `metric`."""
    texts = [text for _, table in lists for text in table.texts]
    sparse = joined([table.sparse for _, table in lists])
    sentence = np.repeat(np.array([i for i, _ in lists]), [len(table.texts) for _, table in lists])
    with np.errstate(over="ignore"):  # values of damaged models may overflow; the store refuses infinite ones
        dense = np.concatenate([table.features for _, table in lists]).astype(np.float32)
    return Hypotheses(sentence.astype(np.int32), texts, dense, sparse, metric.statistics(sentence, texts))
