"""Lines of n-best lists, sound and nasty, against a reader of Python's methods alone; fingerprints that are sorted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.lm.text import text_vocabulary
from phrasebeam.training.nbest import nbest_reader, nbest_store
from phrasebeam.training.nbest.nbest_reader import NbestReader
from phrasebeam.training.nbest.nbest_store import NbestStore
from tests.naive import nbest as naive
from tests.training.nbest.test_moses_nbest import entries
from tests.training.nbest.test_nbest_store import batch

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

TOKENS = ["a=", "b:", "c=1", "a=b=-3", "=", ":", "=1", "0.5", "1e2", "1_0", "nan", "1e31", "\u00e9=", "\u0663", "-7"]
FEATURES = st.lists(st.sampled_from(TOKENS), max_size=5).map(" ".join)
SOUND = st.lists(st.sampled_from(["a= 1 2", "b: 3", "c=1", "d= 1_0", "e=", "\u00e9=5", "a=b= .5"]), unique=True)
LINES = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 0, 1, 1, 2, -1]),
        st.sampled_from(["x", "", "\u00a0 y", "a|b"]),
        st.one_of(SOUND.map(" ".join), SOUND.map("\t".join), FEATURES),
        st.sampled_from(["1", "-2.5", "1_0", "1e5", "", "1 2", "inf"]),
        st.sampled_from(["", " ||| 1-1", "|||a|||b|||"]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300)
@given(LINES, st.sampled_from([1, 3, 100]), st.sampled_from(["\n", "\r\n"]), st.sampled_from([0, 1000]))
def test_same_as_line_by_line(tmp_path_factory, lines, at_once, end, first_words):
    sentence, text = 0, ""
    for step, *fields, more in lines:
        text += " ||| ".join([str(sentence), *fields]) + more + end
        sentence += step
    path = tmp_path_factory.mktemp("nbest") / "list"
    path.write_bytes(text.encode())
    expected, message = naive.read_nbest(text)
    pieces = text.encode().splitlines(keepends=True)
    with pytest.MonkeyPatch.context() as patch:
        blocks = [b"".join(pieces[i : i + at_once]) for i in range(0, len(pieces), at_once)]
        patch.setattr(nbest_reader, "read_blocks", lambda _: iter(blocks))
        patch.setattr(text_vocabulary, "FIRST_WORDS", first_words)
        if message is None:
            assert entries(path) == expected
            pieces = [sorted(set(piece.sentence.tolist())) for piece in NbestReader(path)]
            assert [number for piece in pieces for number in piece] == sorted({entry[0] for entry in expected})
            return
        with pytest.raises(FormatError) as caught:
            entries(path)
    assert f"list:{message}" in str(caught.value)


def test_fingerprints_are_found_among_recent_and_sorted_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(nbest_store, "MOST_RECENT", 3)
    store = NbestStore(tmp_path, 3, 2, 2)
    assert [store.add(batch([(0, f"{i % 7}", (i % 7, 1.0), {})])) for i in range(30)] == [1] * 7 + [0] * 23
