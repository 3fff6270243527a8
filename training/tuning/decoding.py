"""N-best lists from the decoder, with the statistics of a metric, into a store."""

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

BATCH = 64  # sentences that are stored at a time


class ListRequest(NamedTuple):
    """The kind of n-best lists that an iteration decodes."""

    n: int  # hypotheses of each sentence
    distinct: bool  # with different texts
    sparse: bool  # with sparse features; the values of their groups are then 0, or they would count twice


class DecodedIteration(NamedTuple):
    """Result of decoding for an iteration."""

    iteration: TuningIteration  # numbers of hypotheses, and the score of the 1-best
    texts: list[str]  # the 1-best


def decode_into(
    store: NbestStore, decoder: Decoder, development: DevelopmentSet, request: ListRequest
) -> DecodedIteration:
    """Add the n-best list of every sentence, and commit."""
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
    """The n-best tables of some sentences (number, table) as hypotheses of a store, with statistics of `metric`."""
    texts = [text for _, table in lists for text in table.texts]
    sparse = joined([table.sparse for _, table in lists])
    sentence = np.repeat(np.array([i for i, _ in lists]), [len(table.texts) for _, table in lists])
    with np.errstate(over="ignore"):  # by damaged models: the store refuses what is not finite
        dense = np.concatenate([table.features for _, table in lists]).astype(np.float32)
    return Hypotheses(sentence.astype(np.int32), texts, dense, sparse, metric.statistics(sentence, texts))
