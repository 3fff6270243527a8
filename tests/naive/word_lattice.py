"""Decoding of lattices by enumeration: every path from start to end, as a text whose positions are nodes."""

import math
from itertools import product

from tests.naive.search import features, options, orders

EMPTY = "*EPS*"


def paths(nodes, begin=0):
    """All paths from the node `begin` to the end, lists of (node, word, ln score, node); nodes: lists of arcs."""
    if begin == len(nodes):
        yield []
    else:
        for word, probability, length in nodes[begin]:
            score = max(math.log(probability), -100.0) if probability else -100.0
            for rest in paths(nodes, begin + length):
                yield [(begin, word, score, begin + length), *rest]


def distance(nodes, first, last):
    """Arcs on the shortest path from node `first` to node `last`; inf if there is none."""
    if first == last:
        return 0
    if first > last or first == len(nodes):
        return math.inf
    return 1 + min(distance(nodes, first + length, last) for _, _, length in nodes[first])


def path_options(table, arcs):
    """The options of the words of some arcs; one empty arc alone is an unknown word without a translation."""
    words = [word for _, word, _, _ in arcs if word != EMPTY]
    if words:
        return options(table, words, 0, len(words))
    return [([], None, None, True)] if len(arcs) == 1 else []


def derivations(table, nodes, longest, distortion_limit):
    """Yield (derivation, summed ln scores of its arcs) for all paths; a derivation is a list of (span, option)."""

    def jump(first, last):
        return distance(nodes, min(first, last), max(first, last))

    for path in paths(nodes):
        at = [0, *(end for _, _, _, end in path)]
        total = sum(score for _, _, score, _ in path)
        for spans in orders(len(path), longest, distortion_limit, jump=lambda i, j, at=at: jump(at[i], at[j])):
            for chosen in product(*(path_options(table, path[begin:end]) for begin, end in spans)):
                yield [((at[begin], at[end]), option) for (begin, end), option in zip(spans, chosen)], total


def best_score(toy, nodes, distortion_limit, input_weight):
    """The score of the best derivation of a lattice by a Toy."""

    def jump(first, last):
        return distance(nodes, min(first, last), max(first, last))

    found = derivations(toy.table, nodes, toy.longest, distortion_limit)
    return max(
        input_weight * total
        + toy.weights @ features(derivation, 4, toy.reordering, toy.lm, toy.order, toy.early, jump=jump)
        for derivation, total in found
    )
