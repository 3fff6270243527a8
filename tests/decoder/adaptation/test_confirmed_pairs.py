"""The pairs that confirmed segments add to a sentence have the scores of a naive twin."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.confirmed_pairs import MOST_PAIRS, ConfirmedStatistics
from phrasebeam.decoder.adaptation.confirmed_text import IdPair
from phrasebeam.decoder.adaptation.dynamic_counts import KEPT, DynamicCounts
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.features.reordering import SMOOTHING
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.lm.text.fixed_vocabulary import GrowingVocabulary
from tests.decoder.models import REORDERINGS, SOURCE, TARGET, random_toy, toy_name
from tests.naive.adaptation import adapted_probability, consistent_occurrences, ln_lexical

DECAY, NO_WORD = 0.8, 1 << 40
pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


@st.composite
def segments(draw):
    source, target = (
        draw(st.text(SOURCE + "x", min_size=1, max_size=5)),
        draw(st.text(TARGET + "y", min_size=1, max_size=5)),
    )
    point = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return list(source), list(target), sorted(draw(st.sets(point, max_size=6)))


def phrases(offsets, words):
    return [tuple(words[i:j].tolist()) for i, j in pairwise(offsets)]


def table_of(phrases_table):
    """{(f, e): (scores, c(f, e))}, {f: c(f)}, {e: c(e)} of a phrase table."""
    sources = phrases(phrases_table.source_offsets, phrases_table.source_words)
    targets = phrases(phrases_table.target_offsets, phrases_table.target_words)
    pairs, c_e = {}, dict(zip(targets, phrases_table.target_counts.tolist()))
    for f, first, last in zip(sources, phrases_table.pair_offsets, phrases_table.pair_offsets[1:]):
        for row in range(first, last):
            pairs[f, targets[row]] = phrases_table.ln_scores[row].tolist(), int(phrases_table.joint_counts[row])
    return pairs, dict(zip(sources, phrases_table.source_counts.tolist())), c_e


def counted(segments, longest):
    """Faded counts d(f, e), d(f), d(e) and of links, and the points of the last occurrence of each pair."""
    joint, d_f, d_e, links, points_of = Counter(), Counter(), Counter(), Counter(), {}
    for age, (source, target, points) in enumerate(reversed(segments)):
        for f, e, inside in consistent_occurrences(source.tolist(), target.tolist(), points, *longest):
            joint[f, e] += DECAY**age
            d_f[f] += DECAY**age
            d_e[e] += DECAY**age
            points_of.setdefault((f, e), []).append((age, inside))
        for s, t in points:
            for link in ((source[s], target[t]), (source[s], NO_WORD), (NO_WORD, target[t])):
                links[tuple(map(int, link))] += DECAY**age
    return joint, d_f, d_e, links, points_of


def links_of(static, new):
    """How often words are linked in model and segments, with NO_WORD all links of the other."""
    totals = static.words

    def link(source, target):
        if source == NO_WORD or target == NO_WORD:
            side, word = (totals.target_counts, target) if source == NO_WORD else (totals.source_counts, source)
            return new[source, target] + (side[word] if word < side.size else 0.0)
        return new[source, target] + totals.link_counts(*(np.array([one]) for one in (source, target)))[0, 0]

    return link


class Mapped:
    """A function as a dictionary."""

    def __init__(self, function):
        self.function = function

    def __getitem__(self, key):
        return self.function(*key) if isinstance(key, tuple) else self.function(key)


def lexical(f, e, points, link):
    """ln lex(f|e) and ln lex(e|f)."""
    turned = [(t, s) for s, t in points]
    return [
        ln_lexical(f, e, points, Mapped(link), Mapped(lambda t: link(NO_WORD, t))),
        ln_lexical(e, f, turned, Mapped(lambda t, s: link(s, t)), Mapped(lambda s: link(s, NO_WORD))),
    ]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 9),
    REORDERINGS,
    st.lists(segments(), min_size=1, max_size=4),
    st.text(SOURCE + "xz", min_size=1, max_size=6),
)
def test_scores_are_those_of_a_naive_twin(directory, seed, reordering, given_segments, text):
    path = directory / toy_name(seed, reordering)
    if not path.exists():
        random_toy(path, seed, 3, reordering)
    static = StaticCounts(open_model(path), 10)
    description = static.model.description
    longest = description.max_source_phrase_length, description.max_target_phrase_length
    source, target = GrowingVocabulary(static.model.source), GrowingVocabulary(static.model.target)
    ids = [(source.add(f), target.add(e), points) for f, e, points in given_segments]
    sentence = source.ids(list(text))
    counts = DynamicCounts(AdaptationSettings(decay=DECAY, weight=1), description)
    counts.add([IdPair(*segment) for segment in ids])
    found = ConfirmedStatistics(static.arrays, counts).pairs(sentence)
    known, c_f, c_e = table_of(static.model.tables.phrases)
    joint, d_f, d_e, links, points_of = counted(ids, longest)
    link = links_of(static, links)
    spans = {tuple(sentence[i:j].tolist()) for i in range(len(sentence)) for j in range(i + 1, len(sentence) + 1)}
    sources, targets = phrases(*found.sources), phrases(*found.targets)
    assert set(sources) == {f for f, _ in joint} & spans and len(set(sources)) == len(sources)
    pairs = [(sources[i], e) for i, e in zip(found.source_of, targets)]
    assert set(pairs) == {(f, e) for f, e in joint if f in spans} and len(pairs) <= MOST_PAIRS * len(sources)
    for f, factor in zip(sources, found.factors):
        assert factor == pytest.approx(c_f.get(f, 0) / (c_f.get(f, 0) + d_f[f]))
    for row, (f, e) in enumerate(pairs):
        scores, count = known.get((f, e), (None, 0))
        before_f, before_e = (math.exp(scores[0]), math.exp(scores[2])) if scores else (0.0, 0.0)
        p_e = adapted_probability(c_f.get(f, 0), before_e, joint[f, e], d_f[f])
        p_f = adapted_probability(c_e.get(e, 0), before_f, joint[f, e], d_e[e])
        begin, end = found.points[0][row : row + 2]
        points = sorted(map(tuple, found.points[1][begin:end].tolist()))
        latest = min(age for age, _ in points_of[f, e])
        assert points in [sorted(inside) for age, inside in points_of[f, e] if age == latest]
        lex = [scores[1], scores[3]] if scores else lexical(f, e, points, link)
        assert found.scores.ln_scores[row, :4].tolist() == pytest.approx([p_f, lex[0], p_e, lex[1]], abs=1e-4)
        total = count + joint[f, e], c_f.get(f, 0) + d_f[f], c_e.get(e, 0) + d_e[e]
        assert found.scores.counts[row].tolist() == [max(1, round(one)) for one in total]


def pair_of_the_model(static):
    """A segment that is the first phrase pair of the model."""
    table, model = static.model.tables.phrases, static.model
    source = [model.source.word(i) for i in phrases(table.source_offsets, table.source_words)[0]]
    target = [model.target.word(i) for i in phrases(table.target_offsets, table.target_words)[0]]
    return source, target, [(i, j) for i in range(len(source)) for j in range(len(target))]


def of_source(phrase, static, known, given_segments, vocabulary):
    """How often a source phrase has an orientation in model and segments."""
    table, longest = static.model.tables.phrases, static.model.description
    total = 0.0
    for number, one in enumerate(phrases(table.source_offsets, table.source_words)):
        if one == phrase:
            total += known[slice(*table.pair_offsets[number : number + 2]), :4].sum()
    for age, (f, e, points) in enumerate(reversed(given_segments)):
        ids = vocabulary.ids(f).tolist()
        lengths = longest.max_source_phrase_length, longest.max_target_phrase_length
        total += sum(DECAY**age for one, _, _ in consistent_occurrences(ids, e, points, *lengths) if one == phrase)
    return total


@given(st.lists(segments(), min_size=1, max_size=3), st.booleans(), st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_orientations_are_those_of_model_and_segments(directory, given_segments, is_by_source, most):
    path = directory / f"orientations-{is_by_source}"
    if not path.exists():
        random_toy(path, 3, 3, Reordering(condition="f" if is_by_source else "fe"))
    static = StaticCounts(open_model(path), 10)
    source, target = GrowingVocabulary(static.model.source), GrowingVocabulary(static.model.target)
    counts = DynamicCounts(AdaptationSettings(decay=DECAY, weight=1), static.model.description)
    given_segments = [pair_of_the_model(static), *given_segments]
    for f, e, points in given_segments:
        counts.add([IdPair(source.add(f), target.add(e), points)])
    known = np.random.default_rng(most).integers(0, most + 1, static.model.reordering_counts.shape, np.int32)
    arrays = static.arrays._replace(reordering_counts=known)
    assert arrays.is_by_source == is_by_source
    entries, times = counts.tables.entries, counts.tables.pairs.times
    for words, _, _ in given_segments:
        found = ConfirmedStatistics(arrays, counts).pairs(source.ids(words))
        for row, original in enumerate(found.scores.original.tolist()):
            expected = found.scores.orientations[row]
            if is_by_source:
                first, last = found.sources[0][found.source_of[row] :][:2]
                phrase = tuple(found.sources[1][first:last].tolist())
                assert expected[:4].sum() == pytest.approx(
                    of_source(phrase, static, known, given_segments, source), abs=1e-4
                )
            else:
                new = expected - (known[original] if original >= 0 else 0)
                fading = DECAY ** (counts.time - times[: counts.tables.pairs.size[0]])
                every = entries.orientations[: fading.size] * fading[:, None]
                assert any(np.allclose(new, one, atol=1e-5) for one in every)
            if original >= 0 and not known[original].any():
                assert found.scores.ln_reordering[row].tolist() == arrays.ln_reordering[original].tolist()
                continue
            for column, kinds in enumerate(([0], [1], [2, 3], [4], [5], [6, 7])):
                total = expected[:4].sum() if column < 3 else expected[4:].sum()
                share = (expected[kinds].sum() + SMOOTHING) / (total + 3 * SMOOTHING)
                assert found.scores.ln_reordering[row, column] == pytest.approx(math.log(share), abs=1e-5)


def test_the_list_of_a_frequent_phrase_stays_short(directory):
    """The most frequent pairs of a phrase with hundreds of translations are found as if all were looked at."""
    path = directory / "lists"
    random_toy(path, 3, 3)
    static, rng = StaticCounts(open_model(path), 10), np.random.default_rng(1)
    source, target = GrowingVocabulary(static.model.source), GrowingVocabulary(static.model.target)
    counts, words = DynamicCounts(AdaptationSettings(decay=0.95, weight=1), static.model.description), list[str]()
    for _ in range(400):
        word = rng.choice(words) if words and rng.random() < 0.5 else f"new{len(words)}"
        words.append(word)
        counts.add([IdPair(source.add(["x"]), target.add([word]), ((0, 0),))])
    now = Counter()
    for age, word in enumerate(reversed(words)):
        now[word] += 0.95**age
    first = {word: i for i, word in reversed(list(enumerate(words)))}
    best = sorted(now, key=lambda word: (-now[word], first[word]))[:MOST_PAIRS]
    found = ConfirmedStatistics(static.arrays, counts).pairs(source.ids(["x"]))
    assert [target.word(e) for (e,) in phrases(*found.targets)] == best
    assert counts.tables.n_listed.max() <= 2 * KEPT < len(now)
