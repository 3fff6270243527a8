"""Word translation probabilities by counting links, and lexical weights of phrase pairs (Koehn et al. 2003)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import source_length, target_length
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.training.word_alignment.alignment_points import runs


class LexicalTable(NamedTuple):
    """Word translation probabilities of D distinct pairs of linked words. Unlinked words count as linked to NULL."""

    words: np.ndarray  # int32[D, 2], (source, target) word ids, ascending
    target_prob: np.ndarray  # float64[D], p(target word | source word)
    source_prob: np.ndarray  # float64[D], p(source word | target word)
    target_null_prob: np.ndarray  # float64[V], p(target word | NULL), 0 for words that were never unlinked
    source_null_prob: np.ndarray  # float64[W], p(source word | NULL), 0 for words that were never unlinked
    pair_of_link: np.ndarray  # int32[A], row of `words` of each link of the bitext


def lexical_table(bitext: AlignedBitext) -> LexicalTable:
    """Estimate word translation probabilities as relative frequencies of links; unlinked tokens are linked to NULL."""
    n_source = int(bitext.source_tokens.max(initial=-1)) + 1
    n_target = int(bitext.target_tokens.max(initial=-1)) + 1
    keys, counts = _count_pairs(bitext, n_target)
    words = np.column_stack((keys // max(n_target, 1), keys % max(n_target, 1))).astype(np.int32)
    source_unlinked = np.bincount(_unlinked(bitext.source_tokens, bitext.source_links), minlength=n_source)
    target_unlinked = np.bincount(_unlinked(bitext.target_tokens, bitext.target_links), minlength=n_target)
    source_total = np.bincount(words[:, 0], weights=counts, minlength=n_source) + source_unlinked
    target_total = np.bincount(words[:, 1], weights=counts, minlength=n_target) + target_unlinked
    return LexicalTable(
        words=words,
        target_prob=counts / source_total[words[:, 0]],
        source_prob=counts / target_total[words[:, 1]],
        target_null_prob=target_unlinked / max(target_unlinked.sum(), 1),
        source_null_prob=source_unlinked / max(source_unlinked.sum(), 1),
        pair_of_link=_pairs_of_links(bitext, n_target, keys),
    )


def _count_pairs(bitext: AlignedBitext, n_target: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct pairs of linked words as ascending keys source * n_target + target (int64[D]), and counts (int64[D])."""
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for _, link_keys in _link_keys(bitext, n_target):
        new_keys, new_counts = np.unique(link_keys, return_counts=True)
        keys, indices = np.unique(np.concatenate([keys, new_keys]), return_inverse=True)
        # bincount adds float64, which is exact below 2^53.
        counts = np.bincount(indices, weights=np.concatenate([counts, new_counts])).astype(np.int64)
    return keys, counts


def _pairs_of_links(bitext: AlignedBitext, n_target: int, keys: np.ndarray) -> np.ndarray:
    """int32[A] index in `keys` of each link's pair of words."""
    out = np.empty(len(bitext.links), np.int32)
    for links, link_keys in _link_keys(bitext, n_target):
        out[links] = np.searchsorted(keys, link_keys)
    return out


def _link_keys(bitext: AlignedBitext, n_target: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield successive slices of the links, each with the keys (int64[K]) of their pairs of words."""
    n_links = bitext.target_links[bitext.target_offsets]
    for first, last in runs(n_links):
        links = slice(int(n_links[first]), int(n_links[last]))
        pairs = np.repeat(np.arange(first, last), np.diff(n_links[first : last + 1]))
        source_words = bitext.source_tokens[bitext.source_offsets[pairs] + bitext.links[links, 0]]
        target_words = bitext.target_tokens[bitext.target_offsets[pairs] + bitext.links[links, 1]]
        yield links, source_words.astype(np.int64) * n_target + target_words


def _unlinked(tokens: np.ndarray, links_before: np.ndarray) -> np.ndarray:
    return tokens[links_before[1:] == links_before[:-1]]


@kernel
def _ln_lexical_weights(bitext, table, occurrences, target_alignment, source_alignment, out):
    for i in range(out.shape[0]):
        out[i, 0] = _ln_source_weight(bitext, table, occurrences[source_alignment[i]])
        out[i, 1] = _ln_target_weight(bitext, table, occurrences[target_alignment[i]])


@inner_kernel
def _ln_target_weight(bitext, table, occurrence):
    ln_weight = 0.0
    begin = bitext.target_offsets[occurrence[0]] + occurrence[2]
    for token in range(begin, begin + target_length(occurrence)):
        first, last = bitext.target_links[token], bitext.target_links[token + 1]
        total = 0.0
        for k in range(first, last):
            total += table.target_prob[table.pair_of_link[k]]
        if first == last:
            ln_weight += np.log(table.target_null_prob[bitext.target_tokens[token]])
        else:
            ln_weight += np.log(total / (last - first))
    return ln_weight


@inner_kernel
def _ln_source_weight(bitext, table, occurrence):
    ln_weight = 0.0
    target_begin = bitext.target_offsets[occurrence[0]] + occurrence[2]
    first = bitext.target_links[target_begin]
    last = bitext.target_links[target_begin + target_length(occurrence)]
    for s in range(occurrence[1], occurrence[1] + source_length(occurrence)):
        total, n_links = 0.0, 0
        for k in range(first, last):
            if bitext.links[k, 0] == s:
                total += table.source_prob[table.pair_of_link[k]]
                n_links += 1
        if n_links == 0:
            word = bitext.source_tokens[bitext.source_offsets[occurrence[0]] + s]
            ln_weight += np.log(table.source_null_prob[word])
        else:
            ln_weight += np.log(total / n_links)
    return ln_weight


def ln_lexical_weights(
    bitext: AlignedBitext,
    table: LexicalTable,
    occurrences: np.ndarray,
    target_alignment: np.ndarray,
    source_alignment: np.ndarray,
) -> np.ndarray:
    """ln lex(f|e) and ln lex(e|f) of P phrase pairs (float64[P, 2]).

    They are sums over words of the ln of the mean probability of the word's links. The links are those of
    occurrences[source_alignment] and occurrences[target_alignment] (int64[P]), see PairGroups.
    """
    out = np.zeros((target_alignment.size, 2), np.float64)
    _ln_lexical_weights(bitext, table, occurrences, target_alignment, source_alignment, out)
    return out
