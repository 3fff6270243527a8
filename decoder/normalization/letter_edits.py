"""Edits that turn one word into another: the cheapest edits by learned costs of letters (Ristad & Yianilos 1998).

An edit replaces, deletes or inserts a letter. Its cost is -ln of its share of all edits of the training pairs. Edits
are counted by expectation under the costs of the previous round (expectation maximization), so that letters of another
script are learned, too.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.word_letters import FIRST_LETTER, NO_LETTER, OTHER_LETTER, Alphabet, LetterTexts
from phrasebeam.kernels.jit import inner_kernel, kernel

ROUNDS = 10  # rounds of expectation maximization
LEAST_COUNT, COPY_COUNT = 0.01, 0.5  # added to the count of each edit, and of edits that leave a letter unchanged
FIRST_COSTS = 1.0, 1.2  # before the first round: cost of inserting or deleting, and of replacing a letter
REPLACED, DELETED, INSERTED = np.int8(0), np.int8(1), np.int8(2)


class Edits(NamedTuple):
    """Edits of C pairs of a word and a form; the edits of pair i are first[i]:first[i + 1]."""

    first: np.ndarray  # int64[C + 1]
    word_letter: np.ndarray  # int32[E], position in the word, -1 if a letter is inserted
    form_letter: np.ndarray  # int32[E], position in the form, -1 if a letter is deleted
    cost: np.ndarray  # float64[C], total cost of the edits of the pair


class AlignmentSpace(NamedTuple):
    """Work space for words of less than M letters."""

    cost: np.ndarray  # float64[M, M]
    kind: np.ndarray  # int8[M, M]


class PathSums(NamedTuple):
    """Work space for words of less than M letters: ln of sums over all edits before and after a place in both words."""

    before: np.ndarray  # float64[M, M]
    behind: np.ndarray  # float64[M, M]


@inner_kernel
def ln_sum(first, second, third):
    """ln of the sum of the exponentials of `first`, `second`, `third` (float64, may be minus infinity)."""
    largest = max(first, max(second, third))
    if largest == -np.inf:
        return largest
    return largest + np.log(np.exp(first - largest) + np.exp(second - largest) + np.exp(third - largest))


@kernel
def expect_edits(words: LetterTexts, forms: LetterTexts, weights, costs, space: PathSums, counts):
    """Add to `counts` the expected counts of edits from word i to form i with `costs` (both float64[A, A]).

    `weights`: float64[N], how often each pair counts.
    """
    for c in range(weights.size):
        word, form = words.first[c], forms.first[c]
        n, m = words.first[c + 1] - word, forms.first[c + 1] - form
        for i in range(n + 1):
            for j in range(m + 1):
                replaced = deleted = inserted = -np.inf
                if i > 0 and j > 0:
                    cost = costs[words.letters[word + i - 1], forms.letters[form + j - 1]]
                    replaced = space.before[i - 1, j - 1] - cost
                if i > 0:
                    deleted = space.before[i - 1, j] - costs[words.letters[word + i - 1], NO_LETTER]
                if j > 0:
                    inserted = space.before[i, j - 1] - costs[NO_LETTER, forms.letters[form + j - 1]]
                space.before[i, j] = ln_sum(replaced, deleted, inserted) if i + j > 0 else 0.0
        total = space.before[n, m]
        for k in range(n + 1):
            for r in range(m + 1):
                i, j = n - k, m - r
                replaced = deleted = inserted = -np.inf
                here = space.before[i, j] - total
                if i < n and j < m:
                    a, b = words.letters[word + i], forms.letters[form + j]
                    replaced = space.behind[i + 1, j + 1] - costs[a, b]
                    counts[a, b] += weights[c] * np.exp(here + replaced)
                if i < n:
                    a = words.letters[word + i]
                    deleted = space.behind[i + 1, j] - costs[a, NO_LETTER]
                    counts[a, NO_LETTER] += weights[c] * np.exp(here + deleted)
                if j < m:
                    b = forms.letters[form + j]
                    inserted = space.behind[i, j + 1] - costs[NO_LETTER, b]
                    counts[NO_LETTER, b] += weights[c] * np.exp(here + inserted)
                space.behind[i, j] = ln_sum(replaced, deleted, inserted) if k + r > 0 else 0.0


@kernel
def align_words(words: LetterTexts, owner, forms: LetterTexts, costs, space: AlignmentSpace, edits: Edits):
    """Fill `edits` with the cheapest edits from word owner[i] (int64[C]) to form i; `costs`: float64[A, A].

    With equal costs, replacing precedes deleting and deleting precedes inserting, from the end of the words.
    """
    count = np.int64(0)
    for c in range(owner.size):
        word, form = words.first[owner[c]], forms.first[c]
        n, m = words.first[owner[c] + 1] - word, forms.first[c + 1] - form
        for i in range(n + 1):
            for j in range(m + 1):
                best, kind = np.inf, REPLACED
                if i == 0 and j == 0:
                    best = 0.0
                if i > 0 and j > 0:
                    best = space.cost[i - 1, j - 1] + costs[words.letters[word + i - 1], forms.letters[form + j - 1]]
                if i > 0 and space.cost[i - 1, j] + costs[words.letters[word + i - 1], NO_LETTER] < best:
                    best, kind = space.cost[i - 1, j] + costs[words.letters[word + i - 1], NO_LETTER], DELETED
                if j > 0 and space.cost[i, j - 1] + costs[NO_LETTER, forms.letters[form + j - 1]] < best:
                    best, kind = space.cost[i, j - 1] + costs[NO_LETTER, forms.letters[form + j - 1]], INSERTED
                space.cost[i, j], space.kind[i, j] = best, kind
        edits.cost[c], edits.first[c] = space.cost[n, m], count
        i, j, size = n, m, np.int64(0)
        while i > 0 or j > 0:  # count the edits
            kind = space.kind[i, j]
            i, j, size = i - np.int64(kind != INSERTED), j - np.int64(kind != DELETED), size + 1
        i, j, count = n, m, count + size
        for k in range(size):
            kind = space.kind[i, j]
            i, j = i - np.int64(kind != INSERTED), j - np.int64(kind != DELETED)
            edits.word_letter[count - 1 - k] = i if kind != INSERTED else -1
            edits.form_letter[count - 1 - k] = j if kind != DELETED else -1
    edits.first[owner.size] = count


def edits_of(words: LetterTexts, owner: np.ndarray, forms: LetterTexts, costs: np.ndarray) -> Edits:
    """The cheapest edits from word owner[i] to form i, for all forms."""
    word_sizes, form_sizes = np.diff(words.first)[owner], np.diff(forms.first)
    longest = int(max(word_sizes.max(initial=0), form_sizes.max(initial=0))) + 1
    most = int((word_sizes + form_sizes).sum())
    space = AlignmentSpace(np.empty((longest, longest)), np.empty((longest, longest), np.int8))
    edits = Edits(
        np.empty(owner.size + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int32), np.empty(owner.size)
    )
    align_words(words, np.ascontiguousarray(owner, np.int64), forms, costs, space, edits)
    n = edits.first[-1]
    return edits._replace(word_letter=edits.word_letter[:n], form_letter=edits.form_letter[:n])


def learn_costs(words: Sequence[str], forms: Sequence[str], weights: np.ndarray, alphabet: Alphabet) -> np.ndarray:
    """float64[A, A], costs of edits from letters of words to letters of forms; pairs have `weights` (float64[N])."""
    word_texts, form_texts = alphabet.texts(words), alphabet.form_texts(forms)
    longest = int(max(np.diff(word_texts.first).max(), np.diff(form_texts.first).max())) + 1
    space = PathSums(np.empty((longest, longest)), np.empty((longest, longest)))
    costs, own = _first_costs(alphabet.size), np.arange(OTHER_LETTER, alphabet.size)
    for _ in range(ROUNDS):
        counts = np.full(costs.shape, LEAST_COUNT)
        expect_edits(word_texts, form_texts, np.asarray(weights, np.float64), costs, space, counts)
        counts[own, own] += COPY_COUNT
        counts[NO_LETTER, NO_LETTER] = 0
        with np.errstate(divide="ignore"):  # nothing is never made of nothing
            costs = -np.log(counts / counts.sum())
    return costs


def _first_costs(size: int) -> np.ndarray:
    gap, other = FIRST_COSTS
    costs = np.full((size, size), other)
    costs[NO_LETTER], costs[:, NO_LETTER] = gap, gap
    own = np.arange(FIRST_LETTER, size)
    costs[own, own] = 0
    return costs
