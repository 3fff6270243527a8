"""What segments count: phrase pairs that no link leaves, n-grams, both fading; and what that makes of scores."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.confirmed_text import IdPair
from phrasebeam.decoder.adaptation.dynamic_counts import DynamicCounts
from phrasebeam.decoder.adaptation.dynamic_language_model import DynamicLanguageModel, compensated
from phrasebeam.decoder.adaptation.dynamic_scores import fill_orientations
from phrasebeam.decoder.features.reordering import SMOOTHING
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.tables.language_models import TargetModel
from phrasebeam.decoder.tables.phrase_table import phrase_hash
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.language_model import LanguageModel
from tests.naive.adaptation import consistent_pairs, faded, witten_bell

pytestmark = pytest.mark.kernels
WORDS = st.lists(st.integers(0, 2), min_size=1, max_size=5)
DESCRIPTION = SimpleNamespace(max_source_phrase_length=3, max_target_phrase_length=2, reordering=None)


@st.composite
def pairs_of_sentences(draw):
    source, target = draw(WORDS), draw(WORDS)
    point = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return source, target, tuple(sorted(draw(st.sets(point))))


def now(table, number, time, decay):
    return table.values[number] * decay ** (time - table.times[number])


@given(st.lists(pairs_of_sentences(), min_size=1, max_size=5), st.sampled_from([1.0, 0.9, 0.5]), st.integers(0, 5))
def test_counts_are_those_of_a_naive_twin(segments, decay, n_first):
    """However many of them are added at once."""
    counts, times, links = DynamicCounts(AdaptationSettings(decay=decay, weight=1), DESCRIPTION), {}, {}
    for time, (source, target, points) in enumerate(segments, 1):
        for pair in consistent_pairs(source, target, points, 3, 2):
            times.setdefault(pair, []).append(time)
        for s, t in points:
            links.setdefault((source[s], target[t]), []).append(time)
    ids = [IdPair(np.array(f, np.int32), np.array(e, np.int32), points) for f, e, points in segments]
    counts.add(ids[:n_first])
    counts.add(ids[n_first:])
    tables, last = counts.tables, len(segments)
    assert tables.pairs.size[0] == len(times)
    for number in range(len(times)):
        segment, i, j, lengths = tables.entries.place[number].tolist()
        source, target, _ = segments[segment]
        f, e = tuple(source[i : i + (lengths & 255)]), tuple(target[j : j + (lengths >> 8 & 255)])
        expected = faded(times[f, e], last, decay)
        assert segment + 1 == times[f, e][-1] and now(tables.pairs, number, last, decay) == pytest.approx(expected)
        orientations = tables.entries.orientations[number] * decay ** (last - tables.pairs.times[number])
        assert orientations[:4].sum() == pytest.approx(expected) and orientations[4:].sum() == pytest.approx(expected)
    for side, table in enumerate((tables.sources, tables.targets)):
        phrases = sorted({pair[side] for pair in times})
        numbers = [number_in(table, phrase_hash(np.array(phrase, np.int32), 0, len(phrase))) for phrase in phrases]
        assert table.size[0] == len(phrases)
        for phrase, number in zip(phrases, numbers):
            every = [time for pair, when in times.items() if pair[side] == phrase for time in when]
            assert now(table, number, last, decay) == pytest.approx(faded(every, last, decay))
    assert tables.links.size[0] == len(links) + len({s for s, _ in links}) + len({t for _, t in links})
    assert counts.n_bytes > 0


def number_in(table, key):
    return table.keys[: table.size[0]].tolist().index(key)


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    path = tmp_path_factory.mktemp("lm") / "text"
    path.write_text("a b\nb a a\na\nc a b a\nb b\n", encoding="utf-8")
    return TargetModel(LanguageModel.from_ngrams(estimate(path, 2)))


TEXTS = st.lists(st.lists(st.sampled_from("abx"), min_size=1, max_size=4), min_size=1, max_size=4)


@settings(max_examples=30)
@given(TEXTS, st.sampled_from([1.0, 0.8]), st.sampled_from([0.1, 0.5]))
def test_the_language_model_interpolates(static, segments, decay, share):
    given = AdaptationSettings(decay=decay, weight=1, order=3, interpolation=share, most_ratio=50)
    model = DynamicLanguageModel(static, given)
    for words in segments:
        model.add(words)
    found, naive = model.model().model, witten_bell(segments, decay, 3)
    for ngram, probability in naive.items():
        begins = ngram[0] == "<s>"
        context = [word for word in ngram[:-1] if word != "<s>"]
        last = [ngram[-1]] if ngram[-1] != "</s>" else []
        before = static.model.score([*context, *last], begin=begins, end=not last)
        before -= static.model.score(context, begin=begins, end=False)
        ratio = min((1 - share + share * probability / 10**before) / 50, 1.0)
        text = [*context, *last]
        score = found.full_scores(text, begin=begins, end=not last)[-1][0]
        assert score == pytest.approx(math.log10(ratio), abs=1e-4)
    unseen = found.full_scores(["zzz"], begin=False, end=False)[0][0]
    assert unseen == pytest.approx(math.log10((1 - share) / 50), abs=1e-5)


def test_the_word_penalty_makes_up_for_the_constant():
    weights = Weights(language_model=[0.5], translation=[0.2] * 4, word_penalty=-1.0)
    found = compensated(weights, AdaptationSettings(most_ratio=100))
    assert found.language_model == [0.5, 0.5]
    # A word that confirmed text does not have scores 0.5 ln((1 - a) / 100) + 0.5 ln 100 more, without the constant 0
    assert found.word_penalty == pytest.approx(-1.0 - 0.5 * math.log(100))


@given(st.lists(st.floats(0, 9), min_size=8, max_size=8), st.sampled_from([[0, 1, 2, 2], [3, 4, 5, 6], [0, 1, 1, 0]]))
def test_orientations_are_smoothed_shares(counts, columns):
    for direction in range(2):
        scores = np.full(8, 7.0, np.float32)
        fill_orientations(np.array(columns, np.int64), np.array(counts), np.int64(direction), scores)
        given = counts[4 * direction :][:4]
        for column in range(8):
            same = [count for count, of in zip(given, columns) if of == column]
            expected = (sum(same) + SMOOTHING) / (sum(given) + SMOOTHING * len(set(columns)))
            assert scores[column] == pytest.approx(math.log(expected) if same else 7.0, abs=1e-5)
