"""Vocabularies against a list without repetitions."""

from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.lm.text.vocabulary import Vocabulary

WORD = st.text(st.characters(blacklist_characters=" \t\r\n\v\f", blacklist_categories=["Cs"]), min_size=1)


@given(st.lists(WORD), st.lists(WORD))
def test_ids_are_places_in_the_list(words, others):
    vocabulary, expected = Vocabulary(words), list(dict.fromkeys(words))
    assert (vocabulary.words, len(vocabulary)) == (expected, len(expected))
    ids = vocabulary.ids([*words, *others], missing=-5)
    assert ids.tolist() == [expected.index(word) if word in expected else -5 for word in [*words, *others]]
    added = vocabulary.add_all(others)
    assert [vocabulary.words[i] for i in added] == others
    assert (ids.dtype, added.dtype) == ("int32", "int32")
