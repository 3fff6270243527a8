"""All phrase pairs of a sentence pair that are consistent with its alignment (Koehn et al. 2003, Och and Ney 2004).

A pair of spans is consistent if no link leaves it and at least one lies in it; words at its edges may be unlinked.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import packed_lengths
from phrasebeam.kernels.jit import inner_kernel

# Largest number of words on either side of a sentence pair for extraction. Orientations take memory and
# time proportional to the product of both lengths, and longer pairs are rarely a sentence and its translation.
LONGEST_PAIR = np.int64(1000)


class AlignedBitext(NamedTuple):
    """N sentence pairs of S source and T target tokens, with A links in order of sentence pair, target, source."""

    source_offsets: np.ndarray  # int64[N + 1], into source_tokens
    source_tokens: np.ndarray  # int32[S]
    target_offsets: np.ndarray  # int64[N + 1], into target_tokens
    target_tokens: np.ndarray  # int32[T]
    links: np.ndarray  # int32[A, 2], (source, target) positions in their sentences
    source_links: np.ndarray  # int64[S + 1], number of links of all source tokens before token i
    target_links: np.ndarray  # int64[T + 1], links of target token j are links[target_links[j]:target_links[j + 1]]


@inner_kernel
def extract_pair(bitext: AlignedBitext, i, max_length, occurrences, n):
    """Write the phrase pairs of sentence pair i, of at most `max_length` words a side, to `occurrences` from row n on.

    Columns (int32[K, 4]): i, first source word, first target word, source length | target length << 8. Returns the row
    after the last pair; rows beyond K are counted, but not written. A sentence pair with more than LONGEST_PAIR words
    on either side has no phrase pairs.
    """
    source_begin, target_begin = bitext.source_offsets[i], bitext.target_offsets[i]
    n_source = bitext.source_offsets[i + 1] - source_begin
    n_target = bitext.target_offsets[i + 1] - target_begin
    if n_source > LONGEST_PAIR or n_target > LONGEST_PAIR:
        return n
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
                        occurrences[n, 3] = packed_lengths(last - first + 1, end - begin + 1)
                    n += 1
                    last += 1
                first -= 1
    return n
