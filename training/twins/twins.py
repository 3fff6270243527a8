"""Sentence pairs that repeat an earlier one of the bitext: duplicates, and near-duplicates with some words replaced.

A pair repeats another if on both sides the longest common subsequence has `share` of the words, that is, of half the
sum of the two lengths. Candidates are found by an index of n-grams, as in other searches for near-duplicates (Broder
1997), but with all rare bigrams in place of a sample of n-grams: each pair is compared with the few earlier pairs that
share most rare bigrams with it. Time and memory are linear in the size of the bitext. Hash collisions of bigrams are
ignored: they only make bigrams seem less rare, or propose a candidate that the comparison refuses.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.errors import FormatError
from phrasebeam.base.progress import stage
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.words import same_words
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.lm.text.corpus_reader import read_corpus
from phrasebeam.lm.text.vocabulary import Vocabulary

MOST_OCCURRENCES = 10  # a rare bigram has no more occurrences
N_COMPARED = 3  # number of candidates that each pair is compared with
BATCH = 5000  # pairs between two reports of progress
SOURCE, TARGET = np.int64(0), np.int64(1)
BOUNDARY = np.int64(-1)  # before and after the words of a sentence


class TwinIndex(NamedTuple):
    """Rare bigrams of those pairs before the current one that repeat no other pair.

    N: sentence pairs; B, W: sizes of hash tables, powers of two; R: occurrences of rare bigrams; L: longest sentence.
    """

    counts: Annotated[
        np.ndarray, array(np.uint8, "B")
    ]  # number of occurrences of bigrams in the bitext; MOST_OCCURRENCES + 1: more than MOST_OCCURRENCES
    last: Annotated[np.ndarray, array(np.int32, "B", fill=EMPTY)]  # last added occurrence of each bigram
    before: Annotated[np.ndarray, array(np.int32, "R", fill=None)]  # previous occurrence of the same bigram, or EMPTY
    pair_of: Annotated[np.ndarray, array(np.int32, "R", fill=None)]  # sentence pair of each occurrence
    whole: Annotated[np.ndarray, array(np.int32, "W", fill=EMPTY)]  # pairs by the hash of all their words
    votes: Annotated[np.ndarray, array(np.int32, "N")]  # number of bigrams in common with the current pair
    voted: Annotated[np.ndarray, array(np.int32, "N", fill=None)]  # pairs that have votes
    row: Annotated[np.ndarray, array(np.int32, "L + 1", fill=None)]  # work space of common_words
    n_occurrences: Annotated[np.ndarray, array(np.int64, 1)]  # number of occurrences that were added


class Twins(NamedTuple):
    """Which of N sentence pairs repeat earlier ones."""

    first: np.ndarray  # int32[N], the earlier pair that a pair repeats, which itself repeats none; EMPTY: none
    is_equal: np.ndarray  # bool[N], whether an earlier pair has the same words

    @property
    def repeats(self) -> np.ndarray:
        """Whether each pair repeats another pair (bool[N])."""
        return self.first != EMPTY

    @property
    def involved(self) -> np.ndarray:
        """Whether each pair repeats another pair, or is repeated (bool[N])."""
        involved = self.repeats
        involved[self.first[involved]] = True
        return involved


@inlined_kernel
def _slot(side, word, next_word, size):
    """The slot (int64) of a bigram in tables of `size` (int64); `side` and words int64, see BOUNDARY."""
    h = combine(combine(combine(START, side), word + 1), next_word + 1)
    return first_slot(mix(h), size)


@inlined_kernel
def _word(tokens, position, begin, end):
    """The word (int64) at `position` of the sentence tokens[begin:end], or BOUNDARY outside of it."""
    return np.int64(tokens[position]) if begin <= position < end else BOUNDARY


@kernel
def _count_bigrams(index: TwinIndex, tokens, offsets, side):
    """Count the bigrams of one side; tokens: int32[T], offsets: int64[N + 1]; `side` int64."""
    size = index.counts.size
    for i in range(offsets.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        for position in range(begin, end + 1):
            word, following = _word(tokens, position - 1, begin, end), _word(tokens, position, begin, end)
            slot = _slot(side, word, following, size)
            if index.counts[slot] <= MOST_OCCURRENCES:
                index.counts[slot] += np.uint8(1)


@kernel
def _count_rare(index: TwinIndex):
    """Number of occurrences (int64) of rare bigrams that occur at least twice."""
    total = np.int64(0)
    for slot in range(index.counts.size):
        if 2 <= index.counts[slot] <= MOST_OCCURRENCES:
            total += np.int64(index.counts[slot])
    return total


@inner_kernel
def _vote(index: TwinIndex, tokens, begin, end, side, n_voted):
    """Let the rare bigrams of a sentence vote for pairs that have them; returns the number of pairs with votes (int64).

    `n_voted` (int64): this number before.
    """
    for position in range(begin, end + 1):
        word, following = _word(tokens, position - 1, begin, end), _word(tokens, position, begin, end)
        slot = _slot(side, word, following, index.counts.size)
        if 2 <= index.counts[slot] <= MOST_OCCURRENCES:
            occurrence = np.int64(index.last[slot])
            while occurrence != EMPTY:
                pair = index.pair_of[occurrence]
                if index.votes[pair] == 0:
                    index.voted[n_voted] = pair
                    n_voted += 1
                index.votes[pair] += 1
                occurrence = np.int64(index.before[occurrence])
    return n_voted


@inner_kernel
def _add(index: TwinIndex, tokens, begin, end, side, pair):
    """Add the rare bigrams of one side of `pair` (int64) to the index."""
    for position in range(begin, end + 1):
        word, following = _word(tokens, position - 1, begin, end), _word(tokens, position, begin, end)
        slot = _slot(side, word, following, index.counts.size)
        if 2 <= index.counts[slot] <= MOST_OCCURRENCES:
            occurrence = index.n_occurrences[0]
            index.before[occurrence], index.pair_of[occurrence] = index.last[slot], pair
            index.last[slot] = occurrence
            index.n_occurrences[0] += 1


@inner_kernel
def common_words(first, second, row):
    """Number of words (int64) in the longest common subsequence of two sentences (Wagner & Fischer 1974).

    first: int32[n], second: int32[m] word ids; row: int32[m + 1 or more], overwritten.
    """
    n_columns = second.size
    for j in range(n_columns + 1):
        row[j] = 0
    for i in range(first.size):
        diagonal = np.int64(0)  # length for the words before first[i] and before second[j]
        for j in range(n_columns):
            above = np.int64(row[j + 1])
            best = max(above, np.int64(row[j]))
            if first[i] == second[j]:
                best = diagonal + 1
            diagonal = above
            row[j + 1] = best
    return np.int64(row[n_columns])


@inner_kernel
def _is_like(corpus: Corpus, pair, other, share, row):
    """Whether the sentences of two pairs (int64) have `share` (float64) of their words in common, in the same order."""
    first = corpus.tokens[corpus.offsets[pair] : corpus.offsets[pair + 1]]
    second = corpus.tokens[corpus.offsets[other] : corpus.offsets[other + 1]]
    return 2 * common_words(first, second, row) >= share * (first.size + second.size)


@inner_kernel
def _most_voted(index: TwinIndex, n_voted):
    """The earliest pair (int64) with most votes, whose votes are then set to 0; EMPTY if no pair has votes."""
    best, most = np.int64(EMPTY), np.int64(0)
    for i in range(n_voted):
        pair = np.int64(index.voted[i])
        votes = np.int64(index.votes[pair])
        if votes > most or (votes == most and votes > 0 and pair < best):
            best, most = pair, votes
    if best != EMPTY:
        index.votes[best] = 0
    return best


@inner_kernel
def _same_sentence(corpus: Corpus, pair, other):
    """Whether the sentences of two pairs (int64) are equal."""
    begin, other_begin = corpus.offsets[pair], corpus.offsets[other]
    length = corpus.offsets[pair + 1] - begin
    if length != corpus.offsets[other + 1] - other_begin:
        return False
    return same_words(corpus.tokens, begin, corpus.tokens, other_begin, length)


@inner_kernel
def _equal_pair(index: TwinIndex, source: Corpus, target: Corpus, pair):
    """The earlier pair (int64) with the same words as `pair` (int64). If there is none, adds `pair`; returns EMPTY."""
    h = START
    for position in range(source.offsets[pair], source.offsets[pair + 1]):
        h = combine(h, np.int64(source.tokens[position]))
    h = combine(h, BOUNDARY)
    for position in range(target.offsets[pair], target.offsets[pair + 1]):
        h = combine(h, np.int64(target.tokens[position]))
    slot = first_slot(mix(h), index.whole.size)
    while index.whole[slot] != EMPTY:
        other = np.int64(index.whole[slot])
        if _same_sentence(source, pair, other) and _same_sentence(target, pair, other):
            return other
        slot = next_slot(slot, index.whole.size)
    index.whole[slot] = pair
    return np.int64(EMPTY)


@inner_kernel
def _near_pair(index: TwinIndex, source: Corpus, target: Corpus, pair, share):
    """The earlier pair (int64) that `pair` (int64) nearly repeats, or EMPTY."""
    n_voted = _vote(index, source.tokens, source.offsets[pair], source.offsets[pair + 1], SOURCE, np.int64(0))
    n_voted = _vote(index, target.tokens, target.offsets[pair], target.offsets[pair + 1], TARGET, n_voted)
    found = np.int64(EMPTY)
    for _ in range(N_COMPARED):
        other = _most_voted(index, n_voted)
        if other == EMPTY:
            break
        if _is_like(source, pair, other, share, index.row) and _is_like(target, pair, other, share, index.row):
            found = other
            break
    for i in range(n_voted):
        index.votes[index.voted[i]] = 0
    return found


@kernel
def _find_twins(index: TwinIndex, source: Corpus, target: Corpus, begin, end, share, twins: Twins):
    """Fill `twins` for the pairs begin:end (int64), after all pairs before them; `share`: float64.

    Pairs with an empty side have no twins.
    """
    for pair in range(begin, end):
        if source.offsets[pair] == source.offsets[pair + 1] or target.offsets[pair] == target.offsets[pair + 1]:
            continue
        first = _equal_pair(index, source, target, pair)
        if first != EMPTY:
            # If `first` repeats another pair, so does this pair, since it is equal to `first`.
            twins.is_equal[pair] = True
            twins.first[pair] = first if twins.first[first] == EMPTY else twins.first[first]
            continue
        twins.first[pair] = _near_pair(index, source, target, pair, share)
        if twins.first[pair] == EMPTY:
            _add(index, source.tokens, source.offsets[pair], source.offsets[pair + 1], SOURCE, pair)
            _add(index, target.tokens, target.offsets[pair], target.offsets[pair + 1], TARGET, pair)


def find_twins(source: Corpus, target: Corpus, share: float) -> Twins:
    """Find the pairs that repeat earlier ones; near-duplicates have `share` (0 to 1) of the words in common."""
    n_pairs, longest = source.offsets.size - 1, max(_longest(source), _longest(target))
    n_bigrams = source.tokens.size + target.tokens.size + 2 * n_pairs
    sizes = {"B": _table_size(n_bigrams), "W": _table_size(2 * n_pairs), "N": n_pairs, "L": longest, "R": 0}
    index = allocate(TwinIndex, sizes)
    twins = Twins(np.full(n_pairs, EMPTY, np.int32), np.zeros(n_pairs, bool))
    with stage("finding twins", n_pairs, "sentence pairs") as advance:
        for side, corpus in ((SOURCE, source), (TARGET, target)):
            _count_bigrams(index, corpus.tokens, corpus.offsets, side)
        n_rare = int(_count_rare(index))
        index = index._replace(before=np.empty(n_rare, np.int32), pair_of=np.empty(n_rare, np.int32))
        for begin in range(0, n_pairs, BATCH):
            end = min(n_pairs, begin + BATCH)
            _find_twins(index, source, target, np.int64(begin), np.int64(end), float(share), twins)
            advance(end - begin)
    return twins


def twins_of_files(source: Path, target: Path, share: float) -> Twins:
    """Find the twins in two parallel files, tokenized, one sentence a line. Raises FormatError if lengths differ."""
    first, second = (read_corpus(path, Vocabulary()) for path in (source, target))
    n_source, n_target = first.offsets.size - 1, second.offsets.size - 1
    if n_source != n_target:
        raise FormatError(target, f"{n_target} lines, but {source} has {n_source}; each line must match")
    return find_twins(first, second, share)


def _longest(corpus: Corpus) -> int:
    return int(np.diff(corpus.offsets).max(initial=0))


def _table_size(n_entries: int) -> int:
    """A power of two, at least `n_entries`."""
    return 1 << max(10, (n_entries - 1).bit_length())
