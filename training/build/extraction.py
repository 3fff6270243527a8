"""All phrase pairs of an aligned bitext that agree with its alignment (Koehn et al. 2003, Och and Ney 2004).

A pair of spans agrees if no link leaves it and at least one lies in it; unlinked words at its edges are free.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lm.corpus import Corpus
from lm.jit import kernel
from training.build.alignment_points import Alignments, in_target_order, runs
from training.build.orientation import new_corners, orient

NO_OCCURRENCES = np.zeros((0, 4), np.int32)


class AlignedBitext(NamedTuple):
    """A bitext and its links, ordered by sentence pair, target position, source position."""

    source_offsets: np.ndarray  # int64[N + 1], into source_tokens
    source_tokens: np.ndarray  # int32[S]
    target_offsets: np.ndarray  # int64[N + 1], into target_tokens
    target_tokens: np.ndarray  # int32[T]
    links: np.ndarray  # int32[A, 2], (source, target) positions in their sentences
    source_links: np.ndarray  # int64[S + 1], number of links of the source tokens before this one
    target_links: np.ndarray  # int64[T + 1], links of target token j are links[target_links[j]:target_links[j + 1]]


def align_bitext(source: Corpus, target: Corpus, alignments: Alignments) -> AlignedBitext:
    """The three put together; points may come in any order, and count once."""
    offsets, links = in_target_order(alignments)
    return AlignedBitext(
        np.ascontiguousarray(source.offsets, np.int64),
        np.ascontiguousarray(source.tokens, np.int32),
        np.ascontiguousarray(target.offsets, np.int64),
        np.ascontiguousarray(target.tokens, np.int32),
        links,
        _links_before(source.offsets, offsets, links[:, 0]),
        _links_before(target.offsets, offsets, links[:, 1]),
    )


def _links_before(token_offsets: np.ndarray, link_offsets: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """int64[T + 1] number of links before each of T tokens; `positions` are the links' in their sentences."""
    before = np.zeros(int(token_offsets[-1]) + 1, np.int64)
    for first, last in runs(link_offsets):
        begins = np.repeat(token_offsets[first:last], np.diff(link_offsets[first : last + 1]))
        tokens = begins + positions[link_offsets[first] : link_offsets[last]] - token_offsets[first]
        part = before[token_offsets[first] + 1 : token_offsets[last] + 1]
        part[:] = np.bincount(tokens, minlength=part.size)
    return np.cumsum(before, out=before)


@kernel
def _extract_pair(bitext, i, max_length, occurrences, n):
    """Write the phrase pairs of sentence pair i from row n on; return n past the last, which may not have fitted."""
    source_begin, target_begin = bitext.source_offsets[i], bitext.target_offsets[i]
    n_source = bitext.source_offsets[i + 1] - source_begin
    n_target = bitext.target_offsets[i + 1] - target_begin
    source_links, target_links = bitext.source_links, bitext.target_links
    for begin in range(n_target):
        low, high = n_source, np.int64(-1)
        for end in range(begin, min(n_target, begin + max_length)):
            for k in range(target_links[target_begin + end], target_links[target_begin + end + 1]):
                low = min(low, np.int64(bitext.links[k, 0]))
                high = max(high, np.int64(bitext.links[k, 0]))
            if high - low >= max_length:
                break
            # No link leaves the pair if the source span low..high has no more links than the target span.
            inside = target_links[target_begin + end + 1] - target_links[target_begin + begin]
            if inside == 0:
                continue
            if source_links[source_begin + high + 1] - source_links[source_begin + low] != inside:
                continue
            first = low
            while first >= 0 and first > high - max_length:
                token = source_begin + first
                if first < low and source_links[token] != source_links[token + 1]:
                    break
                last = high
                while last < n_source and last < first + max_length:
                    token = source_begin + last
                    if last > high and source_links[token] != source_links[token + 1]:
                        break
                    if n < occurrences.shape[0]:
                        occurrences[n, 0] = i
                        occurrences[n, 1] = first
                        occurrences[n, 2] = begin
                        occurrences[n, 3] = (last - first + 1) | (end - begin + 1) << 8
                    n += 1
                    last += 1
                first -= 1
    return n


@kernel
def _count(bitext, max_length, occurrences, counts):
    for i in range(counts.size):
        counts[i] = _extract_pair(bitext, i, max_length, occurrences, 0)


@kernel
def _extract(bitext, sentences, max_length, kind, corners, occurrences):
    n = 0
    for i in range(sentences[0], sentences[1]):
        before = n
        n = _extract_pair(bitext, i, max_length, occurrences, n)
        orient(bitext, i, kind, corners, occurrences[before:n])
    return n


def count_occurrences(bitext: AlignedBitext, max_length: int) -> np.ndarray:
    """int64[N] number of phrase pairs of each sentence pair, at most `max_length` words on either side."""
    counts = np.zeros(bitext.source_offsets.size - 1, np.int64)
    _count(bitext, max_length, NO_OCCURRENCES, counts)
    return counts


def extract(
    bitext: AlignedBitext, counts: np.ndarray, max_length: int, kind: int, chunk: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Runs of sentence pairs with at most `chunk` phrase pairs in all (a longer pair stands alone): their number,
    and int32[K, 4] occurrences: sentence, first source word, first target word, and packed in the last column
    source length | target length << 8 | orientation to the previous phrase << 16 | to the next << 18.

    counts: from `count_occurrences`; kind: WORD, PHRASE or HIER, whose orientations are those of `orientation`.
    """
    corners = new_corners(bitext)
    ends = np.cumsum(counts)
    first = 0
    while first < counts.size:
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + chunk, side="right")))
        occurrences = np.zeros((int(ends[last - 1]) - done, 4), np.int32)
        _extract(bitext, (first, last), max_length, kind, corners, occurrences)
        yield last - first, occurrences
        first = last
