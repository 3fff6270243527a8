"""The most similar sentence against comparing with all of them, and the pieces of a confirmed translation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.input.sentence_input import Input, Prefix, Term
from phrasebeam.decoder.translation_memory import similar_segments
from phrasebeam.decoder.translation_memory.matched_terms import with_matched_terms
from phrasebeam.decoder.translation_memory.segment import Segment
from phrasebeam.decoder.translation_memory.similar_segments import SegmentMatch, SimilarSegments

ROUNDING = 1e-9
SENTENCE = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(tuple)


def distance(a, b):
    """The Levenshtein distance by its definition."""
    if not a or not b:
        return len(a) + len(b)
    changed = distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(changed, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)


def add(memory, number, source):
    memory.add(Segment(number, tuple(source), ("translation",), ()))


@given(st.lists(SENTENCE, max_size=6), st.sets(st.integers(0, 5)), SENTENCE, st.sampled_from([0.2, 0.5, 0.75, 1.0]))
def test_the_most_similar_sentence_is_found(sentences, removed, words, least):
    memory, kept = SimilarSegments(), {}
    for key, sentence in enumerate(sentences):
        add(memory, key, sentence)
        kept[key] = sentence
    for key in removed & kept.keys():
        memory.remove(key)
        del kept[key]
    rated = {key: 1 - distance(words, one) / max(len(words), len(one)) for key, one in kept.items()}
    found = memory.best(words, least)
    if found is None:
        assert all(value < least + ROUNDING for value in rated.values())
        return
    key = found.segment.number
    assert found.similarity > least - ROUNDING
    assert found.similarity == pytest.approx(max(rated.values())) == pytest.approx(rated[key])
    assert key == max(other for other, value in rated.items() if value == pytest.approx(found.similarity))
    for begin, first, length in found.shared:
        assert words[begin : begin + length] == kept[key][first : first + length] and length > 0
    n_shared = sum(length for _, _, length in found.shared)
    assert distance(words, kept[key]) >= max(len(words), len(kept[key])) - n_shared


def test_words_of_many_sentences_find_none(monkeypatch):
    monkeypatch.setattr(similar_segments, "MOST_SENTENCES", 2)
    memory = SimilarSegments()
    for key, text in enumerate(["a b c", "a b d", "a e f"]):
        add(memory, key, text.split())
    assert memory.best(["a", "x"], 0.1) is None
    assert memory.best(["a", "b", "x"], 0.1).segment.number == 1
    assert memory.best(["a", "e", "f"], 0.1).similarity == 1


SEGMENT = Segment(
    1,
    ("the", "red", "house", "is", "old"),
    ("la", "casa", "roja", ",", "es", "vieja"),
    ((0, 0), (1, 2), (2, 1), (3, 4), (4, 5)),
)


def terms(text, *shared, similarity=0.8, **more):
    given = Input(text, **more)
    found = with_matched_terms(given, SegmentMatch(SEGMENT, similarity, shared), 0.5)
    return (
        {one.is_optional for one in found.terms},
        [(one.begin, one.end, " ".join(one.target), one.alignment) for one in found.terms],
        found,
    )


def test_pieces_are_the_longest_phrase_pairs():
    optional, found, given = terms("the red house was old", (0, 0, 3), (4, 4, 1))
    assert optional == {True} and {one.probability for one in given.terms} == {0.5}
    assert found == [
        (0, 3, "la casa roja", ((0, 0), (1, 2), (2, 1))),
        (0, 3, "la casa roja ,", ((0, 0), (1, 2), (2, 1))),
        (4, 5, "vieja", ((0, 0),)),
    ]


def test_a_piece_whose_translation_has_others_within_is_divided():
    _, found, _ = terms("big the red", (1, 0, 2))  # "casa", of "house", stands between "la" and "roja"
    assert found == [(1, 2, "la", ((0, 0),)), (2, 3, "roja", ((0, 0),)), (2, 3, "roja ,", ((0, 0),))]


def test_an_exact_match_is_the_translation():
    optional, found, given = terms(" ".join(SEGMENT.source), (0, 0, 5), similarity=1.0)
    assert (given.policy, optional, found) == (
        "exclusive",
        {False},
        [(0, 5, "la casa roja , es vieja", SEGMENT.alignment)],
    )
    optional, _, _ = terms(" ".join(SEGMENT.source), (0, 0, 5), similarity=1.0, prefix=Prefix(("una",)))
    assert optional == {True}


def test_terms_of_the_sentence_stay_alone():
    own = Term(0, 1, ("el",))
    assert terms("the red house", (0, 0, 3), terms=(own,))[2].terms == (own,)
