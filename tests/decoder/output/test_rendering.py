"""Fields of n-best lists, which words of bars must not break."""

from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.output.rendering import escape_bars, restore_bars

PIECES = st.lists(st.sampled_from(["|", "||", "&", "&#124;", "&amp;", "#124;", "amp;", " ", "a"]), max_size=12)


@given(PIECES.map("".join))
def test_escaped_bars_set_nothing_off_and_are_restored(text):
    assert "|||" not in escape_bars(text)
    assert restore_bars(escape_bars(text)) == text


def test_bars_are_written_as_moses_writes_them():
    assert escape_bars("a ||| b || | c") == "a &#124;&#124;&#124; b || | c"
    assert escape_bars("x&#124;|&amp;#124;") == "x&amp;#124;&#124;&amp;amp;#124;"
    assert escape_bars("&#124; &#124;&#124; & |") == "&#124; &#124;&#124; & |"  # of Moses' tokenizer: left as it is
