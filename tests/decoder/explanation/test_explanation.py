"""Explanations against simple definitions: sums, other searches, and the enumeration of all derivations."""

import json
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.explanation import forced_comparison
from phrasebeam.decoder.explanation.explainer import Explainer, ExplanationRequest, SentenceExplanation
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.input.sentence_input import Input, Prefix
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.levels import WordEdges
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.features.test_sparse_features import LEVELS, add_templates, all_vectors, random_sentence
from tests.decoder.models import REORDERINGS, SOURCE, TARGET, WORD_MSD, random_toy, toy_name
from tests.naive.search import derivations, features, next_spans, options

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 2**20)
HIERARCHICAL = Reordering(orientation="hier", kind="mslr", direction="backward", condition="fe", collapse=False)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def problem(directory, seed, reordering, longest_sentence=6):
    """A random model and a random sentence, sometimes with words that the model does not know."""
    toy = random_toy(directory / toy_name(seed, reordering), seed, 3, reordering=reordering, early=seed % 3 == 0)
    rng = random.Random(seed)
    return toy, rng.choices([*SOURCE, "x"], k=rng.randint(1, longest_sentence)), rng


def total(features):
    return sum(feature.score for feature in features)


@given(SEEDS, REORDERINGS)
@settings(max_examples=25)
def test_scores_add_up(directory, seed, reordering):
    toy, words, _ = problem(directory, seed, reordering)
    decoder = Decoder.load(toy.directory, SearchSettings(stack=5))
    explanation = Explainer(decoder).explain(words)
    translation, best = decoder.answer(words, Request(confidence=decoder.confidence)).translation, explanation.best
    assert [one for phrase in best.phrases for one in phrase.confidences] == pytest.approx(translation.confidences)
    assert (best.text, best.score) == (translation.text, pytest.approx(translation.score))
    assert total(best.features) == pytest.approx(best.score, abs=1e-6)
    assert sum(phrase.score for phrase in best.phrases) == pytest.approx(best.score, abs=1e-6)
    for phrase, expected in zip(best.phrases, translation.phrases, strict=True):
        assert {name: getattr(phrase, name) for name in expected._fields} == expected._asdict() | {
            "alignment": list(expected.alignment)
        }
        assert total(phrase.features) == pytest.approx(phrase.score, abs=1e-6)
    nbest = decoder.nbest(words, 10, distinct=True)
    assert [(one.text, one.score) for one in explanation.nbest] == [
        (one.text, pytest.approx(one.score)) for one in nbest
    ]
    for listed in explanation.nbest:
        assert total(listed.differences) == pytest.approx(best.score - listed.score, abs=1e-6)
    assert SentenceExplanation(**json.loads(explanation.model_dump_json())) == explanation


@given(SEEDS, REORDERINGS)
@settings(max_examples=25)
def test_alternatives_are_what_the_translation_would_score(directory, seed, reordering):
    toy, words, _ = problem(directory, seed, reordering)
    best = Explainer(Decoder.load(toy.directory)).explain(words).best
    chosen = [
        (
            phrase.source_span,
            next(one for one in options(toy.table, words, *phrase.source_span) if " ".join(one[0]) == phrase.target),
        )
        for phrase in best.phrases
    ]
    for number, phrase in enumerate(best.phrases):
        expected = {}
        for option in options(toy.table, words, *phrase.source_span):
            other = [*chosen[:number], (phrase.source_span, option), *chosen[number + 1 :]]
            vector = features(other, 4, toy.reordering, toy.lm, toy.order, toy.early)
            expected[" ".join(option[0])] = pytest.approx(toy.weights @ vector, abs=1e-3)
        assert {one.target: one.total for one in phrase.alternatives} == expected
        assert [one.target for one in phrase.alternatives if one.is_chosen] == [phrase.target]
        assert all(a.total >= b.total for a, b in pairwise(phrase.alternatives))


@given(SEEDS, REORDERINGS, st.integers(1, 6), st.sampled_from([0.0, 1e-2, 0.3]), st.integers(-1, 4))
@example(43516, HIERARCHICAL, 2, 0.3, 0).via("</s> raises the score of a hypothesis that was below the threshold")
@settings(max_examples=40)
def test_stacks_tell_of_all_that_was_tried(directory, seed, reordering, stack, beam, distortion_limit):
    toy, words, _ = problem(directory, seed, reordering)
    limits = SearchSettings(stack=stack, beam_threshold=beam, distortion_limit=distortion_limit)
    decoder = Decoder.load(toy.directory, limits)
    with decoder.searcher.search(Input(words)) as result:  # the spans of the nodes of the graph
        graph, all_options = result.workspace.graph, result.workspace.options
        spans = [[]]
        for node in range(1, int(graph.stack_first[len(words) + 1])):
            edge = graph.edge_first[node]
            option = graph.edge_option[edge]
            spans.append(
                [*spans[graph.edge_from[edge]], (int(all_options.begin[option]), int(all_options.end[option]))]
            )
    tried = np.zeros(len(words) + 1, int)
    for before in (one for one in spans if sum(e - b for b, e in one) < len(words)):
        for begin, end in next_spans(len(words), toy.longest, distortion_limit, before):
            tried[sum(e - b for b, e in before) + end - begin] += len(options(toy.table, words, begin, end))
    for traced in Explainer(decoder).explain(words, ExplanationRequest(stacks=100)).stacks:
        assert traced.n_tried == tried[traced.covered] == traced.n_kept + traced.n_recombined + traced.n_lost
        assert len(traced.kept) == traced.n_kept <= stack
        assert len(traced.recombined) == min(traced.n_recombined, 100)
        assert len(traced.lost) == min(traced.n_lost, 100)
        assert all(one.loss >= 0 for one in traced.recombined)
        assert traced.worst is None or traced.worst >= (traced.beam or -np.inf)
        for one in traced.lost:
            bound = {"beam": traced.beam, "stack": traced.worst}[one.reason]
            assert one.score + one.future <= bound + 1e-6
            assert one.missing == pytest.approx(bound - one.score - one.future, abs=1e-6)
        for one in traced.kept:
            assert len(one.coverage) == traced.covered


def test_cube_pruning_does_not_try_all(directory):
    toy, *_ = problem(directory, 4, None)
    decoder = Decoder.load(toy.directory, SearchSettings(algorithm="cube", pop_limit=2, beam_threshold=0))
    stacks = Explainer(decoder).explain(["a", "b", "c", "d", "a"], ExplanationRequest(stacks=100)).stacks
    assert "not tried" in {one.reason for traced in stacks for one in traced.lost}
    assert all(traced.n_kept + traced.n_recombined <= 2 for traced in stacks)


def test_the_best_derivation_is_followed_through_the_stacks(directory):
    toy, words, _ = problem(directory, 11, None)
    explanation = Explainer(Decoder.load(toy.directory)).explain(words, ExplanationRequest(stacks=100))
    marked = [one for traced in explanation.stacks for one in traced.kept if one.is_on_best]
    assert [one.source for one in marked] == [phrase.source for phrase in explanation.best.phrases]
    assert marked[-1].text == explanation.best.text
    assert [one.back for one in marked] == [0, *(one.node for one in marked[:-1])]


def test_an_empty_sentence_and_a_prefix(directory):
    toy, words, _ = problem(directory, 11, None)
    explainer = Explainer(Decoder.load(toy.directory))
    empty = explainer.explain("")
    assert (empty.best.text, empty.best.phrases, empty.stacks) == ("", [], [])
    begun = explainer.explain(Input(words, prefix=Prefix(("zz",))))
    assert begun.best.text.startswith("zz") and begun.stacks == []
    assert any(phrase.is_fallback for phrase in begun.best.phrases)


def compared(toy, words, reference, limits):
    return Explainer(Decoder.load(toy.directory, limits)).compare(words, reference)


@given(SEEDS, REORDERINGS)
@settings(max_examples=40)
def test_comparisons_against_all_derivations(directory, seed, reordering):
    toy, words, rng = problem(directory, seed, reordering, 4)
    scores, free = {}, set()
    for limit in (1, -1):
        for derivation in derivations(toy.table, words, toy.longest, limit):
            text = " ".join(word for _, option in derivation for word in option[0])
            free.add(text)
            if limit == 1:
                vector = features(derivation, 4, toy.reordering, toy.lm, toy.order, toy.early)
                scores[text] = max(scores.get(text, -np.inf), toy.weights @ vector)
    limits = SearchSettings(stack=0, beam_threshold=0, distortion_limit=1, table_limit=0)
    best = max(scores.values(), default=None)
    if best is None:
        return
    others = [" ".join(rng.choices([*TARGET, "x"], k=rng.randint(1, 4))) for _ in range(2)]
    for text in [
        *rng.sample(sorted(scores), min(3, len(scores))),
        *rng.sample(sorted(free), min(3, len(free))),
        *others,
    ]:
        comparison = compared(toy, words, text, limits)
        if text in scores:
            assert comparison.verdict in ("same", "worse", "search error")
            assert comparison.translation.score == pytest.approx(scores[text], abs=1e-3)
            assert total(comparison.differences) == pytest.approx(best - scores[text], abs=1e-3)
            assert comparison.verdict == "same" or scores[text] <= best + 1e-3
        elif text in free:
            assert comparison.verdict == "distortion limit"
            assert comparison.translation.text == text
        else:
            assert comparison.verdict == "missing pair" and comparison.translation is None
            check_missing(comparison.missing, toy, words, text.split())


def check_missing(missing, toy, words, reference):
    """What is missing, against all ways to follow the reference."""
    best = 0, 0
    spans = [(begin, end) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)]
    known = {word for span in spans for target, *_ in options(toy.table, words, *span) for word in target}

    def follow(covered, position):
        nonlocal best
        best = max(best, (position, len(covered)))
        for span in spans:
            for target, *_ in options(toy.table, words, *span):
                if not covered & set(range(*span)) and reference[position:][: len(target)] == target:
                    follow(covered | set(range(*span)), position + len(target))

    follow(frozenset(), 0)
    position, n_covered = best
    assert missing.produced.split() == reference[:position] and missing.rest.split() == reference[position:]
    assert len(missing.untranslated) == len(words) - n_covered and missing.is_exact
    assert set(missing.unknown) == set(reference) - known


def test_what_the_search_loses_and_what_the_table_limit_leaves_out(directory):
    found = set()
    for seed in range(200):
        toy, words, _ = problem(directory, seed, None)
        all_texts = {
            " ".join(word for _, option in one for word in option[0])
            for one in derivations(toy.table, words, toy.longest, 6)
        }
        narrow = SearchSettings(stack=1, table_limit=1)
        best = max((compared(toy, words, text, narrow) for text in sorted(all_texts)[:5]), key=lambda one: one.verdict)
        found.add(best.verdict)
        if best.verdict == "table limit":
            assert best.beyond_limit
            for pair in best.beyond_limit:
                source, target = pair.split(" ||| ")
                assert target in {text for text, *_ in toy.table[source]}
        lost = compared(toy, words, max(all_texts), SearchSettings(stack=1, table_limit=0))
        found.add(lost.verdict)
        if lost.verdict == "search error":
            assert total(lost.differences) < 0
        if {"table limit", "search error", "worse"} <= found:
            return
    pytest.fail(f"only {found}")


def test_weights_of_the_decoder_count(directory):
    toy, words, _ = problem(directory, 11, None)
    decoder = Decoder.load(toy.directory)
    explainer = Explainer(decoder)
    weights = decoder.model.weights.model_copy(update={"word_penalty": 3.0})
    decoder.reweigh(weights)
    comparison = explainer.compare(words, decoder.translate(words).text)
    assert comparison.verdict == "same"
    by_name = {feature.name: feature.weight for feature in comparison.translation.features}
    assert by_name["word_penalty"] == 3.0 and isinstance(weights, Weights)
    assert comparison.translation.score == pytest.approx(decoder.translate(words).score)


def test_least_risk_is_told(directory):
    toy, words, _ = problem(directory, 11, None)
    decoder = Decoder.load(toy.directory)
    assert Explainer(decoder).explain(words).least_risk is None
    decoder.request = Request(mbr=MbrSettings())
    assert Explainer(decoder).explain(words).least_risk == decoder.translate(words).text


def test_sparse_features_fire_at_their_phrases(directory):
    groups = dict.fromkeys(["rule_id", "rule_bigram", "rule_history", "rule_reordering"], True)
    templates = Templates(levels=LEVELS[:1], word_edges=WordEdges(), **groups)
    n_fired = 0
    for seed in range(12):
        toy, _, _ = problem(directory / "sparse", seed, WORD_MSD)
        maps, scales = add_templates(toy, templates, seed)
        sentence = random_sentence(seed, 2, 3)
        all_vectors(toy, templates, maps, scales, sentence, seed)
        best = Explainer(Decoder.load(toy.directory)).explain(sentence).best
        for group in scales:
            own = [one for one in best.sparse if one.group == group]
            value = next(feature for feature in best.features if feature.name == group)
            assert sum(one.score for one in own) == pytest.approx(value.score, abs=1e-5)
            for number, phrase in enumerate(best.phrases):
                added = sum(one.score for one in phrase.features if one.name == group)
                assert sum(one.score for one in own if one.phrase == number) == pytest.approx(added, abs=1e-5)
        rules = sorted(one.phrase for one in best.sparse if one.group == "rule_id")
        assert rules == list(range(len(best.phrases)) if "rule_id" in scales else [])
        n_fired += sum(one.score != 0 for one in best.sparse)
    assert n_fired


def test_what_is_too_large_is_told_unless_a_pair_is_missing_for_certain(directory, monkeypatch):
    toy, words, _ = problem(directory, 11, None)
    decoder = Decoder.load(toy.directory)
    monkeypatch.setattr(forced_comparison, "SETTINGS", ForcedDecodingSettings(prefixes="none", max_states=1))
    explainer = Explainer(decoder)
    assert explainer.compare(words, decoder.translate(words).text).verdict == "too large"
    comparison = explainer.compare(words, decoder.translate(words).text + " unheard-of")
    assert (comparison.verdict, comparison.missing.unknown) == ("missing pair", ["unheard-of"])
