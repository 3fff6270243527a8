"""Words that share their beginning, against a look at each word of the vocabulary."""

from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.unknown_words.related_pairs import VocabularyIndex
from tests.naive import unknown_words as naive

WORDS = st.builds(str.__add__, st.sampled_from(["", "haus", "Haus", "hausb", "häus"]), st.text("abN1-", max_size=5))


@given(WORDS, st.sets(WORDS, max_size=30))
def test_related_words_are_those_of_a_look_at_each(word, vocabulary):
    assert VocabularyIndex(vocabulary).related(word) == naive.related(word, vocabulary)


def test_inflections_are_related_and_numbers_are_not():
    index = VocabularyIndex(["Spielen", "spielt", "spiel", "spielplatz", "10000", "spie"])
    assert index.related("spielte") == ["spielt", "spiel", "Spielen"]
    assert index.related("10001") == []
    assert index.related("Spie") == ["spie", "spiel", "spielt"]
