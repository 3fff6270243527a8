"""What more text brings to a language with few sentence pairs: monolingual text, back-translation, a dictionary.

    python -m benchmarks.few_pairs.added_text DATA --output DIR [--corpus bzd ...] [--system NAME ...] [--seed N ...]

The training pairs of a corpus are divided: a part is used as pairs, and of the rest only some text.

- pairs alone: the recipe small with these pairs, without ranking, model of letters and second model.
- language model: and a language model of the target side of the rest.
- back-translation: and pairs of the target side of the rest with its translations by a model of the other direction,
  trained from the same pairs.
- weighted back-translation: the same, with each pair three times, and each back-translation once.
- half back-translated: only the first half of the target side of the rest is back-translated.
- two rounds: the model of that translates the source side of the second half of the rest; a model of the other
  direction is trained from the pairs and these translations, and back-translates the first half again.
- both: language model and back-translation.
- dictionary: and a dictionary of the likeliest translation of each word of the rest, from its word alignment.
- all pairs: the rest as pairs, as a bound.

DATA has americasnlp/LANG.train.es, LANG.train.LANG and the same for dev, from which nothing is learned; and ted/ and
multi30k/. Finished runs in DIR are not repeated. Scores are sacrebleu's. The table of results is printed as CSV.
"""

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.few_pairs.recipes import processor_seconds
from benchmarks.measure import PHRASEBEAM
from benchmarks.measure import run as run_command
from phrasebeam import train, translate
from phrasebeam.api.config import CONFIGS
from phrasebeam.base.files import read_lines, write_lines
from phrasebeam.training.recipe_texts.held_out_pairs import WORD, newest_pairs
from phrasebeam.training.recipe_texts.varieties import written_otherwise

FEW, HELD_OUT = 5_000, 400  # pairs of larger corpora that are used as pairs; pairs that are tuned on
LEAST_LINKS, LEAST_JACCARD = 2, 0.1  # of an entry of the dictionary: links, and links / occurrences of either word
WEIGHT = 3  # how often a pair counts in weighted back-translation
NOT_MEASURED = {"train-ranking", "letter-model", "second-model"}  # stages that are left out
SYSTEMS = (
    "pairs alone",
    "language model",
    "back-translation",
    "weighted back-translation",
    "half back-translated",
    "two rounds",
    "both",
    "dictionary",
    "all pairs",
)
LARGER = {"ted": ("dev", "devtest"), "multi30k": ("val", "test_2016_flickr")}  # names of development and test sets
Pairs = Sequence[tuple[str, str]]


class Divided(NamedTuple):
    """The pairs and the rest of a corpus, its development and test files, and its languages, if it is raw text."""

    pairs: Pairs
    rest: Pairs
    dev: Sequence[Path]
    test: Sequence[Path]
    languages: tuple[str, str] | None


def main() -> None:
    parser = parser_of(__doc__, corpus=("bzd", "shp", *LARGER), system=SYSTEMS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1])
    given = parser.parse_args()
    rows = []
    for corpus in given.corpus:
        for system in given.system:
            for seed in given.seed:
                path = given.output / f"{corpus}.{system.replace(' ', '-')}.{seed}.json"
                if not path.exists() and not given.tables:
                    write(path, measured(corpus, system, seed, given))
                if path.exists():
                    found = json.loads(path.read_text())
                    rows.append([corpus, system, seed, *found["scores"], f"{found['cpu'] / 60:.1f}"])
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerows([["corpus", "system", "seed", "chrF++", "BLEU", "processor minutes"], *rows])


def measured(corpus: str, system: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """Scores of the last stage on the test set, and the processor seconds of the run with its child processes."""
    work: Path = given.output / corpus
    work.mkdir(parents=True, exist_ok=True)
    data, begun = divided(corpus, given.data, work), processor_seconds()
    added = dict[str, Any]()
    if system in ("language model", "both"):
        added["lm_text"] = [write_side(work / "rest.target", data.rest, 1)]
    if system == "dictionary":
        added["dictionary"] = dictionary(data.rest, work)
    pairs = [*data.pairs] * (WEIGHT if system == "weighted back-translation" else 1)
    pairs += added_pairs(system, data, work)
    result = trained(small(), pairs, data, work / system.replace(" ", "-"), seed=seed, **added)
    scores = [record.test.scores for record in result.stages.values() if record.test][-1]
    return {"scores": [round(scores[name], 2) for name in ("chrf++", "bleu")], "cpu": processor_seconds() - begun}


def added_pairs(system: str, data: Divided, work: Path) -> Pairs:
    """The rest as pairs, or back-translated pairs."""
    half = data._replace(rest=data.rest[: len(data.rest) // 2])
    if system in ("back-translation", "both", "weighted back-translation"):
        return back_translated(data.pairs, data, work, "rest")
    if system == "half back-translated":
        return back_translated(data.pairs, half, work, "half")
    if system == "two rounds":
        first = [*data.pairs, *back_translated(data.pairs, half, work, "half")]
        trained(small(), first, data, work / "forward")
        sources = write_side(work / "second.source", data.rest[len(half.rest) :], 0)
        translations = translate(model=work / "forward", input=sources)
        return back_translated([*data.pairs, *zip(read_lines(sources), translations)], half, work, "again")
    return data.rest if system == "all pairs" else []


def small() -> dict[str, Any]:
    """The recipe small without the stages that take most time, for texts of one spelling."""
    recipe = yaml.safe_load((CONFIGS / "recipe-small.yaml").read_text())
    kept = [stage for stage in recipe["stages"] if stage["kind"] not in NOT_MEASURED]
    recipe["stages"] = [stage | ({"evidence": [0.0]} if stage["kind"] == "mbr" else {}) for stage in kept]
    return dict(recipe | {"varieties": "all", "twins": {"left_out_of": "nothing"}})


def divided(corpus: str, data: Path, work: Path) -> Divided:
    """The texts of a corpus: half of the pairs of one spelling, or the first pairs of a larger corpus."""
    if corpus in LARGER:
        languages, (dev, test) = ("de", "en"), LARGER[corpus]
        dev_files, test_files = ([data / corpus / f"{name}.{one}" for one in languages] for name in (dev, test))
        pairs = read_pairs([data / corpus / f"train.{one}" for one in languages])
        return Divided(pairs[:FEW], pairs[FEW:], dev_files, test_files, None)
    place = data / "americasnlp"
    pairs = read_pairs([place / f"{corpus}.train.{one}" for one in ("es", corpus)])
    others = written_otherwise(*map(list, zip(*pairs)))
    pairs = [pair for pair, is_other in zip(pairs, others) if not is_other]
    held_out = newest_pairs(*map(list, zip(*pairs)), HELD_OUT)
    chosen = [pair for pair, is_chosen in zip(pairs, held_out) if is_chosen]
    left = [pair for pair, is_chosen in zip(pairs, held_out) if not is_chosen]
    first = np.zeros(len(left), bool)
    first[np.random.default_rng(1).permutation(len(left))[: len(left) // 2]] = True
    parts = ([pair for pair, is_first in zip(left, first) if is_first == wanted] for wanted in (True, False))
    dev_files = [write_side(work / f"dev.{side}", chosen, side) for side in (0, 1)]
    return Divided(*parts, dev_files, [place / f"{corpus}.dev.{one}" for one in ("es", corpus)], ("es", corpus))


def trained(recipe: Any, pairs: Pairs, data: Divided, output: Path, is_reversed: bool = False, **options: Any) -> Any:
    """Train a recipe with these pairs, or with source and target reversed."""
    order = (1, 0) if is_reversed else (0, 1)
    texts = [write_side(output.with_name(f"{output.name}.{side}"), pairs, side) for side in order]
    if data.languages:
        source, target = (data.languages[side] for side in order)
        options |= {"raw": True, "source_language": source, "target_language": target}
    if not is_reversed:
        options |= {"test_source": data.test[0], "test_reference": [data.test[1]]}
    return train(*texts, *(data.dev[side] for side in order), output, recipe=recipe, threads=1, force=True, **options)


def back_translated(pairs: Pairs, data: Divided, work: Path, name: str) -> list[tuple[str, str]]:
    """Pairs of the target side of the rest and its translations, by a model of `pairs`; made unless they exist."""
    target, source = write_side(work / f"{name}.target", data.rest, 1), work / f"{name}.translated"
    if not source.exists():
        recipe = yaml.safe_load((CONFIGS / "recipe-small.yaml").read_text()) | {"metric": "bleu", "varieties": "all"}
        recipe["stages"] = recipe["stages"][:2]
        trained(recipe | {"twins": {"left_out_of": "nothing"}}, pairs, data, work / f"{name}.reversed", True)
        write_lines(source, translate(model=work / f"{name}.reversed", input=target))
    return read_pairs([source, target])


def dictionary(rest: Pairs, work: Path) -> Path:
    """A dictionary of the words of the rest that are aligned often enough with their likeliest translation."""
    tokens = [[WORD.findall(pair[side].lower()) for pair in rest] for side in (0, 1)]
    files = [work / f"rest.tokens.{side}" for side in (0, 1)]
    for path, sentences in zip(files, tokens):
        write_lines(path, map(" ".join, sentences))
    alignment = work / "rest.alignment"
    run_command([*PHRASEBEAM, "align", f"--source={files[0]}", f"--target={files[1]}", f"--output={alignment}"])
    links, counts = Counter[tuple[str, str]](), [Counter[str](), Counter[str]()]
    for source, target, line in zip(*tokens, read_lines(alignment)):
        counts[0].update(source)
        counts[1].update(target)
        links.update((source[int(i)], target[int(j)]) for i, j in (link.split("-") for link in line.split()))
    likeliest = dict[str, tuple[float, str]]()
    for (source, target), n in links.items():
        share = n / (counts[0][source] + counts[1][target] - n)
        if n >= LEAST_LINKS and share >= LEAST_JACCARD and source[0].isalpha() and target[0].isalpha():
            likeliest[source] = max(likeliest.get(source, (0.0, "")), (share, target))
    path = work / "dictionary.tsv"
    write_lines(path, (f"{source}\t{target}" for source, (_, target) in likeliest.items()))
    return path


def read_pairs(paths: Sequence[Path]) -> list[tuple[str, str]]:
    """The pairs of two parallel files of which both sides have words."""
    return [(source, target) for source, target in zip(*map(read_lines, paths)) if source.strip() and target.strip()]


def write_side(path: Path, pairs: Pairs, side: int) -> Path:
    """Write the sources (side 0) or the targets (1) of the pairs; returns `path`."""
    write_lines(path, (pair[side] for pair in pairs))
    return path


if __name__ == "__main__":
    main()
