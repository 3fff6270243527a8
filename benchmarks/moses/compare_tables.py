"""Build phrase tables, reordering tables and language model of a bitext, and compare them with those of Moses.

    python -m benchmarks.moses.compare_tables DATA [--source fr --target en --alignment align.fr-en]

DATA/europarl10k has the bitext. DATA/reference/europarl10k has phrase-table.gz, lex.{e2f,f2e}.gz and
reordering-table.*.gz, as `train-model.perl` writes them, and lm4.arpa.gz of the target side, written by
`lmplz --discount_fallback`. The exit status is 1 if anything differs by more than TOLERANCE.
"""

import argparse
import gzip
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.tables.phrase_table import PhraseTable, open_phrase_table, open_reordering_table
from phrasebeam.lm.arpa import read_arpa
from phrasebeam.lm.estimate import estimate
from phrasebeam.training.bitext.parallel_text import Bitext, read_bitext
from phrasebeam.training.model_building.extraction import align_bitext
from phrasebeam.training.model_building.lexical import lexical_table
from phrasebeam.training.model_building.scoring import PhraseTableSettings, build_phrase_table
from phrasebeam.training.word_alignment.alignment_points import Alignments, read_pharaoh

TOLERANCE = 1e-4  # absolute difference of probabilities (log10 in the language model): Moses writes 6 digits
LANGUAGE_MODEL_ORDER = 4
REORDERING = {"wbe-msd": ("word", "msd"), "hier-msd": ("hier", "msd"), "phrase-mslr": ("phrase", "mslr")}
SCORES = ("p(f|e)", "lex(f|e)", "p(e|f)", "lex(e|f)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", default="europarl10k")
    parser.add_argument("--source", default="fr")
    parser.add_argument("--target", default="en")
    parser.add_argument("--alignment", default="align.fr-en")
    arguments = parser.parse_args()
    corpus, reference = arguments.data / arguments.corpus, arguments.data / "reference" / arguments.corpus
    bitext = read_bitext(corpus / arguments.source, corpus / arguments.target)
    [alignments] = read_pharaoh(corpus / arguments.alignment, bitext.source, bitext.target)
    agreed = compare_language_models(corpus / arguments.target, reference / f"lm{LANGUAGE_MODEL_ORDER}.arpa.gz")
    agreed &= compare_lexical(bitext, alignments, reference)
    with tempfile.TemporaryDirectory() as directory:
        for name, (orientation, kind) in REORDERING.items():
            output = Path(directory) / name
            settings = PhraseTableSettings(reordering=Reordering(orientation=orientation, kind=kind))
            start = time.perf_counter()
            build_phrase_table(bitext.source, bitext.target, [alignments], output, settings)
            print(f"{name}: built in {time.perf_counter() - start:.1f} s")
            table = open_phrase_table(output / "phrases")
            if name == "wbe-msd":
                rows = rows_by_name(table, bitext)
                agreed &= compare_phrases(table, rows, reference / "phrase-table.gz")
            scores = open_reordering_table(output / "reordering", table.joint_counts.size).ln_scores
            agreed &= compare_reordering(scores, rows, reference / f"reordering-table.{name}-bidirectional-fe.gz")
    sys.exit(0 if agreed else 1)


def fields(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n").split(" ||| ")


def rows_by_name(table: PhraseTable, bitext: Bitext) -> dict[tuple[str, str], int]:
    """The row of each pair of source and target phrase."""
    sources = phrases(table.source_offsets, table.source_words, bitext.source_vocabulary.words)
    targets = phrases(table.target_offsets, table.target_words, bitext.target_vocabulary.words)
    source_of = np.repeat(np.arange(len(sources)), np.diff(table.pair_offsets)).tolist()
    return {(sources[s], target): row for row, (s, target) in enumerate(zip(source_of, targets))}


def phrases(offsets: np.ndarray, words: np.ndarray, vocabulary: list[str]) -> list[str]:
    ends, ids = offsets.tolist(), words.tolist()
    return [" ".join([vocabulary[i] for i in ids[begin:end]]) for begin, end in pairwise(ends)]


def compare_language_models(text: Path, reference: Path) -> bool:
    start = time.perf_counter()
    model = estimate(text, LANGUAGE_MODEL_ORDER)
    print(f"language model: estimated in {time.perf_counter() - start:.1f} s")
    other, agreed = read_arpa(reference), True
    if set(other.vocabulary.words) != set(model.vocabulary.words):
        print(f"{reference.name}: NOT the same words")
        return False
    our_id = model.vocabulary.ids(other.vocabulary.words)
    for n, (ours, theirs) in enumerate(zip(model.orders, other.orders), 1):
        words = our_id[theirs.words]
        mine, others = (np.lexsort(rows.T) for rows in (ours.words, words))
        same = np.array_equal(ours.words[mine], words[others])
        print(f"{reference.name}: {len(words)} {n}-grams, {'the same' if same else f'NOT our {len(ours.words)}'}")
        if not same:
            agreed = False
            continue
        for name in ("log10_prob", "log10_backoff"):
            worst = np.abs(getattr(ours, name)[mine] - getattr(theirs, name)[others]).max()
            print(f"  {name}: largest difference {worst:.2g}")
            agreed &= bool(worst <= TOLERANCE)
    return agreed and len(model.orders) == len(other.orders)


def compare_lexical(bitext: Bitext, alignments: Alignments, reference: Path) -> bool:
    table = lexical_table(align_bitext(bitext.source, bitext.target, alignments))
    source, target = bitext.source_vocabulary.words, bitext.target_vocabulary.words
    names = [(source[s], target[t]) for s, t in table.words.tolist()]
    of_target = dict(zip(names, table.target_prob.tolist()))
    of_source = dict(zip(names, table.source_prob.tolist()))
    of_target |= {("NULL", target[i]): p for i, p in enumerate(table.target_null_prob.tolist()) if p}
    of_source |= {(source[i], "NULL"): p for i, p in enumerate(table.source_null_prob.tolist()) if p}
    agreed = True
    for file, probs in (("lex.f2e.gz", of_target), ("lex.e2f.gz", of_source)):
        moses = {}
        for line in fields(reference / file):
            outcome, given, prob = line[0].split(" ")
            if outcome == "NULL":  # such lines are in Moses' files, but are never used
                continue
            moses[(given, outcome) if file == "lex.f2e.gz" else (outcome, given)] = float(prob)
        same = moses.keys() == probs.keys()
        worst = max(abs(prob - probs.get(name, 0.0)) for name, prob in moses.items())
        print(
            f"{file}: {len(moses)} word pairs, {'the same' if same else 'NOT the same'}; largest difference {worst:.1g}"
        )
        agreed &= same and worst < TOLERANCE
    return agreed


def compare_phrases(table: PhraseTable, rows: dict[tuple[str, str], int], path: Path) -> bool:
    probs = np.exp(table.ln_scores.astype(np.float64))
    source_counts = np.repeat(table.source_counts, np.diff(table.pair_offsets))
    counts = np.column_stack((table.target_counts, source_counts, table.joint_counts))
    moses = np.zeros_like(probs)
    n_absent = n_alignments = n_counts = n_found = 0
    for line in fields(path):
        row = rows.get((line[0], line[1]))
        if row is None:
            n_absent += 1
            continue
        n_found += 1
        moses[row] = [float(prob) for prob in line[2].split(" ")]
        points = table.alignment_points[table.alignment_offsets[row] : table.alignment_offsets[row + 1]]
        n_alignments += line[3].split() != [f"{s}-{t}" for s, t in points.tolist()]
        n_counts += [float(count) for count in line[4].split(" ")] != counts[row].tolist()
    print(f"{path.name}: {n_found} pairs in both, {n_absent} only in Moses', {len(rows) - n_found} only in ours")
    print(f"  other alignment: {n_alignments}; other counts: {n_counts}")
    return compare_columns(probs, moses, SCORES) and not n_absent + n_alignments + n_counts + len(rows) - n_found


def compare_columns(probs: np.ndarray, moses: np.ndarray, names: tuple[str, ...]) -> bool:
    differences = np.abs(probs - moses)
    relative = differences / np.maximum(moses, 1e-300)
    for i, name in enumerate(names):
        print(
            f"  {name}: largest difference {differences[:, i].max():.2g}, relative {relative[:, i].max():.2g}; "
            f"beyond {TOLERANCE}: {(differences[:, i] > TOLERANCE).sum()}, "
            f"beyond 1e-3 relative: {(relative[:, i] > 1e-3).sum()}"
        )
    return bool((differences <= TOLERANCE).all())


def compare_reordering(ln_scores: np.ndarray, rows: dict[tuple[str, str], int], path: Path) -> bool:
    probs = np.exp(ln_scores.astype(np.float64))
    moses = np.full_like(probs, np.nan)
    for line in fields(path):
        moses[rows[line[0], line[1]]] = [float(prob) for prob in line[2].split(" ")]
    print(f"{path.name}: {np.isnan(moses).any(axis=1).sum()} pairs only in ours")
    return compare_columns(probs, np.nan_to_num(moses), tuple(f"column {i + 1}" for i in range(probs.shape[1])))


if __name__ == "__main__":
    main()
