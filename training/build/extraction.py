"""Extraction of all phrase pairs of a bitext that are consistent with its word alignment (Koehn et al. 2003)."""

from collections.abc import Iterator

import numpy as np

from phrasebeam.decoder.extraction.orientations import new_corners, orient
from phrasebeam.decoder.extraction.pairs import AlignedBitext, extract_pair
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.word_alignment.alignment_points import Alignments, in_target_order, runs

NO_OCCURRENCES = np.zeros((0, 4), np.int32)


def align_bitext(source: Corpus, target: Corpus, alignments: Alignments) -> AlignedBitext:
    """Both corpora and their word alignments, whose points may be in any order and count once each."""
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
    """int64[T + 1] number of links of the tokens before each of T tokens.

    link_offsets: int64[N + 1], the first link of each sentence; positions: int32[A], of the linked tokens in sentences.
    """
    before = np.zeros(int(token_offsets[-1]) + 1, np.int64)
    for first, last in runs(link_offsets):
        begins = np.repeat(token_offsets[first:last], np.diff(link_offsets[first : last + 1]))
        tokens = begins + positions[link_offsets[first] : link_offsets[last]] - token_offsets[first]
        n_links = before[token_offsets[first] + 1 : token_offsets[last] + 1]
        n_links[:] = np.bincount(tokens, minlength=n_links.size)
    return np.cumsum(before, out=before)


@kernel
def _count(bitext, max_length, occurrences, counts):
    for i in range(counts.size):
        counts[i] = extract_pair(bitext, i, max_length, occurrences, 0)


@kernel
def _extract(bitext, sentences, max_length, kind, corners, occurrences):
    n = 0
    for i in range(sentences[0], sentences[1]):
        before = n
        n = extract_pair(bitext, i, max_length, occurrences, n)
        orient(bitext, i, kind, corners, occurrences[before:n])
    return n


def count_occurrences(bitext: AlignedBitext, max_length: int) -> np.ndarray:
    """int64[N] number of phrase pairs of at most `max_length` words on either side in each of N sentence pairs."""
    counts = np.zeros(bitext.source_offsets.size - 1, np.int64)
    _count(bitext, max_length, NO_OCCURRENCES, counts)
    return counts


def extract(
    bitext: AlignedBitext,
    counts: np.ndarray,
    max_length: int,
    kind: int,
    chunk: int,
    sentences: tuple[int, int] | None = None,
) -> Iterator[tuple[int, np.ndarray]]:
    """Extract the phrase pairs of runs of sentence pairs with at most `chunk` phrase pairs, or of one with more.

    Yields the number of sentence pairs and int32[K, 4] occurrences: sentence, first source word, first target word, and
    source length | target length << 8 | orientation to the previous phrase << 16 | to the next << 18.
    counts: from `count_occurrences`; kind: WORD, PHRASE or HIER, whose orientations are those of `orientation`;
    sentences: the first sentence pair and the one behind the last; None: all.
    """
    corners = new_corners(bitext)
    ends = np.cumsum(counts)
    first, end = sentences or (0, counts.size)
    while first < end:
        done = int(ends[first - 1]) if first else 0
        last = min(end, max(first + 1, int(np.searchsorted(ends, done + chunk, side="right"))))
        occurrences = np.zeros((int(ends[last - 1]) - done, 4), np.int32)
        _extract(bitext, (first, last), max_length, kind, corners, occurrences)
        yield last - first, occurrences
        first = last
