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


def written(word, form, edits):
    """What pairs of positions, of which one may be None, write before the first letter and in place of each: hashes."""
    found, place = [0] * (len(word) + 1), 0
    for read, letter in edits:
        place = place if read is None else read + 1
        if letter is not None:
            found[place] = combine(found[place], form[letter])
    return found


def output_features(word, place):
    """Keys of the letter at a place, 0 being before the first, and of those around it."""
    i = place - 1
    own, near = chain(20, word[i] if place else NOTHING), lambda k: at(word, i + k)
    keys = [own]
    for distance in range(1, 5):
        keys += [chain(own, 2 * distance, near(-distance)), chain(own, 2 * distance + 1, near(distance))]
    keys += [chain(own, 30, near(-1), near(1)), chain(own, 31, near(-1), near(-2))]
    return keys + [chain(own, 32, near(1), near(2)), chain(own, 33, near(1), near(2), near(3))]


def output_probabilities(word, place, outputs, weights):
    """ln of the probability of each of some outputs at a place, and their slots."""
    keys = output_features(word, place)
    fired = [slots([key ^ mix(output) for key in keys], len(weights)) for output in outputs]
    scores = [sum(weights[slot] for slot in one) for one in fired]
    total = math.log(sum(map(math.exp, scores)))
    return [score - total for score in scores], fired


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


def nearest(word, forms, costs, within, most):
    """The forms, in a dict of their letters, whose edits cost at most `within` above the least; at most `most`."""
    limit = within + sum(min(costs[letter]) for letter in word)
    found = sorted((least_cost(word, spelled, costs), form) for form, spelled in forms.items())
    return [form for cost, form in found if cost <= limit][:most]
