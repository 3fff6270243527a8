"""Files of word classes: lines of two fields, or of three as `cluster` writes them; what is wrong is named."""

import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.lm.text.word_classes import read_word_classes, write_paths


@pytest.mark.parametrize("text", ["a C1\nb C2\n", "a\tC1\r\nb\tC2", "C1\ta\t7\nC2\tb\t3\n", "C1 a 7\nb C2\n"])
def test_two_or_three_fields(tmp_path, text):
    (tmp_path / "classes").write_text(text)
    assert read_word_classes(tmp_path / "classes") == {"a": "C1", "b": "C2"}


def test_what_is_written_is_read(tmp_path):
    write_paths(tmp_path / "paths", [("01", "a", 1), ("00", "b\u00a0c", 2)])
    assert read_word_classes(tmp_path / "paths") == {"a": "01", "b\u00a0c": "00"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a C1\nb\n", ":2: 1 fields, expected 'word class', or 'class word count' as `cluster` writes it; correct"),
        ("a C1\n\n", ":2: 0 fields"),
        ("01 a 3 4\n", ":1: 4 fields"),
        ("a </s>\n", ":1: the class </s>, which is reserved in language models"),
        ("<s>\ta\t1\n", ":1: the class <s>"),
        ("a 1\na 2\n", ":2: 'a' has the classes '1' and '2'"),
        ("", ": empty; expected 'word class', or"),
    ],
)
def test_what_is_no_class(tmp_path, text, message):
    (tmp_path / "classes").write_text(text)
    with pytest.raises(FormatError) as error:
        read_word_classes(tmp_path / "classes")
    assert f"classes{message}" in str(error.value)
