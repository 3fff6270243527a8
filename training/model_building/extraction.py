"""Extraction of all phrase pairs of a bitext that are consistent with its word alignment (Koehn et al. 2003)."""

from collections.abc import Iterator

import numpy as np

from phrasebeam.decoder.extraction.agreement import ONE_ALIGNMENT, Agreement, count_pairs, extract_agreed, new_votes
from phrasebeam.decoder.extraction.orientations import new_corners
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.word_alignment.alignment_points import Alignments, in_target_order, interleaved, runs

NO_OCCURRENCES = np.zeros((0, 4), np.int32)


def align_bitext(source: Corpus, target: Corpus, *alignments: Alignments) -> AlignedBitext:
    """Both corpora and their word alignments. Points may be in any order; repeated points count once.

    With K alignments there are K copies of each sentence pair, one after the other, see `agreement`.
    """
    offsets, links = in_target_order(interleaved(alignments))
    source, target = (_repeated(corpus, len(alignments)) for corpus in (source, target))
    return AlignedBitext(
        np.ascontiguousarray(source.offsets, np.int64),
        np.ascontiguousarray(source.tokens, np.int32),
        np.ascontiguousarray(target.offsets, np.int64),
        np.ascontiguousarray(target.tokens, np.int32),
        links,
        _links_before(source.offsets, offsets, links[:, 0]),
        _links_before(target.offsets, offsets, links[:, 1]),
    )


def _repeated(corpus: Corpus, n_copies: int) -> Corpus:
    """A corpus with `n_copies` of each sentence, one after the other."""
    if n_copies == 1:
        return corpus
    lengths = np.repeat(np.diff(corpus.offsets), n_copies)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    tokens = np.empty(int(offsets[-1]), np.int32)
    _repeat(corpus.offsets, corpus.tokens, n_copies, tokens)
    return Corpus(offsets, tokens)


@kernel
def _repeat(offsets, tokens, n_copies, out):
    n = 0
    for i in range(offsets.size - 1):
        for _ in range(n_copies):
            for k in range(offsets[i], offsets[i + 1]):
                out[n] = tokens[k]
                n += 1


def _links_before(token_offsets: np.ndarray, link_offsets: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The number of links of all tokens before each of T tokens (int64[T + 1]).

    link_offsets: int64[N + 1], index of the first link of each sentence; positions: int32[A], position of the linked
    token in its sentence.
    """
    before = np.zeros(int(token_offsets[-1]) + 1, np.int64)
    for first, last in runs(link_offsets):
        begins = np.repeat(token_offsets[first:last], np.diff(link_offsets[first : last + 1]))
        tokens = begins + positions[link_offsets[first] : link_offsets[last]] - token_offsets[first]
        n_links = before[token_offsets[first] + 1 : token_offsets[last] + 1]
        n_links[:] = np.bincount(tokens, minlength=n_links.size)
    return np.cumsum(before, out=before)


@kernel
def _count(bitext, agreement, max_length, occurrences, counts):
    for i in range(counts.size):
        counts[i] = count_pairs(bitext, i, agreement, max_length, occurrences)


@kernel
def _extract(bitext, sentences, agreement, max_length, kind, scratch, occurrences):
    n = 0
    for i in range(sentences[0], sentences[1]):
        n = extract_agreed(bitext, i, agreement, max_length, kind, scratch, occurrences, n)
    return n


def count_occurrences(bitext: AlignedBitext, max_length: int, agreement: Agreement = ONE_ALIGNMENT) -> np.ndarray:
    """The number of phrase pairs of at most `max_length` words on either side in each of N sentence pairs (int64[N]).

    With several alignments, this is the sum over all alignments, which is more than `extract` yields.
    """
    counts = np.zeros((bitext.source_offsets.size - 1) // agreement.alignments, np.int64)
    _count(bitext, agreement, max_length, NO_OCCURRENCES, counts)
    return counts


def extract(
    bitext: AlignedBitext,
    counts: np.ndarray,
    max_length: int,
    kind: int,
    chunk: int,
    sentences: tuple[int, int] | None = None,
    agreement: Agreement = ONE_ALIGNMENT,
) -> Iterator[tuple[int, np.ndarray]]:
    """Extract phrase pairs from successive groups of sentence pairs.

    A group has at most `chunk` phrase pairs, or is a single sentence pair with more. Yields the number of sentence
    pairs and the occurrences, int32[K, 4]: sentence, first source word, first target word, and
    source length | target length << 8 | orientation to the previous phrase << 16 | to the next << 18. With several
    alignments, `sentence` is the copy in the bitext that has the first of the alignments that allow the pair.
    counts: from `count_occurrences`; kind: orientation model WORD, PHRASE or HIER, see `orientation`;
    sentences: the first sentence pair and the one behind the last; None: all.
    """
    scratch = new_corners(bitext), new_votes(int(counts.max(initial=0)), agreement)
    ends = np.cumsum(counts)
    first, end = sentences or (0, counts.size)
    while first < end:
        done = int(ends[first - 1]) if first else 0
        last = min(end, max(first + 1, int(np.searchsorted(ends, done + chunk, side="right"))))
        occurrences = np.zeros((int(ends[last - 1]) - done, 4), np.int32)
        n = _extract(bitext, (first, last), agreement, max_length, kind, scratch, occurrences)
        yield last - first, occurrences[:n]
        first = last
