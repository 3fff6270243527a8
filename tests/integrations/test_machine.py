"""PhrasebeamModel by the types of sil-machine, and by its own code that suggests while somebody types."""

import pytest
from machine.translation import (
    InteractiveTranslationEngine,
    InteractiveTranslatorFactory,
    PhraseTranslationSuggester,
    TranslationModel,
    TranslationSources,
    WordGraph,
)
from machine.translation.unigram_truecaser import UnigramTruecaser

from phrasebeam import Decoder, Request
from phrasebeam.base.errors import ConfigError
from phrasebeam.integrations.machine import PhrasebeamModel

pytestmark = pytest.mark.needs_jit
LINES = ["der hund schläft .", "die frau sieht den zwinger .", "", "x der mann schläft"]


@pytest.fixture
def model(directory):
    with PhrasebeamModel(directory) as model:
        yield model


@pytest.fixture
def decoder(model):
    return model.decoder


def test_it_is_what_users_of_the_interfaces_take(model):
    assert isinstance(model, InteractiveTranslationEngine) and isinstance(model, TranslationModel)


@pytest.mark.parametrize("line", LINES)
def test_a_translation_has_what_the_decoder_says(model, decoder, line):
    found = model.translate(line)
    expected = decoder.answer(line, Request(confidence=decoder.confidence)).translation
    assert (found.translation, found.source_tokens) == (expected.text, line.split())
    assert found.target_tokens == expected.text.split()
    assert found.confidences == list(expected.confidences)
    links = {(i, j) for i in range(found.alignment.row_count) for j in found.alignment.get_row_aligned_indices(i)}
    assert links == set(expected.alignment)
    spans = [(one.source_segment_range.start, one.source_segment_range.end) for one in found.phrases]
    assert spans == [one.source_span for one in expected.phrases]
    assert [one.target_segment_cut for one in found.phrases] == [one.target_span[1] for one in expected.phrases]
    for one in expected.phrases:
        source = TranslationSources.NONE if one.is_copied else TranslationSources.SMT
        assert found.sources[slice(*one.target_span)] == [source] * len(one.target.split())
    assert found.sequence_confidence <= max(found.confidences, default=-1.0)


def test_lists_batches_and_tokens(model, decoder):
    for n in (1, 4):
        lists = model.translate_n_batch(n, LINES)
        expected = [[one.text for one in decoder.nbest(line, n, distinct=True)] for line in LINES]
        assert [[one.translation for one in found] for found in lists] == expected
        assert [one.translation for one in model.translate_n(n, LINES[0].split())] == expected[0]
    assert [one.translation for one in model.translate_batch(LINES)] == [decoder.translate(line).text for line in LINES]


@pytest.mark.parametrize("most", [1, 40, 10**6])
def test_the_best_way_through_a_word_graph_is_the_translation(model, decoder, most):
    model.most_words = most
    graph = model.get_word_graph(LINES[1])
    path = list(graph.get_best_path_from_state_to_final_state(0))
    best = decoder.translate(LINES[1])
    assert [token for arc in path for token in arc.target_tokens] == best.text.split()
    assert sum(arc.score for arc in path) == pytest.approx(best.score)
    assert graph.compute_rest_scores()[0] == pytest.approx(best.score)
    size, n_best = sum(len(arc.target_tokens) for arc in graph.arcs), len(best.text.split())
    assert n_best <= size <= max(most, n_best)
    assert size > most / 2 or most > 1000
    expected = model.translate(LINES[1])
    assert [value for arc in path for value in arc.confidences] == pytest.approx(expected.confidences)
    assert [source for arc in path for source in arc.sources] == expected.sources
    for arc in graph.arcs:
        sizes = arc.alignment.row_count, arc.alignment.column_count
        assert sizes == (len(arc.source_segment_range), len(arc.target_tokens))
    assert model.get_word_graph("").is_empty and isinstance(model.get_word_graph(""), WordGraph)


def suggestions(model, segment, prefix):
    """What sil-machine suggests behind a prefix, and the translator of the segment."""
    factory = InteractiveTranslatorFactory(model, model.target_tokenizer, model.target_detokenizer)
    translator = factory.create(segment)
    translator.set_prefix(prefix)
    found = PhraseTranslationSuggester(confidence_threshold=0.2).get_suggestions_from_translator(1, translator)
    return [list(one.target_words) for one in found], translator


def test_a_segment_that_is_approved_is_suggested(model):
    words = model.translate("der hund schläft .").target_tokens
    assert (words[0], words[-1]) == ("the", ".")
    for prefix in ("the ", f"the {words[1][0]}"):
        assert suggestions(model, "der hund schläft .", prefix)[0] == [words[1:-1]]
    before, translator = suggestions(model, "der zwinger schläft .", "the ")
    assert "kennel" not in str(before)
    translator.set_prefix("the kennel sleeps .")
    translator.approve(aligned_only=False)
    (after,), _ = suggestions(model, "die frau sieht den zwinger .", "the woman sees ")
    assert after == ["the", "kennel"]
    assert [one.source for one in model.decoder.segments] == [("der", "zwinger", "schläft", ".")]


def test_segments_are_in_the_journal(directory, tmp_path):
    journal = tmp_path / "journal"
    with PhrasebeamModel(directory, journal=journal) as model:
        model.train_segment("der zwinger schläft .", ["the", "kennel", "sleeps", "."])
        model.save()
    with pytest.raises(ConfigError, match="the model was closed"):
        model.translate("a")
    with PhrasebeamModel(directory, journal=journal) as model:
        assert "kennel" in model.translate("der zwinger schläft .").target_tokens


def test_cases_as_with_thot(directory):
    truecaser = UnigramTruecaser()
    with PhrasebeamModel(directory, lowercase=(True, True), truecaser=truecaser) as model:
        model.train_segment("Der Zwinger schläft .", "The KENNEL sleeps .")
        model.train_segment("Der Zwinger schläft .", "A KENNEL sleeps .")
        found = model.translate("DER ZWINGER schläft .")
        assert found.source_tokens == ["DER", "ZWINGER", "schläft", "."]
        assert "KENNEL" in found.target_tokens and "KENNEL" in found.translation
        graph = model.get_word_graph("der zwinger")
        assert any("KENNEL" in arc.target_tokens for arc in graph.arcs)


def test_raw_text(raw_directory):
    with PhrasebeamModel(raw_directory) as model:
        found = model.translate("Der Hund schläft.")
        assert found.translation == Decoder.load(raw_directory).translate_text("Der Hund schläft.")
        assert found.source_tokens == ["Der", "Hund", "schläft", "."]
        assert "".join(found.target_tokens) == found.translation.replace(" ", "").lower()
        model.train_segment("Der Zwinger schläft.", "The kennel sleeps.")
        (after,), translator = suggestions(model, "Die Frau sieht den Zwinger.", "The woman sees ")
        assert after == ["the", "kennel"]
        translator.set_prefix("The woman sees the kennel.")
        translator.approve(aligned_only=True)
        assert model.decoder.segments[-1].translation == ("the", "woman", "sees", "the", "kennel", ".")
        assert model.target_detokenizer.detokenize(["the", "dog", "sleeps", "."]) == "The dog sleeps."
