"""The phrase pairs of confirmed segments that a sentence can use, with their scores."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.adaptation.dynamic_counts import CountTables, DynamicCounts
from phrasebeam.decoder.adaptation.dynamic_scores import Confirmed, PairScores, new_pair_scores, score_pairs
from phrasebeam.decoder.adaptation.fading_table import faded, number_of
from phrasebeam.decoder.adaptation.static_counts import StaticArrays, static_source_count
from phrasebeam.decoder.extraction.occurrences import target_lengths
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source, phrase_hash
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.kernels.hashing import EMPTY
from phrasebeam.kernels.jit import inlined_kernel, kernel

MOST_PAIRS = 20  # pairs of a source phrase, as many as the default table limit


Rows = tuple[np.ndarray, np.ndarray]  # int64[N + 1] offsets of N rows, and their concatenated items


class ConfirmedPairs(NamedTuple):
    """P pairs of E source phrases of a sentence, ordered by phrase, then by frequency, the most frequent first."""

    sources: Rows  # the E phrases, int32 words
    factors: np.ndarray  # float64[E], factors of p(e|f) of the model's pairs: c(f) / (c(f) + d(f))
    source_of: np.ndarray  # int64[P], index of each pair's source phrase
    targets: Rows  # of P, int32 words
    points: Rows  # of P, uint8[..., 2] positions inside the phrases
    scores: PairScores


class ConfirmedStatistics:
    """Joint counts of confirmed segments and a model at one moment."""

    def __init__(self, static: StaticArrays, dynamic: DynamicCounts):
        self.static = static
        self.confirmed = Confirmed(dynamic.tables, dynamic.text.bitext, dynamic.rules, dynamic.time)

    def pairs(self, words: np.ndarray) -> ConfirmedPairs:
        """The pairs of the phrases of a sentence (int32[n]), at most MOST_PAIRS for each phrase."""
        confirmed, tables = self.confirmed, self.confirmed.tables
        found = np.full((words.size, confirmed.rules.longest_source), EMPTY, np.int64)
        find_phrases(tables, words, found)
        places = np.flatnonzero(found != EMPTY)
        _, first = np.unique(found.reshape(-1)[places], return_index=True)
        places = places[np.sort(first)]
        begins, lengths = places // found.shape[1], places % found.shape[1] + 1
        sources = np.column_stack((found.reshape(-1)[places], np.full(places.size, ABSENT)))
        factors, chosen = np.ones(places.size), np.full((places.size, MOST_PAIRS), EMPTY, np.int64)
        choose_pairs(self.static, confirmed, words, begins, lengths, sources, factors, chosen)
        pairs, source_of = chosen[chosen != EMPTY], np.nonzero(chosen != EMPTY)[0]
        scores = new_pair_scores(self.static, pairs.size)
        score_pairs(self.static, confirmed, sources, source_of, pairs, scores)
        offsets, positions = _spans(begins, begins + lengths)
        return ConfirmedPairs((offsets, words[positions]), factors, source_of, *self._phrases(pairs), scores)

    def _phrases(self, pairs: np.ndarray) -> tuple[Rows, Rows]:
        """The target words of pairs (int64[P]) and their alignment points, at their last occurrences."""
        place, bitext = self.confirmed.tables.entries.place[pairs], self.confirmed.bitext
        begins = bitext.target_offsets[place[:, 0]] + place[:, 2]
        ends = begins + target_lengths(place)
        words = _spans(begins, ends)
        links = _spans(bitext.target_links[begins], bitext.target_links[ends])
        shifts = np.repeat(place[:, 1:3], np.diff(links[0]), axis=0)
        points = (bitext.links[links[1]] - shifts).astype(np.uint8)
        return (words[0], bitext.target_tokens[words[1]]), (links[0], points)

    def target_factors(self, keys: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """float64[T], factors of the model's p(f|e): c(e) / (c(e) + d(e)), for hashes (uint64[T]) of target phrases e.

        `counts` (int32[T]): c(e), if the model has counts.
        """
        factors = np.ones(keys.size)
        fill_target_factors(self.static, self.confirmed, keys, counts, factors)
        return factors


def _spans(begins: np.ndarray, ends: np.ndarray) -> Rows:
    """int64[P + 1] offsets of the concatenated spans begins:ends, and the positions of their items."""
    edges = np.column_stack((begins, ends)).reshape(-1)
    return taken(edges, np.arange(0, edges.size, 2))


@kernel
def find_phrases(tables: CountTables, words, found):
    """Write the numbers of the source phrases of `words` (int32[n]) to `found` (int64[n, longest]) by begin and length.

    Entries without a phrase stay EMPTY, including all phrases with an unknown word (-1).
    """
    for begin in range(words.size):
        for length in range(1, min(found.shape[1], words.size - begin) + 1):
            if words[begin + length - 1] < 0:
                break
            key = phrase_hash(words, begin, begin + length)
            found[begin, length - 1] = number_of(tables.sources, key)


@kernel
def choose_pairs(static: StaticArrays, confirmed: Confirmed, words, begins, lengths, sources, factors, chosen):
    """Choose the most frequent pairs of each of E phrases of `words` (int32[n]), with ties in order of entry.

    The phrases are words[begins[i]:begins[i] + lengths[i]] (int64[E] each). `sources` (int64[E, 2]) has their numbers
    here, and gets those in the model's table; `factors` (float64[E]) gets the factors of p(e|f), `chosen`
    (int64[E, most], EMPTY at first) the pairs, the most frequent first.
    """
    tables, rules, time = confirmed.tables, confirmed.rules, confirmed.time
    for i in range(begins.size):
        source = sources[i, 0]
        number = max(find_source(static.phrases, words, begins[i], begins[i] + lengths[i]), np.int64(ABSENT))
        sources[i, 1] = number
        factors[i] = _share(static_source_count(static, number), faded(tables.sources, source, time, rules.decay))
        n, pair = np.int64(0), np.int64(tables.first_listed[source])
        while pair != EMPTY:
            count, place = faded(tables.pairs, pair, time, rules.decay), n
            while place > 0 and _is_better(count, pair, tables, confirmed, chosen[i, place - 1]):
                place -= 1
            n = min(n + 1, np.int64(chosen.shape[1]))
            for k in range(n - 1, place, -1):
                chosen[i, k] = chosen[i, k - 1]
            if place < n:
                chosen[i, place] = pair
            pair = np.int64(tables.entries.next_listed[pair])


@inlined_kernel
def _is_better(count, pair, tables, confirmed, other):
    """Whether a pair precedes another one: it is more frequent, or as frequent and was entered earlier."""
    of_other = faded(tables.pairs, other, confirmed.time, confirmed.rules.decay)
    return count > of_other or (count == of_other and pair < other)


@kernel
def fill_target_factors(static: StaticArrays, confirmed: Confirmed, keys, counts, factors):
    """Fill `factors` (float64[T]) of target phrases with `keys` (uint64[T]); 1 remains for phrases in no segment.

    `counts` (int32[T]) are the counts of the model, if it has any.
    """
    targets, time, decay = confirmed.tables.targets, confirmed.time, confirmed.rules.decay
    for i in range(keys.size):
        number = number_of(targets, keys[i])
        if number != EMPTY:
            known = np.float64(counts[i]) if static.has_counts else static.prior_count
            factors[i] = _share(known, faded(targets, number, time, decay))


@kernel
def _share(known, new):
    return known / (known + new) if known + new > 0 else 1.0
