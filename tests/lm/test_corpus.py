"""Corpora against lists of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.corpus_reader import read_corpus
from phrasebeam.lm.text.vocabulary import Vocabulary

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

WORDS = st.lists(st.sampled_from(["a", "bb", "\u00e9t\u00e9", "x\u00a0y", "\u3000", "\x85", "\u2028"]), max_size=6)


@given(st.lists(WORDS, max_size=8), st.sampled_from([" ", "  ", "\t", " \r\v\f "]))
def test_agrees_with_lists(tmp_path_factory, sentences, space):
    path = tmp_path_factory.mktemp("corpus") / "text"
    path.write_bytes("".join(f"{space}{space.join(words)}{space}\n" for words in sentences).encode())
    vocabulary = Vocabulary(["bb"])
    corpus = read_corpus(path, vocabulary)
    assert [[vocabulary.words[i] for i in corpus.sentence(k)] for k in range(len(sentences))] == sentences
    assert corpus.offsets.tolist() == [sum(map(len, sentences[:k])) for k in range(len(sentences) + 1)]
    assert (corpus.offsets.dtype, corpus.tokens.dtype, corpus.tokens.size) == ("int64", "int32", corpus.offsets[-1])
    assert vocabulary.words[0] == "bb"


@pytest.mark.parametrize(
    ("line", "words"),
    [("", []), (" \t ", []), ("a", ["a"]), (" a  b\u00a0c\r\n", ["a", "b\u00a0c"]), ("a\x1cb", ["a\x1cb"])],
)
def test_only_ascii_white_space_separates(line, words):
    assert split(line) == words


def test_bad_utf8_is_named_with_its_line(tmp_path):
    (tmp_path / "text").write_bytes(b"a\n\xff\n")
    with pytest.raises(FormatError, match="text:2: byte 0xff at column 1"):
        read_corpus(tmp_path / "text", Vocabulary())
