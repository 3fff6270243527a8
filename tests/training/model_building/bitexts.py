"""Small aligned bitexts for tests: as lists (what the naive twins take) and as arrays."""

import numpy as np
from hypothesis import strategies as st

from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.word_alignment.alignment_points import Alignments

MAX_WORDS = 7


@st.composite
def sentence_pairs(draw):
    source = draw(st.lists(st.integers(0, 2), max_size=MAX_WORDS))
    target = draw(st.lists(st.integers(0, 2), max_size=MAX_WORDS))
    if not source or not target:
        return source, target, set()
    points = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return source, target, draw(st.sets(points, max_size=8))


@st.composite
def permutations(draw):
    """Words linked one to one in any order: many blocks, far from each other."""
    order = draw(st.permutations(range(draw(st.integers(2, MAX_WORDS)))))
    words = [draw(st.integers(0, 2)) for _ in order]
    return words, words, set(enumerate(order))


bitexts = st.lists(sentence_pairs() | permutations(), max_size=4)


def realigned(bitext, seed):
    """The sentence pairs with other links: half of their own, and as many at random."""
    rng = np.random.default_rng(seed)

    def links_of(source, target, links):
        if not source or not target:
            return set()
        own = {point for point in sorted(links) if rng.random() < 0.5}
        return own | {(int(rng.integers(len(source))), int(rng.integers(len(target)))) for _ in range(len(links) // 2)}

    return [(source, target, links_of(source, target, links)) for source, target, links in bitext]


HARD = {
    "nothing": [],
    "empty sentences": [([], [], set()), ([1], [], set()), ([], [2], set()), ([1], [2], {(0, 0)})],
    "no links": [([0, 1, 2], [0, 1], set())],
    "all words linked to one": [([0, 1, 2, 3], [5], {(0, 0), (1, 0), (2, 0), (3, 0)})],
    "everything linked": [([0, 1], [0, 1, 2], {(s, t) for s in range(2) for t in range(3)})],
    "one word each": [([0], [0], {(0, 0)})] * 3,
    "the last source word comes first": [([0, 1, 2, 3], [0, 1, 2, 3], {(3, 0), (0, 1), (1, 2), (2, 3)})],
    "linked far on both sides of a phrase": [
        ([0, 1, 2, 3, 4], [0, 1, 2, 3], {(0, 0), (4, 0), (2, 1), (1, 2), (3, 3)}),
    ],
    "linked on both sides of a phrase": [([0, 1, 2, 3, 4], [0, 1], {(1, 0), (3, 0), (4, 0), (2, 1)})],
    "the less frequent alignment comes later": [
        ([0, 1], [0, 1], {(0, 0), (0, 1), (1, 1)}),
        ([0, 1], [0, 1], {(0, 0), (0, 1), (1, 1)}),
        ([0, 1], [0, 1], {(0, 1), (1, 0)}),
    ],
    "an equal number of three alignments": [
        ([0, 1], [0, 1], {(0, 0), (1, 1)}),
        ([0, 1], [0, 1], {(0, 1), (1, 0)}),
        ([0, 1], [0, 1], {(0, 0), (1, 0), (1, 1)}),
    ],
}


def corpus(sentences):
    offsets = np.cumsum([0] + [len(sentence) for sentence in sentences])
    return Corpus(offsets.astype(np.int64), np.array([w for sentence in sentences for w in sentence], np.int32))


def arrays(bitext):
    """(source, target, alignments) of a list of sentence pairs; the points in no particular order."""
    links = [sorted(pair[2], key=lambda point: (point[0] * 7 + point[1] * 3) % 5) for pair in bitext]
    offsets = np.cumsum([0] + [len(points) for points in links]).astype(np.int64)
    flat = np.array([point for points in links for point in points], np.int32).reshape(-1, 2)
    source, target = corpus([pair[0] for pair in bitext]), corpus([pair[1] for pair in bitext])
    return source, target, Alignments(offsets, flat)


def long_pair(n_words, rng):
    """A sentence pair with mostly monotone links, some crossing, some words without."""
    links = {(i, min(n_words - 1, max(0, i + int(rng.integers(-4, 5))))) for i in range(n_words) if rng.random() < 0.8}
    return rng.integers(0, 20, n_words).tolist(), rng.integers(0, 20, n_words).tolist(), links
