"""Moses models of several phrase tables and reordering models: imported, searched, exported, imported again."""

import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.moses import alternatives
from phrasebeam.decoder.moses.exporting import export_moses
from phrasebeam.decoder.moses.importing import import_moses
from phrasebeam.decoder.output.rendering import render_nbest
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SOURCE, TARGET, assert_sound, random_lm
from tests.decoder.search.test_search import UNLIMITED, flat
from tests.naive.search import best_options, derivations, features, reordering_features

pytestmark = pytest.mark.kernels
ORDER, WIDTHS = 3, (2, 1)  # of the language model; scores of the tables
MSD = Reordering()
SCALARS = {"LM0": 0.7, "Distortion0": 0.4, "WordPenalty0": -0.3, "PhrasePenalty0": 0.2, "UnknownWordPenalty0": 1.0}


class Made(NamedTuple):
    """A Moses model as naive code wants it."""

    ini: Path
    tables: list  # {source: [(target, ln scores in the columns of all tables, ln scores of all reordering models)]}
    lm: dict
    weights: np.ndarray  # float64[F], in the order of our features
    n_reorderings: int


def make(directory, seed, limits=(0, 0), n_reorderings=1, sparse=False):
    """Write a random Moses model of two tables."""
    rng = random.Random(seed)
    lm = random_lm(directory, rng, ORDER)
    probabilities = [round(rng.uniform(0.01, 1), 3) for _ in range(1000)] + [1.0] * 10
    orientations, tables = {}, []
    for number, width in enumerate(WIDTHS):
        before, behind = [0.0] * sum(WIDTHS[:number]), [0.0] * sum(WIDTHS[number + 1 :])
        table, lines = {}, []
        for source in sorted({" ".join(rng.choices(SOURCE, k=rng.randint(1, 2))) for _ in range(5)}):
            table[source] = []
            for target in sorted({" ".join(rng.choices(TARGET[:2], k=rng.randint(1, 2))) for _ in range(3)}):
                scores = rng.choices(probabilities, k=width)
                default = [0.0] * 6 * n_reorderings
                drawn = rng.choices(probabilities, k=6 * n_reorderings) if rng.random() < 0.8 else None
                lexical = orientations.setdefault((source, target), drawn)
                lexical = default if lexical is None else np.log(lexical).tolist()
                table[source].append((target, [*before, *np.log(scores), *behind], lexical))
                column = f"f {rng.randint(1, 3)} g{number} 1" if sparse else ""
                lines.append(f"{source} ||| {target} ||| {' '.join(map(str, scores))} ||| 0-0 ||| ||| {column}\n")
        (directory / f"table{number}").write_text("".join(lines))
        tables.append(table)
    for i in range(n_reorderings):
        rows = [(*pair, " ".join(map(str, p[6 * i : 6 * i + 6]))) for pair, p in orientations.items() if p]
        (directory / f"reordering{i}").write_text("".join(f"{' ||| '.join(row)}\n" for row in sorted(rows)))
    weights = {f"T{i}": [rng.uniform(-0.2, 1) for _ in range(width)] for i, width in enumerate(WIDTHS)}
    weights |= {f"R{i}": [rng.uniform(-0.2, 1) for _ in range(6)] for i in range(n_reorderings)}
    (directory / "moses.ini").write_text(ini_text(weights, limits, n_reorderings, sparse))
    vector = np.array([value for values in weights.values() for value in values] + list(SCALARS.values()))
    return Made(directory / "moses.ini", tables, lm, vector, n_reorderings)


def ini_text(weights, limits, n_reorderings, sparse):
    lines = ["[mapping]", "0 T 0", "1 T 1", "[distortion-limit]", "2", "[beam-threshold]", "0", "[feature]"]
    lines += ["KENLM name=LM0 path=lm.arpa order=3", "UnknownWordPenalty", "WordPenalty", "PhrasePenalty", "Distortion"]
    for i, (width, limit) in enumerate(zip(WIDTHS, limits)):
        lines.append(f"PhraseDictionaryMemory name=T{i} num-features={width} path=table{i} table-limit={limit}")
    for i in range(n_reorderings):
        lines.append(f"LexicalReordering name=R{i} type=wbe-msd-bidirectional-fe-allff path=reordering{i}")
    every = weights | {name: [value] for name, value in SCALARS.items()}
    lines += ["[weight]", *(f"{name}= {' '.join(map(repr, values))}" for name, values in every.items())]
    lines += ["T0_f= 0.25", "T1_f= -0.5", "T1_g1= 0.125"] if sparse else []
    return "\n".join(lines) + "\n"


def joined(tables):
    """The table of all their pairs."""
    sources = dict.fromkeys(source for table in tables for source in table)
    return {source: [pair for table in tables for pair in table.get(source, [])] for source in sources}


def vectors(made, tables, words):
    """The feature vectors of all derivations, float64[D, F]."""
    found = []
    for derivation in derivations(joined(tables), words, 2, 2):
        dense = features(derivation, sum(WIDTHS), None, made.lm, ORDER)
        parts = []
        for i in range(made.n_reorderings):
            of_model = [
                (span, (target, scores, lexical and lexical[6 * i : 6 * i + 6], is_copy))
                for span, (target, scores, lexical, is_copy) in derivation
            ]
            parts.append(reordering_features(MSD, of_model))
        found.append(np.concatenate([dense[: sum(WIDTHS)], *parts, dense[sum(WIDTHS) :]]))
    return np.array(found)


def limited(made, limits):
    """The tables with the pairs that are within their limits."""
    n = sum(WIDTHS)
    weights = np.concatenate([made.weights[:n], made.weights[-5:]])
    kept = []
    for table, limit in zip(made.tables, limits):
        ranked = {}
        for source, pairs in table.items():
            words = source.split()
            estimates = [
                best_options({source: [pair]}, words, 0, len(words), weights, made.lm, ORDER, 0)[0][1] for pair in pairs
            ]
            order = sorted(range(len(pairs)), key=lambda i: -estimates[i])
            ranked[source] = [pairs[i] for i in order[: limit or None]]
        kept.append(ranked)
    return kept


@settings(max_examples=8)
@given(st.integers(0, 2**20), st.sampled_from([(0, 0), (1, 2), (2, 0), (20, 20)]), st.sampled_from([0, 1, 2]))
def test_lists_are_the_full_enumeration(seed, limits, n_reorderings):
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, "SOURCES_AT_ONCE", 2)
        made = make(Path(scratch), seed, limits, n_reorderings)
        import_moses(made.ini, Path(scratch) / "model")
        assert_sound(Path(scratch) / "model")
        decoder = Decoder.load(Path(scratch) / "model", SearchSettings(**UNLIMITED, distortion_limit=2))
        words = random.Random(seed).choices([*SOURCE, "x"], k=3)
        rows = vectors(made, limited(made, limits), words)
        found = decoder.nbest(" ".join(words), 50)
        scores = np.sort(rows @ made.weights)[::-1][:50]
        np.testing.assert_allclose([one.score for one in found], scores, atol=2e-4)
        for one in found:
            assert np.abs(rows - flat(one.features)).max(axis=1).min() < 2e-4


@settings(max_examples=4)
@given(st.integers(0, 2**20), st.integers(0, 2))
@example(1, 2)  # a pair with scores of 1 in one table, and with others in another
def test_they_go_out_as_they_came_in(seed, n_reorderings):
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        made = make(directory, seed, (2, 1), n_reorderings, sparse=True)
        import_moses(made.ini, directory / "model")
        export_moses(directory / "model", directory / "moses")
        import_moses(directory / "moses" / "moses.ini", directory / "again")
        names = [open_model(directory / name).description.moses_names for name in ("model", "again")]
        assert names[0] == names[1]
        decoders = [Decoder.load(directory / name, SearchSettings(**UNLIMITED)) for name in ("model", "again")]
        for line in ("a b c", "d x a", "a a b"):
            lists = [decoder.answer(line, Request(n=30, sparse="names")).nbest for decoder in decoders]
            first, second = (render_nbest(0, found, True, True, names[0]).splitlines() for found in lists)
            assert sorted(first) == sorted(second)


def test_sparse_features_keep_the_names_of_their_tables(tmp_path):
    made = make(tmp_path, 5, sparse=True)
    import_moses(made.ini, tmp_path / "model")
    decoder = Decoder.load(tmp_path / "model", SearchSettings(**UNLIMITED))
    names = decoder.model.moses_names
    assert [one.name for one in names] == [
        *("LM0", "Distortion0", "R0", "WordPenalty0", "PhrasePenalty0", "T0", "T0", "T1", "T1")
    ]
    seen = set()
    for one in decoder.answer("a b c d", Request(n=200, sparse="names")).nbest:
        values = {one.sparse_names[key]: value for key, value in one.sparse.items()}
        seen |= values.keys()
        expected = 0.25 * values.get("T0_f", 0) - 0.5 * values.get("T1_f", 0) + 0.125 * values.get("T1_g1", 0)
        assert one.features["pair_sparse"] == pytest.approx(expected, abs=1e-6)
    assert seen == {"T0_f", "T0_g0", "T1_f", "T1_g1"}


def test_a_table_may_have_no_pair_of_a_reordering_table(tmp_path):
    made = make(tmp_path, 5)
    (tmp_path / "table1").write_text("e ||| e ||| 1\n")
    description = import_moses(made.ini, tmp_path / "model")
    assert description.data["pairs_without_reordering"] > 0
    assert {"phrase_table", "phrase_table2", "reordering_table"} < description.data.keys()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "name=R1 type=wbe",
            "name=R1 type=hier",
            "R1: another type than R0, or collapseff; the decoder takes several of",
        ),
        ("path=reordering1", "path=reordering1 default-scores=1,1,1,1,1,1", "R1: default-scores= of a second model"),
        ("1 T 1\n", "0 T 1\n", "[mapping] 0 T 1: expected one table to each path, '0 T 0', '1 T 1'"),
        ("1 T 1\n", "", "T1: in no path of [mapping]; expected '0 T 0', '1 T 1' and so on, a line for each table"),
        ("[mapping]\n", "[decoding-graph-backoff]\n1\n[mapping]\n", "[decoding-graph-backoff]: all paths are tried"),
    ],
)
def test_what_is_refused(tmp_path, old, new, complaint):
    made = make(tmp_path, 5, n_reorderings=2)
    text = made.ini.read_text()
    assert old in text
    made.ini.write_text(text.replace(old, new))
    with pytest.raises(FormatError) as caught:
        import_moses(made.ini, tmp_path / "model")
    assert complaint in str(caught.value)
