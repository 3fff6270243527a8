"""Word confidences against the enumeration of all derivations."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.input.lattice_formats import read_plf
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.output.word_confidence import (
    ConfidenceSettings,
    LinkedPhrases,
    Links,
    WordPosteriors,
    option_posteriors,
)
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.decoder.output.test_lattice import SEEDS, graphs, sentence
from tests.naive.lattice import paths
from tests.naive.word_confidence import confidences, has_word, probabilities

pytestmark = pytest.mark.kernels

ALL = 10**5
SCALES = st.sampled_from([0.0, 0.3, 1.0, 20.0])


class FewOptions:
    """Four options, of which nothing but their number counts."""

    pair = np.zeros(4, np.int64)


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    directory = tmp_path_factory.mktemp("toys")
    return [random_toy(directory / str(seed), seed, coarse=bool(seed % 2)).directory for seed in range(6)]


@given(graphs(), st.lists(st.integers(0, 3), min_size=100, max_size=100), SCALES)
def test_posteriors_of_options(problem, chosen, scale):
    graph, n_words, edges, added = problem
    graph.edge_option[: len(edges)] = chosen[: len(edges)]
    found = list(paths(edges, 0, int(graph.stack_first[n_words])))
    shares = probabilities([sum(added[edge] for edge in path) for path in found], scale)
    expected = np.zeros(4)
    for share, path in zip(shares, found):
        for edge in path:
            expected[chosen[edge]] += share
    assert option_posteriors(graph, n_words, FewOptions, scale) == pytest.approx(expected, abs=1e-12)


@st.composite
def linked_phrases(draw):
    """(begin, end, words, points) of a phrase of the sentence 0 1 2 3 4."""
    begin = draw(st.integers(0, 4))
    size, words = draw(st.integers(1, 5 - begin)), draw(st.lists(st.integers(0, 3), max_size=4))
    points = draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, 3)), max_size=5))
    return begin, begin + size, words, {(i, j) for i, j in points if j < len(words)}


def packed(phrases):
    """LinkedPhrases of those, and words of no phrase between."""
    first = np.cumsum([0, *(len(words) for _, _, words, _ in phrases)])
    ends = np.cumsum([0, *(len(points) for *_, points in phrases)])
    points = np.array([point for *_, points in phrases for point in sorted(points)], np.uint8).reshape(-1, 2)
    return LinkedPhrases(
        np.array([begin for begin, *_ in phrases], np.int32),
        np.array([end for _, end, *_ in phrases], np.int32),
        first,
        np.array([word for _, _, words, _ in phrases for word in words], np.int32),
        Links(ends[:-1], ends[1:], points),
    )


@given(st.lists(linked_phrases(), min_size=1, max_size=6), st.data())
def test_a_word_counts_where_it_is_linked(phrases, data):
    posterior = data.draw(st.lists(st.integers(1, 9), min_size=len(phrases), max_size=len(phrases)))
    found = WordPosteriors.of(packed(phrases), np.array(posterior) / 100)
    expected = {}
    for position in range(5):
        for word in range(4):
            total = sum(share for share, one in zip(posterior, phrases) if has_word(one, position, word))
            if total:
                expected[position * found.n_known + word] = total / 100
    assert dict(zip(found.key.tolist(), found.posterior.tolist())) == pytest.approx(expected)


def derivation_of(translation, has_links=True):
    """The phrases of a translation as naive code has them."""
    return [
        (
            *phrase.source_span,
            phrase.target.split(),
            {(i - phrase.source_span[0], j - phrase.target_span[0]) for i, j in phrase.alignment if has_links},
        )
        for phrase in translation.phrases
    ]


def check(decoder, line, scale, risk=None, has_links=True):
    """All derivations have confidences as counted by hand, and each way to a translation has the same."""
    request = Request(n=ALL, confidence=ConfidenceSettings(scale=scale), mbr=risk)
    answer = decoder.answer(line, request)
    derivations = [derivation_of(one, has_links) for one in answer.nbest]
    scores = [one.score for one in answer.nbest]
    for one, derivation in zip(answer.nbest, derivations):
        assert one.confidences == pytest.approx(confidences(derivation, derivations, scores, scale), abs=1e-9)
        assert len(one.confidences) == len(one.text.split()) and max(one.confidences, default=0) <= 1
    alone = decoder.answer(line, Request(confidence=ConfidenceSettings(scale=scale), mbr=risk)).translation
    assert alone == answer.translation
    assert risk or alone == answer.nbest[0]


@given(st.integers(0, 5), SEEDS, st.sampled_from([1, 3, 6]), st.sampled_from(["stack", "cube"]), SCALES, st.booleans())
@settings(max_examples=60)
def test_confidences_of_translations(toys, toy, seed, stack, algorithm, scale, is_risk):
    decoder = Decoder.load(toys[toy], SearchSettings(stack=stack, algorithm=algorithm))
    check(decoder, sentence(seed, 5), scale, MbrSettings(size=5) if is_risk else None)


@given(st.integers(0, 5), SEEDS, SCALES)
@settings(max_examples=20)
def test_confidences_of_what_was_learned_and_of_terms(toys, toy, seed, scale):
    decoder, rng = AdaptedDecoder.load(toys[toy], SearchSettings(stack=4)), random.Random(seed)
    for _ in range(2):
        decoder.confirm(sentence(rng.random(), 4), " ".join(rng.choices("stuvwn", k=rng.randint(1, 4))))
    check(decoder, sentence(seed, 5), scale)
    terms = (Term(0, 1, ("new", "s")),)
    check(decoder, Input(tuple(sentence(seed, 4).split()), terms=terms, policy="inclusive"), scale)


@given(st.integers(0, 5), SCALES)
@settings(max_examples=10)
def test_words_of_lattices_count_at_all_nodes_of_their_phrases(toys, toy, scale):
    plf = "((('a',0.7,1),('b',0.3,2),),(('x',0.6,1),('c',0.4,1),),(('d',1.0,1),),)"
    decoder = Decoder.load(toys[toy], SearchSettings(stack=4)).with_weights(input_score=[0.5])
    check(decoder, read_plf(plf), scale, has_links=False)


def test_without_the_request_there_are_none(toys):
    answer = Decoder.load(toys[0]).answer("a b x", Request(n=2))
    assert answer.translation.confidences == () and answer.nbest[0].confidences == ()


def test_confidences_are_pickled_and_compared(toys):
    decoder, request = Decoder.load(toys[0]), Request(confidence=ConfidenceSettings())
    found = decoder.answer("a x b", request).translation
    assert pickle.loads(pickle.dumps(found)) == found
    assert found != decoder.translate("a x b") and decoder.answer("", request).translation.confidences == ()
    typed = decoder.answer(Input((), prefix=decoder.tokenization.prefix("s t")), request).translation
    assert (typed.text, typed.confidences) == ("s t", (1.0, 1.0))


def test_damaged_offsets_of_alignments_are_told(toys):
    decoder = Decoder.load(toys[0])
    offsets = np.array(decoder.model.tables.phrases.alignment_offsets)
    offsets[1:] = 10**9
    broken = decoder.model.tables.phrases._replace(alignment_offsets=offsets)
    with pytest.raises(ModelError, match=r"alignment_offsets\.npy: .* expected ascending offsets"):
        Links.of(np.arange(2), broken, no_pairs(decoder))


def no_pairs(decoder):
    """SyntheticPairs of a sentence without any."""
    with decoder.searcher.prepare(Input(("a",))) as search:
        return search.source.sentence.synthetic
