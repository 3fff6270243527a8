"""Word translation probabilities by counting links, and lexical weights of phrase pairs (Koehn et al. 2003)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import source_length, target_length
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.training.word_alignment.alignment_points import runs


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
        of_link=_pairs_of_links(bitext, n_target, keys),
    )


def _count_pairs(bitext: AlignedBitext, n_target: int) -> tuple[np.ndarray, np.ndarray]:
    """int64[D] distinct pairs of linked words as keys source * n_target + target, ascending, and their numbers."""
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for _, piece in _link_keys(bitext, n_target):
        found, found_counts = np.unique(piece, return_counts=True)
        keys, places = np.unique(np.concatenate([keys, found]), return_inverse=True)
        # As floats, which are exact below 2^53.
        counts = np.bincount(places, weights=np.concatenate([counts, found_counts])).astype(np.int64)
    return keys, counts


def _pairs_of_links(bitext: AlignedBitext, n_target: int, keys: np.ndarray) -> np.ndarray:
    """int32[A] the place of each link's pair of words in `keys`."""
    out = np.empty(len(bitext.links), np.int32)
    for links, piece in _link_keys(bitext, n_target):
        out[links] = np.searchsorted(keys, piece)
    return out


def _link_keys(bitext: AlignedBitext, n_target: int) -> Iterator[tuple[slice, np.ndarray]]:
    """The links piece by piece, and the keys (int64[K]) of their words."""
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
def _ln_lexical_weights(bitext, table, occurrences, of_target, of_source, out):
    for i in range(out.shape[0]):
        out[i, 0] = _ln_source_weight(bitext, table, occurrences[of_source[i]])
        out[i, 1] = _ln_target_weight(bitext, table, occurrences[of_target[i]])


@inner_kernel
def _ln_target_weight(bitext, table, occurrence):
    ln_weight = 0.0
    begin = bitext.target_offsets[occurrence[0]] + occurrence[2]
    for token in range(begin, begin + target_length(occurrence)):
        first, last = bitext.target_links[token], bitext.target_links[token + 1]
        total = 0.0
        for k in range(first, last):
            total += table.target_prob[table.of_link[k]]
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
