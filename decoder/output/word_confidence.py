"""Confidences of the words of a translation: posteriors over the hypothesis graph (Ueffing & Ney 2007, section 5).

Each derivation translates each position of the sentence once. The posterior of a word at a position is therefore the
sum of the probabilities of all derivations in which the phrase at this position contains the word, linked to the
position. The probability of a derivation is proportional to exp(scale times model score). The posteriors of all phrases
are computed in one forward and one backward pass over the graph. The links are those of phrase pairs; a word without
links counts at each position of its phrase.
"""

from typing import NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Factor, Section
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPairs
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.options.score_checks import alignment_in
from phrasebeam.decoder.search.hypothesis_graph import START_NODE, HypothesisGraph
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.kernels.jit import inner_kernel, kernel


class ConfidenceSettings(Section):
    """Settings of word confidences: posterior probabilities of words over all hypotheses that survived the search."""

    scale: Factor = Field(
        default=0.5, description="factor by which model scores are multiplied before they become probabilities"
    )


class Links(NamedTuple):
    """The word alignments of K phrases; those of phrase i are points[first[i]:end[i]]."""

    first: np.ndarray  # int64[K]
    end: np.ndarray  # int64[K]
    points: np.ndarray  # uint8[P, 2], (source, target) positions inside the phrases

    @classmethod
    def of(cls, pairs: np.ndarray, table: PhraseTable, synthetic: SyntheticPairs) -> "Links":
        """The links of pairs of a table; negative pairs are synthetic. Raises ModelError if the table is damaged."""
        is_own, offsets = pairs < 0, table.alignment_offsets
        rows, own = pairs[~is_own], -1 - pairs[is_own]
        is_wrong = (offsets[rows] > offsets[rows + 1]) | (offsets[rows] < 0)
        for pair in rows[is_wrong | (offsets[rows + 1] > len(table.alignment_points))].tolist():
            alignment_in(table, pair, 0, 0)
        bounds, columns = taken(offsets, rows)
        points = np.concatenate([table.alignment_points[columns], synthetic.alignment_points])
        first, end = np.empty(pairs.size, np.int64), np.empty(pairs.size, np.int64)
        first[~is_own], end[~is_own] = bounds[:-1], bounds[1:]
        first[is_own], end[is_own] = (bounds[-1] + synthetic.alignment_offsets[own + i] for i in range(2))
        return cls(first, end, points)

    @classmethod
    def none(cls, n: int) -> "Links":
        """No links of `n` phrases."""
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros((0, 2), np.uint8))


class LinkedPhrases(NamedTuple):
    """K phrases of a sentence; word ids are below V."""

    begin: np.ndarray  # int32[K], source span, half open
    end: np.ndarray  # int32[K]
    target_first: np.ndarray  # int64[K + 1], into `words`
    words: np.ndarray  # int32[W], target ids
    links: Links

    @classmethod
    def of(cls, options: Options, chosen: np.ndarray, links: Links) -> "LinkedPhrases":
        """The phrases of the options whose numbers are `chosen` (int[K])."""
        target_first, columns = taken(options.target_first, options.target[chosen])
        return cls(options.begin[chosen], options.end[chosen], target_first, options.words[columns], links)


class WordPlaces(NamedTuple):
    """Source positions for which words of phrases count: E entries, ordered by phrase and word."""

    key: np.ndarray  # int64[E], position times V, plus the word's id
    phrase: np.ndarray  # int32[E]
    word: np.ndarray  # int32[E], index of LinkedPhrases.words


class WordPosteriors(NamedTuple):
    """Posteriors of the words in a sentence's translations at source positions, with K keys; see WordPlaces."""

    n_known: int  # V
    key: np.ndarray  # int64[K], ascending
    posterior: np.ndarray  # float64[K]

    @classmethod
    def of(cls, phrases: LinkedPhrases, posterior: np.ndarray) -> "WordPosteriors":
        """Sum phrases with these posteriors (float64[K]); a word counts only once at a position of a phrase."""
        n_known = int(phrases.words.max(initial=0)) + 1
        places = places_of(phrases, n_known)
        order = np.lexsort((places.phrase, places.key))
        key, phrase = places.key[order], places.phrase[order]
        is_new = np.append(True, (key[1:] != key[:-1]) | (phrase[1:] != phrase[:-1]))[: key.size]
        keys, number = np.unique(key[is_new], return_inverse=True)
        sums = np.bincount(number, posterior[phrase[is_new]], keys.size)
        return cls(n_known, keys, np.minimum(sums, 1.0))  # larger only by rounding

    def confidences(self, phrases: LinkedPhrases) -> np.ndarray:
        """float64[W]: for each word of some of the phrases, the largest posterior of the word at its positions."""
        places, found = places_of(phrases, self.n_known), np.zeros(phrases.words.size)
        np.maximum.at(found, places.word, self.posterior[np.searchsorted(self.key, places.key)])
        return found


def option_posteriors(graph: HypothesisGraph, n_words: int, options: Options, scale: float) -> np.ndarray:
    """float64[O]: the total probability of the derivations of the graph with an option; there is at least one."""
    final = int(graph.stack_first[n_words])
    ln_inside, nodes, posterior = np.empty(final + 1), np.zeros(final + 1), np.zeros(options.pair.size)
    fill_option_posteriors(graph, final, float(scale), ln_inside, nodes, posterior)
    return posterior


@kernel
def fill_option_posteriors(graph: HypothesisGraph, final: int, scale: float, ln_inside, nodes, posterior):
    """Add to `posterior` (float64[O], 0 at first) the probability of each edge, by its option.

    Fills `ln_inside` (float64[N]): ln of the sum, over the ways to a node, of exp(scale times their score above the
    best); and `nodes` (float64[N], 0 at first): the probability of the derivations through a node.
    """
    ln_inside[START_NODE] = 0.0
    for node in range(START_NODE + 1, final + 1):
        largest = -np.inf
        for edge in range(graph.edge_first[node], graph.edge_first[node + 1]):
            largest = max(largest, _ln_ways(graph, scale, ln_inside, node, edge))
        total = 0.0
        for edge in range(graph.edge_first[node], graph.edge_first[node + 1]):
            total += np.exp(_ln_ways(graph, scale, ln_inside, node, edge) - largest)
        ln_inside[node] = largest + np.log(total)
    nodes[final] = 1.0
    for node in range(final, START_NODE, -1):
        if nodes[node] == 0.0:
            continue
        for edge in range(graph.edge_first[node], graph.edge_first[node + 1]):
            share = nodes[node] * np.exp(_ln_ways(graph, scale, ln_inside, node, edge) - ln_inside[node])
            nodes[np.int64(graph.edge_from[edge])] += share
            posterior[np.int64(graph.edge_option[edge])] += share


@inner_kernel
def _ln_ways(graph, scale, ln_inside, node, edge):
    """The part of ln_inside of a node that belongs to one of its edges."""
    return ln_inside[np.int64(graph.edge_from[edge])] + scale * (graph.edge_score[edge] - graph.score[node])


def places_of(phrases: LinkedPhrases, n_known: int) -> WordPlaces:
    """All places of the words of phrases, by phrase, source position and word."""
    most = int(((phrases.end - phrases.begin) * np.diff(phrases.target_first)).sum())
    places = WordPlaces(np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.int32))
    count = fill_places(phrases, n_known, places)
    return WordPlaces(*(field[:count] for field in places))


@kernel
def fill_places(phrases: LinkedPhrases, n_known: int, places: WordPlaces):
    """Fill `places`; return the number of places."""
    count = np.int64(0)
    for phrase in range(phrases.begin.size):
        first, begin = phrases.target_first[phrase], np.int64(phrases.begin[phrase])
        points = phrases.links.points[phrases.links.first[phrase] : phrases.links.end[phrase]]
        for position in range(begin, np.int64(phrases.end[phrase])):
            for index in range(first, phrases.target_first[phrase + 1]):
                if _counts_at(points, position - begin, index - first):
                    places.key[count] = position * n_known + np.int64(phrases.words[index])
                    places.phrase[count], places.word[count] = phrase, index
                    count += 1
    return count


@inner_kernel
def _counts_at(points, source, target):
    """Whether a target word of a phrase is linked to a source word, or has no links at all."""
    is_linked = False
    for i in range(points.shape[0]):
        if np.int64(points[i, 1]) == target:
            if np.int64(points[i, 0]) == source:
                return True
            is_linked = True
    return not is_linked
