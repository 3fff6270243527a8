"""Lexicons against counting by hand, as the programs that read them do."""

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.training.aligned_text.lexicon import write_lexicons
from phrasebeam.training.bitext.parallel_text import read_bitext
from phrasebeam.training.word_alignment.alignment_points import read_pharaoh

pytestmark = pytest.mark.kernels
WORDS = st.lists(st.sampled_from(["a", "A", "b", "é", "c"]), min_size=1, max_size=4)
PAIR = st.tuples(WORDS, WORDS).flatmap(
    lambda pair: st.tuples(
        st.just(pair),
        st.frozensets(st.tuples(st.integers(0, len(pair[0]) - 1), st.integers(0, len(pair[1]) - 1)), max_size=5),
    )
)
PAIRS = st.lists(PAIR, min_size=1, max_size=5)


def counted(pairs, is_reverse, lower=False):
    """p(translation | word) by counts, with NULL for unlinked words of either side."""
    counts = Counter()
    for (source, target), links in pairs:
        if lower:
            source, target = [[word.lower() for word in side] for side in (source, target)]
        counts.update((target[t], source[s]) for s, t in links)
        counts.update((word, "NULL") for t, word in enumerate(target) if t not in {t for _, t in links})
        counts.update(("NULL", word) for s, word in enumerate(source) if s not in {s for s, _ in links})
    if is_reverse:
        counts = Counter({(word, translation): count for (translation, word), count in counts.items()})
    totals = Counter()
    for (_, word), count in counts.items():
        totals[word] += count
    return {key: count / totals[key[1]] for key, count in counts.items()}


def written(folder: Path, pairs, names, form):
    for side, name in enumerate(("source", "target")):
        (folder / name).write_text("".join(f"{' '.join(pair[side])}\n" for pair, _ in pairs))
    (folder / "links").write_text("".join(" ".join(f"{s}-{t}" for s, t in links) + "\n" for _, links in pairs))
    bitext = read_bitext(folder / "source", folder / "target")
    (alignments,) = read_pharaoh(folder / "links", bitext.source, bitext.target)
    paths = [folder / name for name in names]
    write_lexicons(paths, form, bitext, alignments)
    texts = [
        (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode() for path in paths
    ]
    lines = [[line.split(" ") for line in text.splitlines()] for text in texts]
    assert all(len({tuple(line[:2]) for line in one}) == len(one) for one in lines)
    return [{(translation, word): float(p) for translation, word, p in one} for one in lines], texts


@given(PAIRS)
def test_moses(tmp_path_factory, pairs):
    (forward, backward), _ = written(tmp_path_factory.mktemp("lex"), pairs, ("lex.f2e", "lex.e2f"), "moses")
    assert forward == pytest.approx(counted(pairs, False), abs=1e-7)
    assert backward == pytest.approx(counted(pairs, True), abs=1e-7)


@given(PAIRS)
def test_marian_has_no_null(tmp_path_factory, pairs):
    (forward, backward), _ = written(tmp_path_factory.mktemp("lex"), pairs, ("lex.s2t", "lex.t2s.gz"), "marian")
    for found, is_reverse in ((forward, False), (backward, True)):
        expected = {key: p for key, p in counted(pairs, is_reverse).items() if "NULL" not in key}
        assert found == pytest.approx(expected, abs=1e-7)


@given(PAIRS)
def test_bicleaner_has_lowercased_words_in_order_without_the_unlikely(tmp_path_factory, pairs):
    (found,), (text,) = written(tmp_path_factory.mktemp("lex"), pairs, ("dict.gz",), "bicleaner")
    expected = {key: p for key, p in counted(pairs, False, lower=True).items() if "NULL" not in key}
    best = {word: max(p for (_, one), p in expected.items() if one == word) for _, word in expected}
    expected = {key: p for key, p in expected.items() if p >= 0.1 * best[key[1]]}
    assert found == pytest.approx(expected, abs=1e-7)
    words = [line.split()[1] for line in text.splitlines()]
    assert words == sorted(words)


def test_unlikely_translations_are_left_out_for_bicleaner(tmp_path):
    pairs = [((["hund"], [word]), {(0, 0)}) for word in ["dog"] * 11 + ["hound"]]
    assert written(tmp_path, pairs, ["dict"], "bicleaner")[1] == ["dog hund 0.9166667\n"]
