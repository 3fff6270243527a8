"""Reading and writing alignments, and what is said of bad ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.extraction.pharaoh import read_alternatives
from phrasebeam.training.word_alignment import alignment_points
from phrasebeam.training.word_alignment.alignment_points import (
    in_target_order,
    interleaved,
    read_pharaoh,
    write_pharaoh,
)
from tests.training.model_building.bitexts import arrays, bitexts, corpus, realigned

SOURCE, TARGET = corpus([[1, 2], [3], []]), corpus([[1, 2, 3], [4], []])


@settings(deadline=None, max_examples=40)
@given(bitexts, st.sampled_from([1, 3, 1000]))
def test_round_trip_and_order(tmp_path_factory, bitext, at_once):
    source, target, alignments = arrays(bitext)
    path = tmp_path_factory.mktemp("alignments") / "points"
    write_pharaoh([alignments], path)
    [found] = read_pharaoh(path, source, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment_points, "POINTS_AT_ONCE", at_once)
        ordered = in_target_order(alignments)
    for i, (_, _, links) in enumerate(bitext):
        expected = sorted(links, key=lambda point: (point[1], point[0]))
        assert [tuple(point) for point in found.pair(i).tolist()] == expected
        assert [tuple(point) for point in ordered.pair(i).tolist()] == expected


@settings(deadline=None, max_examples=40)
@given(bitexts)
def test_several_alignments(tmp_path_factory, bitext):
    source, target, first = arrays(bitext)
    alignments = [in_target_order(one) for one in (first, arrays(realigned(bitext, 1))[2])]
    path = tmp_path_factory.mktemp("alignments") / "points"
    write_pharaoh(alignments, path)
    for one, found in zip(alignments, read_pharaoh(path, source, target)):
        assert np.array_equal(one.offsets, found.offsets) and np.array_equal(one.points, found.points)
    together = interleaved(alignments)
    for i in range(2 * len(bitext)):
        assert np.array_equal(together.pair(i), alignments[i % 2].pair(i // 2))


NASTY = st.text(st.sampled_from("0123-?p| \t\r\u2028"), max_size=9)


@pytest.mark.kernels
@settings(max_examples=300)
@given(st.lists(st.one_of(NASTY, st.sampled_from(["", "0-0", " 1-2\t0?1 ", "0-0 ||| 1p2", "|||"])), max_size=4))
def test_same_as_line_by_line(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("alignments") / "points"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    source, target = corpus([[1, 2], [1, 2, 3], [1]]), corpus([[1, 2, 3], [1], [1, 2]])
    expected = []
    try:
        for i, line in enumerate(lines[:3]):
            found = read_alternatives(line.rstrip("\r"), len(source.sentence(i)), len(target.sentence(i)), path, i + 1)
            expected.append([sorted({*zip(points[1::2], points[::2])}) for points in found])
            if len(found) != len(expected[0]):
                raise FormatError(path, "alignments of a sentence pair", i + 1)
        if len(lines) != 3:
            raise FormatError(path, "lines", 4 if len(lines) > 3 else None)
    except FormatError as error:
        with pytest.raises(FormatError) as caught:
            read_pharaoh(path, source, target)
        assert caught.value.line == error.line
        assert error.message in str(caught.value)
        return
    for k, alignments in enumerate(read_pharaoh(path, source, target)):
        for i in range(3):
            assert [(t, s) for s, t in alignments.pair(i).tolist()] == expected[i][k]


def test_points_count_once(tmp_path):
    path = tmp_path / "points"
    path.write_text(" 1-2  0-0\t1-2 \n0-0\n\n")
    assert read_pharaoh(path, SOURCE, TARGET)[0].pair(0).tolist() == [[0, 0], [1, 2]]


def test_sure_and_possible_points(tmp_path):
    path = tmp_path / "points"
    path.write_text("0-0 1?2 0p1\n0?0\n\n")
    [found] = read_pharaoh(path, SOURCE, TARGET)
    assert [found.pair(i).tolist() for i in range(2)] == [[[0, 0], [0, 1], [1, 2]], [[0, 0]]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# Sentence pair (1) source length 2 target length 3 alignment score : 1e-5\n", r"points:1: an A3 .* symal"),
        ("1 1 1\n", r"points:1: a point a line, as in NAACL's format .*; expected a line a sentence pair"),
        ("0001 2 3 P\n", r"points:1: a point a line, as in NAACL's format"),
        ("0-0 1?3\n0-0\n\n", r"points:1: point 1-3 lies outside"),
        ("0-0 1s2\n0-0\n\n", r"points:1: '1s2' is not an alignment point"),
        ("0-0\n0-0 1:2\n\n", r"points:2: '1:2' is not an alignment point"),
        ("0-0 -1-2\n0-0\n\n", r"points:1: '-1-2' is not an alignment point"),
        ("0-0\n0-0 ٣-0\n\n", r"points:2: '٣-0' is not an alignment point"),
        ("0-0 2-1\n0-0\n\n", r"points:1: point 2-1 lies outside the sentence pair of 2 source and 3 target words"),
        ("0-0\n0-1\n\n", r"points:2: point 0-1 lies outside"),
        ("0-0\n0-0\u20280-1\n\n", r"points:2: '0-0\\u20280-1' is not an alignment point"),
        ("0-0\n999999999-0\n\n", r"points:2: point 999999999-0 lies outside"),
        ("0-0\n99999999999999999999-0\n\n", r"points:2: '99999999999999999999-0' is not an alignment point"),
        ("0-0\n" + "9" * 5000 + "-0\n\n", r"points:2: '9{79}\.\.\. is not an alignment point"),
        ("0-0\n0-0\n0-0\n", r"points:3: point 0-0 lies outside the sentence pair of 0 source and 0 target words"),
        ("0-0 ||| \n0-0\n|||\n", r"points:2: 1 alignments of a sentence pair, expected 2 as in line 1"),
        ("0-0 ||| 1-1\n0-0 ||| 0-1\n|||\n", r"points:2: point 0-1 lies outside"),
        ("0-0\n0-0\n", r"points: 2 lines for 3 sentence pairs"),
        ("0-0\n0-0\n\n\n", r"points:4: more lines than the 3 sentence pairs"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "points"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_pharaoh(path, SOURCE, TARGET)
