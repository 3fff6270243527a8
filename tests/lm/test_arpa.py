"""ARPA files: what is read, what is refused and how, and that what is written reads back."""

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.lm import arpa
from phrasebeam.lm.arpa import read_arpa, write_arpa
from phrasebeam.lm.ngrams import NgramModel, NgramOrder
from phrasebeam.lm.text.vocabulary import Vocabulary
from tests.naive.ngrams import parse_arpa, random_arpa

TOY = Path(__file__).with_name("toy.arpa")
SMALL = """\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1\t<unk>
-99\t<s>\t-0.5
-0.5\t</s>
-0.7\ta\t-0.25

\\2-grams:
-0.1\t<s> a
-0.2\ta </s>

\\end\\
"""


@pytest.mark.parametrize("at_once", [1, 2, 1 << 18])
def test_ngrams_in_files_are_those_in_memory(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(arpa, "NGRAMS_AT_ONCE", at_once)
    for path in (TOY, tmp_path / "small"):
        (tmp_path / "small").write_text(SMALL)
        expected, found = read_arpa(path), read_arpa(path, tmp_path)
        assert found.vocabulary.words == expected.vocabulary.words
        for a, b in zip(found.orders, expected.orders, strict=True):
            for one, other in zip(a, b):
                assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
        for file in tmp_path.iterdir():
            file.unlink()


def test_ngrams_in_files_take_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(arpa, "NGRAMS_AT_ONCE", 1000)
    lines = "".join(f"-1\t{a} {b} {c}\n" for a in "abcde" for b in range(100) for c in range(100))
    words = "".join(f"-1\t{word}\t0\n" for word in ["<unk>", "<s>", "</s>", *"abcde", *range(100)])
    pairs = "-1\ta 1\t0\n"
    counts = "ngram 1=108\nngram 2=1\nngram 3=50000\n"
    text = f"\\data\\\n{counts}\n\\1-grams:\n{words}\n\\2-grams:\n{pairs}\n\\3-grams:\n{lines}\n\\end\\\n"
    (tmp_path / "large").write_text(text)
    peaks = []
    for scratch in (None, tmp_path):
        tracemalloc.start()
        model = read_arpa(tmp_path / "large", scratch)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(model.orders[2].words) == 50_000
    assert peaks[1] < 400_000 < 1_000_000 < peaks[0]


def read(tmp_path, text, name="model.arpa"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return read_arpa(tmp_path / name)


def as_dict(model):
    names = model.vocabulary.words
    return {
        tuple(names[word] for word in words): (prob, backoff)
        for order in model.orders
        for words, prob, backoff in zip(order.words.tolist(), order.log10_prob, order.log10_backoff)
    }


def equal(a, b):
    same_orders = all(np.array_equal(x, y) for m, n in zip(a.orders, b.orders) for x, y in zip(m, n))
    return a.vocabulary.words == b.vocabulary.words and a.order == b.order and same_orders


def test_toy_as_a_dict():
    model = read_arpa(TOY)
    assert as_dict(model) == parse_arpa(TOY.read_text(encoding="utf-8"))
    assert [order.words.dtype for order in model.orders] == [np.int32] * 3
    assert [order.log10_prob.dtype for order in model.orders] == [np.float32] * 3


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=5), st.integers(1, 6), st.integers(0, 2**20))
def test_random_models_as_dicts(tmp_path_factory, sentences, order, seed):
    text = random_arpa(sentences, order, seed)
    assert as_dict(read(tmp_path_factory.getbasetemp(), text)) == parse_arpa(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("ngram 1=4", "ngram  1=       4"),
        lambda text: text.replace("\\2-grams:", "\n\n\\2-grams: \n"),
        lambda text: text.replace("a </s>", "a  </s>").replace("<s> a", " <s>\ta "),
        lambda text: text.replace("\t", " "),
        lambda text: "# made by hand\n\n" + text,
        lambda text: "made by tool x\nBeginning of data mark: \\data\\\nngram 1=nr\n\\1-grams:\n\n" + text,
        lambda text: "\ufeff" + text,
        lambda text: text + "\n \n",
        lambda text: text.replace("<unk>", "<UNK>"),
        lambda text: text.replace("</s>\n-0.7\ta\t-0.25", "</s>\t0\n-0.7\ta\t-0.25"),
        lambda text: gzip.compress(text.encode()),
    ],
)
def test_leniency(tmp_path, change):
    assert equal(read(tmp_path, change(SMALL)), read(tmp_path, SMALL))


def test_missing_unknown_word(tmp_path):
    model = read(tmp_path, SMALL.replace("-1\t<unk>\n", "").replace("1=4", "1=3"))
    assert model.vocabulary.words == ["<unk>", "<s>", "</s>", "a"]
    assert model.orders[0].log10_prob.tolist() == np.array([-100, -99, -0.5, -0.7], np.float32).tolist()


def test_unknown_word_gets_id_0_wherever_it_stands(tmp_path):
    text = SMALL.replace("-1\t<unk>\n", "").replace("-0.7\ta\t-0.25", "-0.7\ta\t-0.25\n-1\t<unk>")
    assert equal(read(tmp_path, text), read(tmp_path, SMALL))


def test_odd_white_space_is_part_of_words(tmp_path):
    model = read(tmp_path, SMALL.replace("\ta", "\ta\v\u00a0\u3000\x1c").replace(" a", " a\v\u00a0\u3000\x1c"))
    assert model.vocabulary.words[3] == "a\v\u00a0\u3000\x1c"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("-0.7\ta", "0.7\ta", 9, "log10 p = 0.7, expected a finite number not above 0"),
        ("-0.7\ta", "nan\ta", 9, "log10 p = nan"),
        ("-0.7\ta", "-inf\ta", 9, "log10 p = -inf"),
        ("-0.7\ta", "-1e39\ta", 9, "log10 p = -1e39"),
        ("-0.25", "nan", 9, "backoff nan"),
        ("-0.25", "inf", 9, "backoff inf"),
        ("-0.25", "x", 9, "expected log10 p, 1 words"),
        ("-0.7\ta", "-0.7\t<s>", 9, "'<s>' is here twice"),
        ("-0.1\t<s> a", "-0.1\t<s> b", 12, "'b' is not among the 1-grams"),
        ("-1\t<unk>\n", "-1\tb\n", 12, "'<unk>' is not among the 1-grams"),
        ("-0.1\t<s> a", "-0.1\t<s>", 12, "2 words"),
        ("-0.1\t<s> a", "-0.1\t<s> a a a", 12, "2 words"),
        ("-0.1\t<s> a", "-0.1\t<s> a\t-1", 12, "backoff -1.* of the highest order"),
        ("1=4", "1=5", 11, "after 4 n-grams, but .* announces 5"),
        ("1=4", "1=3", 9, "another 1-gram, but .* announces only 3"),
        ("2=2", "2=3", 15, "after 2 n-grams, but .* announces 3"),
        ("2=2", "2=1", 13, "another 2-gram"),
        ("2=2", "2=x", 3, "expected 'ngram 2=' and a count"),
        ("2=2", "2=" + "9" * 5000, 3, "found 'ngram 2=9{71}\\.\\.\\., expected 'ngram 2='"),
        ("-0.7\ta", "-" + "9" * 5000 + "\ta", 9, "log10 p = -9{79}, expected"),
        ("-0.7\ta", "-0.7\t" + "a" * 5000 + "\tb\tc", 9, "found .{80}\\.\\.\\., expected log10 p, 1 words"),
        ("ngram 2=2", "ngram 3=2", 3, "expected 'ngram 2='"),
        ("ngram 2=2", "", 7, "backoff -0.5 of an n-gram of the highest order"),
        ("\n\\2-grams:", "\n\\end\\", 11, "expected .2-grams:"),
        ("\\2-grams:", "\\3-grams:", 11, "expected .2-grams:"),
        ("</s>", "<e>", 9, "the 1-grams end without </s>"),
        ("<s>", "<b>", 9, "the 1-grams end without <s>"),
        ("\\end\\\n", "\\end\\\nx", 16, "after .end"),
        ("\\data\\", "data", 15, "found the end of the file, expected .data"),
        ("ngram 2=2\n", "".join(f"ngram {n}=0\n" for n in range(2, 10)), 12, "9 orders, expected 1 to 8"),
    ],
)
def test_refusals(tmp_path, old, new, line, message):
    text = SMALL.replace(old, new)
    if "<unk>" not in text:
        text = text.replace("<s> a", "<s> <unk>")
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


@pytest.mark.parametrize("compress", [False, True])
def test_every_cut_is_refused(tmp_path, compress):
    whole = gzip.compress(SMALL.encode()) if compress else SMALL.rstrip("\n").encode()
    for length in range(len(whole)):
        with pytest.raises(FormatError):
            read(tmp_path, whole[:length])


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    with pytest.raises(FormatError, match="UTF-8") as caught:
        read(tmp_path, SMALL.encode().replace(b"\ta", b"\t\xe4"))
    assert caught.value.line == 9


@given(st.lists(st.lists(st.sampled_from("aböd"), max_size=6), max_size=5), st.integers(1, 6), st.integers(0, 2**20))
def test_what_is_written_reads_back(tmp_path_factory, sentences, order, seed):
    directory = tmp_path_factory.getbasetemp()
    model = read(directory, random_arpa(sentences, order, seed))
    for name in ("again.arpa", "again.arpa.gz"):
        write_arpa(model, directory / name)
        assert equal(read_arpa(directory / name), model)


def test_any_float32_reads_back(tmp_path):
    rng = np.random.default_rng(0)
    log10_prob = -rng.integers(0, 0x7F800000, 1000).astype(np.uint32).view(np.float32)
    words = Vocabulary(["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(997))])
    order = NgramOrder(np.arange(1000, dtype=np.int32).reshape(-1, 1), log10_prob, np.zeros(1000, np.float32))
    write_arpa(NgramModel(words, (order,)), tmp_path / "model.arpa")
    assert np.array_equal(read_arpa(tmp_path / "model.arpa").orders[0].log10_prob, log10_prob)


def test_writing_is_deterministic(tmp_path):
    model = read_arpa(TOY)
    write_arpa(model, tmp_path / "a.arpa.gz")
    write_arpa(model, tmp_path / "b.arpa.gz")
    assert (tmp_path / "a.arpa.gz").read_bytes() == (tmp_path / "b.arpa.gz").read_bytes()


@pytest.mark.parametrize("word", ["", "a b", "a\tb", "a\nb"])
def test_words_that_would_break_the_file_are_refused(tmp_path, word):
    vocabulary = Vocabulary(["<unk>", "<s>", "</s>", word])
    order = NgramOrder(np.arange(4, dtype=np.int32).reshape(-1, 1), -np.ones(4, np.float32), np.zeros(4, np.float32))
    with pytest.raises(ModelError, match="white space"):
        write_arpa(NgramModel(vocabulary, (order,)), tmp_path / "model.arpa")
    assert not list(tmp_path.iterdir())
