"""Alignments by hand in both formats, and their error rate by its definition over sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.training.aligned_text.gold_alignment import read_gold

LINKS = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6)
PAIRS = st.lists(st.tuples(LINKS, LINKS, LINKS), min_size=1, max_size=4)  # sure, possible, found


@given(PAIRS, st.booleans(), st.booleans())
def test_error_rate(tmp_path_factory, pairs, is_naacl, with_p):
    path = tmp_path_factory.mktemp("gold") / "gold"
    if is_naacl:
        lines = [
            f"{i:03} {s + 1} {t + 1}{mark}"
            for i, (sure, possible, _) in enumerate(pairs, 1)
            for links, mark in ((sure, " S" if with_p else ""), (possible - sure, " P"))
            for s, t in sorted(links)
        ]
        lines += [f"{i} 0 1 S" for i in range(1, len(pairs) + 1)]  # of no word: the pair has an alignment nevertheless
    else:
        mark = "p" if with_p else "?"
        lines = [
            " ".join([*(f"{s}-{t}" for s, t in sure), *(f"{s}{mark}{t}" for s, t in possible)])
            for sure, possible, _ in pairs
        ]
    path.write_text("".join(f"{line}\n" for line in lines))
    gold = read_gold(path)
    gold.check([4] * len(pairs), [4] * len(pairs))
    errors = gold.errors(dict(enumerate(found for *_, found in pairs)))
    sure = {(i, link) for i, (links, _, _) in enumerate(pairs) for link in links}
    possible = sure | {(i, link) for i, (_, links, _) in enumerate(pairs) for link in links}
    found = {(i, link) for i, (_, _, links) in enumerate(pairs) for link in links}
    assert errors.aer == pytest.approx(
        1 - (len(found & sure) + len(found & possible)) / ((len(found) + len(sure)) or 1) if found or sure else 0.0
    )
    assert errors.precision == pytest.approx(len(found & possible) / len(found) if found else 1.0)
    assert errors.recall == pytest.approx(len(found & sure) / len(sure) if sure else 1.0)


def test_pairs_without_an_alignment_by_hand_do_not_count(tmp_path):
    (tmp_path / "gold").write_text("2 1 1 S\n2 2 2 P 0.5\n\n")
    gold = read_gold(tmp_path / "gold")
    gold.check([1, 2, 5], [1, 2, 5])
    errors = gold.errors({0: [(0, 0)], 1: [(0, 0), (1, 0)], 2: []})
    assert errors == (1, 1, 2, 2, 1, 1)
    assert (
        str(errors) == "AER 33.33 %, precision 50.00 %, recall 100.00 % (1 sentence pairs, 1 sure and 1 possible links)"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 1 1 S\nx\n", r"gold:2: 'x' is not a link; expected sentence, source, target, S or P, as in 1 3 4 S"),
        ("0 1 1\n", "gold:1: sentence 0; sentences are counted from 1"),
        ("0-0\n0-0 ||| 1-1\n", r"gold:2: '\|\|\|' is not an alignment point"),
        ("# Sentence pair (1) x\n", "gold:1: an A3 file of GIZA"),
    ],
)
def test_what_is_no_alignment(tmp_path, text, said):
    (tmp_path / "gold").write_text(text)
    with pytest.raises(FormatError, match=said):
        read_gold(tmp_path / "gold")
