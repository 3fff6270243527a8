"""N-best lists of training data, each sentence translated as if the model had not seen it, and their sentence BLEU."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.nbest_table import NbestTable
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.list_store import Events, ListStore, ScoredList
from phrasebeam.training.metrics.bleu import References
from phrasebeam.training.metrics.sentence_bleu import sentence_bleu

LISTS_AT_ONCE = 500  # between two commits


def make_lists(
    decoder: Decoder,
    sentences: Iterable[tuple[Input, tuple[str, ...]]],
    store: ListStore,
    config: ExpectedBleuConfig,
    total: int,
) -> None:
    """Make the lists that the store lacks; `total`: number of all sentences, for the progress bar.

    Sentences that are empty or too long are left out.
    """
    waiting: deque[tuple[int, str]] = deque()  # filled by the thread that reads input, emptied here
    begin = store.index.n_read

    def inputs() -> Iterator[Input]:
        for number, (given, reference) in enumerate(islice(sentences, begin, None), begin + 1):
            if 0 < len(given.words) <= config.max_words:
                waiting.append((number, " ".join(reference)))
                yield given

    batch: list[tuple[NbestTable, str]] = []
    with (
        stage("n-best lists", total, "sentences") as advance,
        closing(decoder.nbest_tables(inputs(), config.nbest, config.distinct, threads=config.threads)) as tables,
    ):
        advance(begin)
        for table in tables:
            number, reference = waiting.popleft()
            batch.append((table, reference))
            if len(batch) == LISTS_AT_ONCE:
                _add(batch, store, config)
                advance(number - store.index.n_read)
                store.commit(number)
                batch = []
        _add(batch, store, config)
        advance(total - store.index.n_read)
        store.commit(total, is_whole=True)


def _add(batch: Sequence[tuple[NbestTable, str]], store: ListStore, config: ExpectedBleuConfig) -> None:
    if not batch:
        return
    references = References([[reference for _, reference in batch]], config.lowercase)
    sizes = [len(table.texts) for table, _ in batch]
    texts = [text for table, _ in batch for text in table.texts]
    bleu = sentence_bleu(references.statistics(np.repeat(np.arange(len(batch)), sizes), texts))
    for (table, _), list_bleu in zip(batch, np.split(bleu, np.cumsum(sizes)[:-1]), strict=True):
        store.add(ScoredList(table.score, list_bleu, table.first, Events(table.pairs, table.orientations)))
