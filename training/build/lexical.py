"""Word translation probabilities by counting links, and lexical weights of phrase pairs (Koehn et al. 2003)."""

from typing import NamedTuple

import numpy as np

from lm.jit import kernel
from training.build.extraction import AlignedBitext


class LexicalTable(NamedTuple):
    """D distinct pairs of linked words, sorted by source, then target; unlinked words count as linked to NULL."""

    words: np.ndarray  # int32[D, 2], (source, target) word ids
    target_prob: np.ndarray  # float64[D], p(target word | source word)
    source_prob: np.ndarray  # float64[D], p(source word | target word)
    target_null_prob: np.ndarray  # float64[V], p(target word | NULL), 0 for words that were never unlinked
    source_null_prob: np.ndarray  # float64[V], p(source word | NULL)
    of_link: np.ndarray  # int32[A], the pair of words of each link of the bitext


def lexical_table(bitext: AlignedBitext) -> LexicalTable:
    """Relative frequencies of the links; what a word was linked to includes NULL, for each time it was unlinked."""
    n_source = int(bitext.source_tokens.max(initial=-1)) + 1
    n_target = int(bitext.target_tokens.max(initial=-1)) + 1
    source_words, target_words = _linked_words(bitext)
    keys, of_link, counts = np.unique(
        source_words.astype(np.int64) * n_target + target_words, return_inverse=True, return_counts=True
    )
    words = np.column_stack((keys // max(n_target, 1), keys % max(n_target, 1))).astype(np.int32)
    source_unlinked = np.bincount(bitext.source_tokens[np.diff(bitext.source_links) == 0], minlength=n_source)
    target_unlinked = np.bincount(bitext.target_tokens[np.diff(bitext.target_links) == 0], minlength=n_target)
    source_total = np.bincount(source_words, minlength=n_source) + source_unlinked
    target_total = np.bincount(target_words, minlength=n_target) + target_unlinked
    return LexicalTable(
        words,
        counts / source_total[words[:, 0]],
        counts / target_total[words[:, 1]],
        target_unlinked / max(target_unlinked.sum(), 1),
        source_unlinked / max(source_unlinked.sum(), 1),
        of_link.astype(np.int32),
    )


def _linked_words(bitext: AlignedBitext) -> tuple[np.ndarray, np.ndarray]:
    """int32[A] source words and int32[A] target words of the links."""
    n_links = bitext.target_links[bitext.target_offsets]
    pairs = np.repeat(np.arange(n_links.size - 1), np.diff(n_links))
    return (
        bitext.source_tokens[bitext.source_offsets[pairs] + bitext.links[:, 0]],
        bitext.target_tokens[bitext.target_offsets[pairs] + bitext.links[:, 1]],
    )


@kernel
def _ln_lexical_weights(bitext, table, occurrences, of_target, of_source, out):
    for i in range(out.shape[0]):
        out[i, 0] = _ln_source_weight(bitext, table, occurrences[of_source[i]])
        out[i, 1] = _ln_target_weight(bitext, table, occurrences[of_target[i]])


@kernel
def _ln_target_weight(bitext, table, occurrence):
    ln_weight = 0.0
    begin = bitext.target_offsets[occurrence[0]] + occurrence[2]
    for token in range(begin, begin + (occurrence[3] >> 8 & 255)):
        first, last = bitext.target_links[token], bitext.target_links[token + 1]
        total = 0.0
        for k in range(first, last):
            total += table.target_prob[table.of_link[k]]
        if first == last:
            ln_weight += np.log(table.target_null_prob[bitext.target_tokens[token]])
        else:
            ln_weight += np.log(total / (last - first))
    return ln_weight


@kernel
def _ln_source_weight(bitext, table, occurrence):
    ln_weight = 0.0
    target_begin = bitext.target_offsets[occurrence[0]] + occurrence[2]
    first = bitext.target_links[target_begin]
    last = bitext.target_links[target_begin + (occurrence[3] >> 8 & 255)]
    for s in range(occurrence[1], occurrence[1] + (occurrence[3] & 255)):
        total, n_links = 0.0, 0
        for k in range(first, last):
            if bitext.links[k, 0] == s:
                total += table.source_prob[table.of_link[k]]
                n_links += 1
        if n_links == 0:
            word = bitext.source_tokens[bitext.source_offsets[occurrence[0]] + s]
            ln_weight += np.log(table.source_null_prob[word])
        else:
            ln_weight += np.log(total / n_links)
    return ln_weight


def ln_lexical_weights(
    bitext: AlignedBitext, table: LexicalTable, occurrences: np.ndarray, of_target: np.ndarray, of_source: np.ndarray
) -> np.ndarray:
    """float64[P, 2]: ln lex(f|e) by the links of occurrences[of_source], ln lex(e|f) by those of
    occurrences[of_target] (int64[P] both): the product over words of the mean of its links' probabilities.
    """
    out = np.zeros((of_target.size, 2), np.float64)
    _ln_lexical_weights(bitext, table, occurrences, of_target, of_source, out)
    return out
