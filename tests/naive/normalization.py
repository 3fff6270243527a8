"""Normalization by recursion and dicts: the cheapest edits, sparse features of candidates, AdaGrad on their weights."""

import math
from functools import cache

from tests.naive.hashes import combine, hash_text, mix

OUTSIDE, NOTHING = -1, 0
FIRST_SQUARE, LEAST_GRADIENT = 1e-2, 1e-3


def least_cost(word, form, costs):
    """The cost of the cheapest edits from one list of letters to another."""

    @cache
    def cost(i, j):
        if i == 0 and j == 0:
            return 0.0
        found = []
        if i and j:
            found.append(cost(i - 1, j - 1) + costs[word[i - 1]][form[j - 1]])
        if i:
            found.append(cost(i - 1, j) + costs[word[i - 1]][NOTHING])
        if j:
            found.append(cost(i, j - 1) + costs[NOTHING][form[j - 1]])
        return min(found)

    return cost(len(word), len(form))


def expected_edits(word, form, costs):
    """How often each edit is expected, by letters, 0 being none: all ways are tried."""
    counts, total = {}, 0.0

    def follow(i, j, edits, cost):
        nonlocal total
        if (i, j) == (len(word), len(form)):
            share = math.exp(-cost)
            total += share
            for edit in edits:
                counts[edit] = counts.get(edit, 0.0) + share
            return
        steps = [(i + 1, j + 1)] if i < len(word) and j < len(form) else []
        steps += [(i + 1, j)] if i < len(word) else []
        steps += [(i, j + 1)] if j < len(form) else []
        for k, m in steps:
            edit = word[i] if k > i else 0, form[j] if m > j else 0
            follow(k, m, [*edits, edit], cost + costs[edit[0]][edit[1]])

    follow(0, 0, [], 0.0)
    return {edit: count / total for edit, count in counts.items()}


def at(letters, place):
    return letters[place] if 0 <= place < len(letters) else OUTSIDE


def from_end(letters, place):
    return letters[-place] if place <= len(letters) else OUTSIDE


def chain(start, *values):
    for value in values:
        start = combine(start, value)
    return start


def letter_features(word, form, edits):
    """Keys of the features of edits, pairs of positions of which one may be None."""
    keys, before, earlier, i, j = [], 1, 1, 0, 0
    for place, written in edits:
        old = NOTHING if place is None else word[place]
        new = NOTHING if written is None else form[written]
        edit, behind = chain(7, old, new), i + (place is not None)
        left, left2, right, right2 = at(word, i - 1), at(word, i - 2), at(word, behind), at(word, behind + 1)
        keys += [chain(edit, 1), chain(edit, left, 2), chain(edit, right, 3), chain(edit, left, right, 4)]
        keys += [chain(edit, left, left2, 5), chain(edit, right, right2, 6)]
        keys += [chain(edit, left, left2, right, right2, 7), edit ^ mix(before), edit ^ mix(earlier)]
        if written is not None:
            three = chain(9, new, at(form, j - 1), at(form, j - 2))
            keys += [three, combine(three, at(form, j - 3))]
            if written == len(form) - 1:
                keys.append(combine(three, 10))
            j += 1
        earlier, before, i = edit ^ mix(before), edit, behind
    return keys


def neighbour_features(texts, letters):
    """Keys of the features of (word, form, before, after), as texts and as lists of letters."""
    word, form, before, after = map(hash_text, texts)
    _, own, previous, following = letters
    last, first = from_end(previous, 1), at(following, 0)
    ending, begin = chain(11, last, from_end(previous, 2)), chain(12, first, at(following, 1))
    after_end = chain(13, from_end(following, 1), from_end(following, 2))
    own_end = chain(14, from_end(own, 1), from_end(own, 2))
    keys = [form ^ mix(before), form ^ mix(after), form ^ mix(ending), form ^ mix(begin)]
    keys += [combine(form, last), combine(form, first), form ^ mix(before ^ mix(word)), form ^ mix(after ^ mix(word))]
    keys += [form ^ mix(after_end), own_end ^ mix(ending), own_end ^ mix(after_end)]
    return [combine(key, 100 + i) for i, key in enumerate(keys)]


def slots(keys, size):
    return [mix(key) % size for key in keys]


def adagrad_step(base, features, right, weights, squares, rate, penalty):
    """One step in place: `features` are slots of each candidate, `base` their scores without weights."""
    scores = [score + sum(weights[slot] for slot in fired) for score, fired in zip(base, features)]
    total = sum(math.exp(score - max(scores)) for score in scores)
    for k, fired in enumerate(features):
        gradient = math.exp(scores[k] - max(scores)) / total - (k == right)
        if abs(gradient) < LEAST_GRADIENT:
            continue
        for slot in fired:
            slope = gradient + penalty * weights[slot]
            squares[slot] += slope * slope
            weights[slot] -= rate * slope / math.sqrt(squares[slot])
