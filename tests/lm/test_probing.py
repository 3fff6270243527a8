"""KenLM's probing files: written as build_binary does, and refused with a reason where they are something else."""

import gzip
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.lm import probing_writer
from phrasebeam.lm.arpa import LONGEST_HEADER, read_arpa
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.ngrams import NgramModel, NgramOrder
from phrasebeam.lm.probing import MODEL_TYPES, UNIGRAMS, VOCABULARY
from phrasebeam.lm.probing_writer import build_tables, write_probing
from phrasebeam.lm.text.encoded_words import encode
from phrasebeam.lm.text.vocabulary import Vocabulary
from tests.naive.ngrams import random_arpa

pytestmark = pytest.mark.kernels

TOY = Path(__file__).with_name("toy.arpa")
GOLDEN = Path(__file__).with_name("toy.probing.bin")  # build_binary probing toy.arpa toy.probing.bin
SENTENCES = [["a", "b", "a", "c"], ["b", "b", "b", "a"], ["c", "a", "b", "d", "a", "b"], ["d"]]
MODEL_TYPE, ORDER, VERSION, MULTIPLIER = 96, 88, 104, 92  # bytes of the header
TABLES = 144  # where the first table begins


def from_ngrams(orders, words=("<unk>", "<s>", "</s>", "a", "b")):
    """A model with log10 p = -1, backoffs -0.5, and the n-grams given from order 2 on."""
    lists = [[[i] for i in range(len(words))], *orders]
    arrays = [np.array(ngrams, np.int32).reshape(len(ngrams), n) for n, ngrams in enumerate(lists, 1)]
    ones = [-np.ones(len(ngrams), np.float32) for ngrams in arrays]
    return NgramModel(Vocabulary(words), tuple(NgramOrder(a, b, b / 2) for a, b in zip(arrays, ones)))


def patched(tmp_path, position, packed):
    data = bytearray(GOLDEN.read_bytes())
    data[position : position + len(packed)] = packed
    (tmp_path / "patched.bin").write_bytes(data)
    return tmp_path / "patched.bin"


def test_writes_what_build_binary_writes(tmp_path):
    write_probing(read_arpa(TOY), tmp_path / "toy.bin")
    assert (tmp_path / "toy.bin").read_bytes() == GOLDEN.read_bytes()


def test_arpa_and_binary_become_the_same_tables():
    mapped, built = LanguageModel.load(GOLDEN).tables, LanguageModel.load(TOY).tables
    assert mapped.order == built.order
    for a, b in zip(mapped[1:], built[1:]):
        assert a.dtype == b.dtype
        assert np.array_equal(a.view(np.uint8), b.view(np.uint8))
        assert a.flags.writeable
        assert a.flags.c_contiguous


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
def test_tables_that_do_not_fit_in_memory_are_filled_in_the_file(tmp_path, monkeypatch, at_once):
    words = ("<unk>", "<s>", "</s>", *"abcdefghijkl")
    threes = [[i, i + 1, i + 2] for i in range(3, 15, 3)]
    grown = from_ngrams([[three[:2] for three in threes], threes, [[*three, 0] for three in threes]], words)
    for name, model in (("toy", read_arpa(TOY)), ("grown", grown)):
        write_probing(model, tmp_path / name)
        expected = (tmp_path / name).read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(probing_writer, "memory_left", lambda n_bytes: 0)
            patch.setattr(probing_writer, "NGRAMS_AT_ONCE", at_once)
            write_probing(model, tmp_path / name)
        assert (tmp_path / name).read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grown", "toy"]


def test_kenlm_reads_tables_grown_for_many_missing_suffixes(tmp_path, kenlm):
    words = ("<unk>", "<s>", "</s>", *"abcdefghijkl")
    # 3-grams a b c, d e f, ... whose contexts are there, but none of the suffixes b c, e f, ...
    threes = [[i, i + 1, i + 2] for i in range(3, 15, 3)]
    model = from_ngrams([[three[:2] for three in threes], threes, [[*three, 0] for three in threes]], words)
    image, header = build_tables(model)
    assert header.multiplier > 1.5
    write_probing(model, tmp_path / "grown.bin")
    assert (tmp_path / "grown.bin").read_bytes().startswith(image.tobytes())
    ours, theirs = LanguageModel.load(tmp_path / "grown.bin"), kenlm(tmp_path / "grown.bin")
    for sentence in ("a b c d e f", "b c x", "l k j", "a b c x"):
        assert ours.full_scores(sentence.split()) == list(theirs.full_scores(sentence))


def test_words_are_found():
    model = LanguageModel.load(GOLDEN)
    words = ["café", "<s>", "nowhere", "</s>", "a", "<unk>", "a" * 100, "b"]
    assert model.word_ids(words).tolist() == [5, 1, 0, 2, 3, 0, 0, 4]
    assert model.word_ids([]).tolist() == []
    assert (model.begin, model.end) == (1, 2)


@pytest.mark.parametrize("model_type", range(1, 7))
def test_other_kinds_of_models_are_refused(tmp_path, model_type):
    kind = MODEL_TYPES[model_type] if model_type < len(MODEL_TYPES) else "model type 6"
    with pytest.raises(FormatError, match=f"{kind}, .*build_binary probing MODEL.arpa MODEL.bin"):
        LanguageModel.load(patched(tmp_path, MODEL_TYPE, struct.pack("<i", model_type)))


@pytest.mark.parametrize(
    ("position", "packed", "message"),
    [
        (49, b"4", "format version 4 .*build_binary"),
        (60, struct.pack("<f", 2.0), "of another release or machine"),
        (0, b"mmap lm http://kheafield.com/code incomplete\n", "did not finish"),
        (ORDER, b"\11", "order 9, expected 2 to 8"),
        (ORDER, b"\1", "order 1, expected 2 to 8"),
        (VERSION, b"\1", "damaged header"),
        (MULTIPLIER, struct.pack("<f", 0.5), "multiplier 0.5"),
        (MULTIPLIER, struct.pack("<f", float("nan")), "multiplier nan"),
        (108, struct.pack("<Q", 1000), "announces at least .* cut short"),
        *((108 + 8 * i, struct.pack("<Q", n), "cut short") for i in range(3) for n in (2**60, 2**61, 2**63, 2**64 - 1)),
        (136, struct.pack("<I", 1), "damaged table of words"),
        (140, struct.pack("<I", 8), "damaged table of words"),
        (116, struct.pack("<Q", 7), "words are not at their place"),
    ],
)
def test_damaged_headers_are_refused(tmp_path, position, packed, message):
    with pytest.raises(FormatError, match=message):
        LanguageModel.load(patched(tmp_path, position, packed))


@pytest.mark.needs_jit
def test_damage_anywhere_in_a_header_is_refused_or_does_no_harm(tmp_path):
    expected = [LanguageModel.load(GOLDEN).full_scores(words) for words in SENTENCES]
    whole, n_refused = GOLDEN.read_bytes(), 0
    bits = [(i, bytes([whole[i] ^ 1 << bit])) for i in range(TABLES) for bit in range(8)]
    numbers = 0, 1, 2**31, 2**61, 2**63, 2**64 - 1
    words = [(i, struct.pack("<Q", number)) for i in range(0, TABLES - 4, 4) for number in numbers]
    for position, packed in bits + words:
        try:
            damaged = LanguageModel.load(patched(tmp_path, position, packed))
            assert [damaged.full_scores(words) for words in SENTENCES] == expected
        except FormatError as error:
            n_refused += 1
            assert "\n" not in str(error)
    assert n_refused > 0.8 * len(bits + words)


def test_a_table_without_empty_buckets_is_refused(tmp_path):
    data, tables = bytearray(GOLDEN.read_bytes()), LanguageModel.load(GOLDEN).tables
    for start, end in pairwise(4 * tables.starts[[VOCABULARY, UNIGRAMS, 2, 3]]):
        full = data[:start] + b"\1" * (end - start) + data[end:]
        (tmp_path / "full.bin").write_bytes(full)
        if start == 4 * tables.starts[UNIGRAMS]:  # these are found by their ids
            LanguageModel.load(tmp_path / "full.bin")
            continue
        with pytest.raises(FormatError, match="no empty bucket among the"):
            LanguageModel.load(tmp_path / "full.bin")


def test_every_cut_is_refused(tmp_path):
    whole = GOLDEN.read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut.bin").write_bytes(whole[:length])
        with pytest.raises(FormatError):
            LanguageModel.load(tmp_path / "cut.bin")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty; expected ARPA"),
        (b" \n\n", "empty; expected ARPA"),
        (b"PK\3\4", "not a language model: starts with b'PK"),
        (b"the cat sat\n", "not a language model"),
        (b"x" * LONGEST_HEADER + b"\n" + TOY.read_bytes(), r"no line .data. in its first 64K"),
        (gzip.compress(b"x\n" * LONGEST_HEADER + TOY.read_bytes(), mtime=0), r"no line .data. in its first 64K"),
        (b"toy.arpa\0\n" + TOY.read_bytes(), "not a language model: starts with b'toy.arpa"),
        (b"iARPA\n", "compile-lm --text yes"),
        (gzip.compress(GOLDEN.read_bytes(), mtime=0), "gunzip"),
        (gzip.compress(TOY.read_bytes(), mtime=0)[:40], "damaged compressed"),
        (b"\x1f\x8bxxx", "damaged compressed"),
    ],
)
def test_foreign_files_are_refused(tmp_path, content, message):
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        LanguageModel.load(tmp_path / "foreign")


@pytest.mark.parametrize("change", [bytes, lambda text: gzip.compress(text, mtime=0)])
def test_text_before_the_data(tmp_path, change):
    (tmp_path / "lm").write_bytes(change(b"made by tool x\nversion 3\n\n" + TOY.read_bytes()))
    found, expected = LanguageModel.load(tmp_path / "lm"), LanguageModel.load(TOY)
    assert [found.full_scores(words) for words in SENTENCES] == [expected.full_scores(words) for words in SENTENCES]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        LanguageModel.load(tmp_path / "missing")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (from_ngrams([]), "order 1: probing tables hold 2 to 8"),
        (from_ngrams([[]] * 8), "order 9"),
        (from_ngrams([[[3, 4], [4, 3], [3, 4]]]), "2-gram 'a b' is there twice"),
        (from_ngrams([[[3, 4]], [[4, 3, 4]]]), "3-gram 'b a b' .* without its context 'b a'"),
        (from_ngrams([[], [[4, 3, 4]]]), "no 2-grams, but longer ones"),
        (from_ngrams([[]], words=("<unk>", "<s>", "a")), "include <s> and </s>"),
        (from_ngrams([[]], words=("<s>", "</s>", "<unk>")), "begin with <unk>"),
        (from_ngrams([[]], words=("<unk>", "<s>", "</s>", "a\0")), "white space"),
    ],
)
def test_models_that_cannot_be_written_are_refused(tmp_path, model, message):
    with pytest.raises(ModelError, match=message):
        write_probing(model, tmp_path / "model.bin")
    assert not list(tmp_path.iterdir())


def test_a_word_with_the_hash_of_another_is_refused(monkeypatch):
    monkeypatch.setattr(probing_writer, "encode", lambda words: encode([words[0]] * len(words)))
    with pytest.raises(ModelError, match="the word '</s>' has the hash of another word; rename it"):
        build_tables(from_ngrams([[[3, 4]]]))


@pytest.mark.parametrize("number", [0.5, np.nan, -np.inf])
def test_impossible_numbers_are_refused(number):
    model = from_ngrams([[[3, 4]]])
    model.orders[1].log10_prob[0] = number
    with pytest.raises(ModelError, match="a 2-gram has a log probability"):
        build_tables(model)


def test_impossible_backoffs_are_refused():
    model = from_ngrams([[[3, 4]]])
    model.orders[0].log10_backoff[3] = np.nan
    with pytest.raises(ModelError, match="a 1-gram has a backoff"):
        build_tables(model)


def test_an_arpa_file_that_does_not_fit_together_is_named(tmp_path):
    text = random_arpa(SENTENCES, 2, seed=0)
    count = int(text.split("ngram 2=")[1].split("\n")[0])
    text = text.replace(f"ngram 2={count}", f"ngram 2={count + 1}").replace("\\2-grams:", "\\2-grams:\n-1\td a")
    (tmp_path / "twice.arpa").write_text(text)
    with pytest.raises(FormatError, match=r"twice.arpa: the 2-gram 'd a' is there twice"):
        LanguageModel.load(tmp_path / "twice.arpa")


def test_orders_without_ngrams(tmp_path):
    write_probing(from_ngrams([[[1, 3], [3, 2]], [], []]), tmp_path / "model.bin")
    assert [length for _, length, _ in LanguageModel.load(tmp_path / "model.bin").full_scores(["a", "b"])] == [2, 1, 1]


@pytest.mark.parametrize("change", [lambda image: image[:-1], lambda image: image + b"junk\n"])
def test_words_that_do_not_end(tmp_path, change):
    (tmp_path / "lm").write_bytes(change(GOLDEN.read_bytes()))
    with pytest.raises(FormatError, match="its last word is not ended; copy it again"):
        LanguageModel.load(tmp_path / "lm")


@pytest.mark.parametrize(
    ("change", "found"), [(lambda image: image.removesuffix("café\0".encode()), 5), (lambda image: image + b"d\0\0", 8)]
)
def test_more_or_fewer_words_than_announced(tmp_path, change, found):
    (tmp_path / "lm").write_bytes(change(GOLDEN.read_bytes()))
    with pytest.raises(FormatError, match=f": {found} words at its end, expected 6: cut short or damaged; copy it"):
        LanguageModel.load(tmp_path / "lm")
