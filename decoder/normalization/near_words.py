"""Forms of a list that are nearest to a word by learned costs of edits, found by a search in a trie with pruning.

The cost of edits is compared with the least cost that any form would have, so that one bound is valid for words of any
length. A prefix is pruned when no form with this prefix can be within the bound, as Oflazer (1996, section 2) does with
counts of edits.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.word_letters import NO_LETTER, Alphabet, LetterTexts
from phrasebeam.kernels.jit import inner_kernel, kernel

WITHIN = 12.0  # above the least cost, in ln: two or three edits that are not rare


class FormTrie(NamedTuple):
    """N forms in alphabetical order, so that forms with the same beginning share nodes of a trie."""

    texts: LetterTexts  # N
    shared: np.ndarray  # int64[N], number of initial letters that a form shares with the preceding form


class Lexicon(NamedTuple):
    """Forms that might be written, and their letters."""

    forms: list[str]
    trie: FormTrie


class NearForms(NamedTuple):
    """The nearest forms of W words, at most K of each, the nearest first."""

    form: np.ndarray  # int64[W, K], number in the lexicon
    cost: np.ndarray  # float64[W, K]
    found: np.ndarray  # int64[W], number of forms found


class NearSpace(NamedTuple):
    """Work space for words and forms of less than M letters."""

    cost: np.ndarray  # float64[M, M], of edits from the first letters of a word to the first letters of a form
    rest: np.ndarray  # float64[M], the least total cost of the letters of the word from a position on


@kernel
def count_shared(texts: LetterTexts, shared):
    """Fill `shared` (int64[N]) with the number of initial letters that each text shares with the preceding one."""
    for i in range(shared.size):
        count = np.int64(0)
        if i > 0:
            before, own = texts.first[i - 1], texts.first[i]
            most = min(own - before, texts.first[i + 1] - own)
            while count < most and texts.letters[before + count] == texts.letters[own + count]:
                count += 1
        shared[i] = count


@inner_kernel
def add_letter(words: LetterTexts, word: int, letter, depth, costs, space: NearSpace):
    """Fill row `depth` (int64) of space.cost for forms whose letter number `depth` is `letter` (int64).

    `costs`: float64[A, A]. Returns the least cost that a form with this prefix may have.
    """
    begin, n = words.first[word], words.first[word + 1] - words.first[word]
    space.cost[depth, 0] = space.cost[depth - 1, 0] + costs[NO_LETTER, letter]
    least = space.cost[depth, 0] + space.rest[0]
    for i in range(1, n + 1):
        own = words.letters[begin + i - 1]
        cost = space.cost[depth - 1, i - 1] + costs[own, letter]
        cost = min(cost, space.cost[depth - 1, i] + costs[NO_LETTER, letter])
        cost = min(cost, space.cost[depth, i - 1] + costs[own, NO_LETTER])
        space.cost[depth, i] = cost
        least = min(least, cost + space.rest[i])
    return least


@inner_kernel
def keep_near(near: NearForms, word: int, form: int, cost):
    """Insert a form of `cost` (float64) after forms that are as near; the farthest is dropped if there is no room."""
    most = near.form.shape[1]
    if near.found[word] == most and cost >= near.cost[word, most - 1]:
        return
    near.found[word] = min(near.found[word] + 1, np.int64(most))
    place = near.found[word] - 1
    while place > 0 and near.cost[word, place - 1] > cost:
        near.form[word, place], near.cost[word, place] = near.form[word, place - 1], near.cost[word, place - 1]
        place -= 1
    near.form[word, place], near.cost[word, place] = form, cost


@kernel
def find_near(words: LetterTexts, trie: FormTrie, costs, least, within, space: NearSpace, near: NearForms):
    """Fill `near` with the forms whose cost is at most `within` (float64) above the least that a word can have.

    `costs`: float64[A, A]; `least`: float64[A], the least cost of each letter of words.
    """
    texts = trie.texts
    for word in range(near.found.size):
        n, most = words.first[word + 1] - words.first[word], near.form.shape[1]
        near.found[word], space.rest[n], space.cost[0, 0] = 0, 0.0, 0.0
        for k in range(n):
            own = words.letters[words.first[word] + n - 1 - k]
            space.rest[n - 1 - k] = space.rest[n - k] + least[own]
        for i in range(n):
            own = words.letters[words.first[word] + i]
            space.cost[0, i + 1] = space.cost[0, i] + costs[own, NO_LETTER]
        limit, left = space.rest[0] + within, np.int64(texts.letters.size + 1)
        for form in range(trie.shared.size):
            if trie.shared[form] >= left:  # the form shares a prefix that is already too far
                continue
            left, depth = np.int64(texts.letters.size + 1), trie.shared[form]
            size = texts.first[form + 1] - texts.first[form]
            while depth < size and left > size:
                letter = np.int64(texts.letters[texts.first[form] + depth])
                depth += 1
                if add_letter(words, word, letter, depth, costs, space) > limit:
                    left = depth
            if left > size and space.cost[size, n] <= limit:
                keep_near(near, word, form, space.cost[size, n])
                if near.found[word] == most:
                    limit = min(limit, near.cost[word, most - 1])


def lexicon_of(forms: Collection[str], alphabet: Alphabet) -> Lexicon:
    """A lexicon of these forms."""
    ordered = sorted(forms)
    texts = alphabet.form_texts(ordered)
    shared = np.empty(len(ordered), np.int64)
    count_shared(texts, shared)
    return Lexicon(ordered, FormTrie(texts, shared))


def near_forms(
    words: Sequence[str], lexicon: Lexicon, alphabet: Alphabet, costs: np.ndarray, most: int
) -> list[list[str]]:
    """The nearest forms of the lexicon for each word, at most `most`; of equally near forms, those that come first.

    `costs`: float64[A, A], of edits.
    """
    if not most or not lexicon.forms or not words:
        return [[] for _ in words]
    texts = alphabet.texts(words)
    longest = 1 + int(max(np.diff(texts.first).max(), np.diff(lexicon.trie.texts.first).max()))
    space = NearSpace(np.empty((longest, longest)), np.empty(longest))
    shape = len(words), most
    near = NearForms(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(len(words), np.int64))
    find_near(texts, lexicon.trie, costs, costs.min(axis=1), WITHIN, space, near)
    return [[lexicon.forms[i] for i in row[:count]] for row, count in zip(near.form.tolist(), near.found.tolist())]
