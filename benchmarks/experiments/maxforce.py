"""The max-violation perceptron as in Yu et al. (2013, Table 4, Figures 8, 9 and 12): BLEU on development and test sets.

    python -m benchmarks.experiments.maxforce DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tables]

Models, and a file for each run, are kept in DIRECTORY: what is there is not made again, and --tables only prints what
is there. The models, and the tuned ones, are those of expected_bleu.py, which may share the directory. Each run
learns from the first pairs of the training data, or from all if its name says so, with the settings of
configs/maxforce-small.yaml, but for what its name says. Weights are scored as they are after each iteration, and scaled
and tuned as there after the last one. A row of the table has the scores of all seeds, and the rest of the first one.
"""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments.expected_bleu import BASELINE, Texts, Work, make_tuned, read_texts
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.measure import PHRASEBEAM, run, table
from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, save_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.development_set import DevelopmentScorer
from phrasebeam.training.maxforce.config import MaxforceConfig, is_learned
from phrasebeam.training.maxforce.maxforce_model import WORK, train_maxforce, tuning
from phrasebeam.training.maxforce.state import directory_of
from phrasebeam.training.metrics.evaluation import bleu
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.scales import with_best_scales

SENTENCES = {"multi30k": 6000, "ted": 4000, "tanaka": 9000}
ITERATIONS, LONG = 3, 15
CLASSES = 200
SPARSE = "rule_id", "rule_bigram", "rule_history", "word_edges"
SMALL: dict[str, Any] = MaxforceConfig().model_dump(mode="json", exclude={"rates", "seeds", "threads", "memory"})
TUNING = {name: SMALL[name] for name in ("scales", "tune", "development_search")}
EDGES: dict[str, Any] = SMALL["templates"]
RULES = {"rule_id": True}
WORD_CLASSES = [{"kind": "classes", "budget": 3}, {"kind": "classes", "budget": 2, "prefix": 4}]  # maps: with_classes
CLASS_EDGES = EDGES | {"levels": [{"kind": "word", "budget": 5}, *WORD_CLASSES]}
NON_LOCAL = EDGES | {"rule_bigram": True, "rule_history": True}
LEARNING: dict[str, Any] = {name: value for name, value in SMALL.items() if name not in ("scales", "tune")} | {
    "scales": [1.0],
    "tune": None,
    "rates": dict.fromkeys(SPARSE, 1.0),  # as in the paper
    "iterations": ITERATIONS,
    "patience": LONG,  # to the last iteration
}
DENSE = ("translation", "reordering", "language_model", "distortion", "word_penalty", "phrase_penalty")
NARROW: dict[str, Any] = {"search": {"stack": 3, "beam_threshold": 0.0}}
ANY_PAIR: dict[str, Any] = {"gold_table_limit": 0}  # the paper names no limit
WIDE: dict[str, Any] = {"search": {"stack": 30, "beam_threshold": 0.0, "table_limit": 100}}
RUNS: dict[str, dict[str, Any]] = {
    "dense": {"templates": {}, "rates": dict.fromkeys(DENSE, 1.0)},
    "rule-id": {"templates": RULES},
    "standard": {},
    "classes": {"templates": CLASS_EDGES},
    "non-local": {"templates": NON_LOCAL},
    "max-violation": {"update": "max_violation"},
    "early": {"update": "early"},
    "local": {"update": "local"},
    "max-violation, beam 3": NARROW | {"update": "max_violation"},
    "early, beam 3": NARROW | {"update": "early"},
    "standard, beam 3": NARROW,
    "local, beam 3": NARROW | {"update": "local"},
    "max-violation, any pair": ANY_PAIR | {"update": "max_violation"},
    "early, any pair": ANY_PAIR | {"update": "early"},
    "standard, any pair": ANY_PAIR,
    "local, any pair": ANY_PAIR | {"update": "local"},
    "standard, wide": WIDE,
    "aligned": {"forcing": {"aligned": True}},
    "language model not folded": {"lm_folds": 0},
    "nothing left out": {"leave_one_out": None, "lm_folds": 0},
    "max-violation, all data": {"update": "max_violation", "sentences": 0},
    "standard, all data": {"sentences": 0},
    "classes, all data": {"templates": CLASS_EDGES, "sentences": 0},
    "standard, long": {"iterations": LONG},
    "max-violation, long": {"update": "max_violation", "iterations": LONG},
    "standard, all data, long": {"sentences": 0, "iterations": LONG},
    "max-violation, all data, long": {"update": "max_violation", "sentences": 0, "iterations": LONG},
    "rates 0.03, all data": {"rates": dict.fromkeys(SPARSE, 0.03), "sentences": 0},
}
TINY = {"sentences": 60, "iterations": 1, "lm_folds": 2}
TINY_TUNE = {"iterations": 1, "nbest": 10}


def main() -> None:
    parser = parser_of(__doc__, corpus=SENTENCES, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="of the order of sentences, and of tuning")
    parser.add_argument("--tiny", action="store_true", help="a few sentences, to see that it runs")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if not given.tables:
        show_progress()
        for corpus in given.corpus:
            texts = read_texts(corpus, given)
            work = Work(corpus, BASELINE, texts, given.output, given)
            make_tuned(work)
            score_before(work)
            for seed in given.seed:
                for run in given.run:
                    learn(work._replace(run=run), seed)
    for corpus in given.corpus:
        print_table(corpus, given)


def file_of(output: Path, corpus: str, name: str, seed: int = 1) -> Path:
    """Of the numbers of a run."""
    seeded = f"{name}, seed {seed}" if seed != 1 else name
    return output / f"{corpus}.maxforce.{seeded.replace(', ', '.').replace(' ', '-')}.json"


def score_before(work: Work) -> None:
    """Translate both sets with default weights and with tuned ones."""
    for name, model in (("default", work.output / f"{work.corpus}.model"), ("tuned", work.tuned)):
        path = file_of(work.output, work.corpus, name)
        if not path.exists():
            write(path, {"corpus": work.corpus, "run": name} | scores(model, work.texts, path))


def scores(model: Path, texts: Texts, path: Path, kind: str = "") -> dict[str, float]:
    """BLEU of both sets; what was translated is kept beside the file of the numbers."""
    decoder = Decoder.load(model, parse_config(LEARNING["development_search"], SearchSettings, "settings"))
    found = {}
    for name, data in texts.sets.items():
        translations = [one.text for one in decoder.translate_all(read_lines(data.source))]
        with atomic_file(path.with_suffix(f".{kind}{name}")) as file:
            file.write("".join(f"{text}\n" for text in translations).encode())
        found[f"{kind}{name}"] = bleu(translations, list(read_lines(data.references[0])))[0]
    return found


def learn(work: Work, seed: int) -> None:
    """Learn, and tune what was learned, unless that is there."""
    path, given = file_of(work.output, work.corpus, work.run, seed), work.given
    if path.exists():
        return
    more = {"sentences": SENTENCES[work.corpus], "threads": given.threads, "seeds": [seed]}
    settings = LEARNING | more | RUNS[work.run]
    if given.tiny:
        settings |= TINY | {"lm_folds": min(2, settings["lm_folds"])}
    if settings["templates"] == CLASS_EDGES:
        settings["templates"] = with_classes(work)
    config = parse_config(settings, MaxforceConfig, "settings")
    output = path.with_suffix(".model")
    kept = kept_of(work, config)
    for name, directory in kept.items():
        if directory.exists() and not output.exists():
            shutil.copytree(directory, output / WORK / name)
    trained = train_maxforce(work.tuned, work.texts.training, work.texts.sets["dev"], output, config)
    found: dict[str, Any] = {"corpus": work.corpus, "run": work.run}
    found["epochs"] = [one.model_dump() for one in trained.progress[seed].iterations]
    for name, directory in kept.items():
        if not directory.exists() and (output / WORK / name).exists():
            shutil.copytree(output / WORK / name, directory)
    write(path, found | retuned(work, output, path, seed))
    shutil.rmtree(output)


def with_classes(work: Work) -> dict[str, Any]:
    """CLASS_EDGES with classes of the training data's words."""
    paths = {}
    for side, text in (("source", work.texts.training.source), ("target", work.texts.training.target)):
        paths[side] = str(work.output / f"{work.corpus}.{side}.paths")
        if not Path(paths[side]).exists():
            run([*PHRASEBEAM, "cluster", f"--text={text}", f"--classes={CLASSES}", f"--output={paths[side]}"])
    levels = [level | (paths if level["kind"] == "classes" else {}) for level in CLASS_EDGES["levels"]]
    return CLASS_EDGES | {"levels": levels}


def kept_of(work: Work, config: MaxforceConfig) -> dict[str, Path]:
    """Where what does not depend on features is kept for other runs: language models, and gold lattices."""
    kind = "aligned" if config.forcing.aligned else "all"
    kind += ".all-pairs" if not config.sentences else ""
    limit = config.search.table_limit if config.gold_table_limit is None else config.gold_table_limit
    kind += f".{limit}-a-phrase" if limit else ".any-pair"
    kind += "" if config.leave_one_out else ".nothing-left-out"
    kinds = {"lattices": kind} | ({"lm_folds": str(config.lm_folds)} if config.lm_folds else {})
    return {name: work.output / f"{work.corpus}.maxforce.{name}.{kind}" for name, kind in kinds.items()}


def take_last(model: Path, seed: int) -> SparseWeights:
    """Give the model the averaged weights after the last iteration; the sparse ones."""
    with np.load(directory_of(model / WORK, seed) / "shard-0.npz") as arrays:
        dense, sparse, _ = LearnedWeights.restored(dict(arrays)).average()
    features = Decoder.load(model).features
    save_config(Weights.model_validate(features.by_group(dense)), model / "weights.yaml")
    if (model / "sparse").exists():
        save_sparse_weights(sparse, model / "sparse")
    accept_files(model)
    return sparse


def retuned(work: Work, model: Path, path: Path, seed: int) -> dict[str, Any]:
    """BLEU with scaled groups and tuned dense weights, as by default, and the scales."""
    sparse = take_last(model, seed)
    tune = TUNING["tune"] | (TINY_TUNE if work.given.tiny else {})
    config = parse_config(TUNING | {"tune": tune, "threads": work.given.threads}, MaxforceConfig, "settings")
    decoder = Decoder.load(model, config.development_search)
    read = work.texts.sets["dev"].read(config)
    tune = tuning(read, config, seed, model / WORK / "tuning", work.run)
    development = DevelopmentScorer(read, decoder, tune)
    learned = [name for name in GROUPS if is_learned(name, config)]
    scaled = with_best_scales(development, decoder.model.weights, sparse, learned, config.scales)
    dense = development.score_tuned("retuned", scaled, sparse)[1]
    weights = Weights.model_validate(decoder.features.by_group(dense))
    save_config(weights, model / "weights.yaml")
    accept_files(model)
    found: dict[str, Any] = dict(scores(model, work.texts, path, "tuned_"))
    found["scales"] = {name: getattr(weights, name) for name in GROUPS if getattr(weights, name) is not None}
    return found


def print_table(corpus: str, given: argparse.Namespace) -> None:
    """A row for each run."""
    found = []
    for name in ["default", "tuned", *RUNS]:
        paths = [file_of(given.output, corpus, name, seed) for seed in sorted({1, *given.seed})]
        found.append([json.loads(path.read_text()) for path in paths if path.exists()])
    if any(found):
        heading = ["", "sparse features", "dev by iteration", "dev, tuned", "test, tuned", "scales", "invalid"]
        heading += ["place", "sentences/s"]
        print(f"\n### {corpus}\n\n{table([heading, *map(row, filter(None, found))])}", flush=True)


def row(seeds: Sequence[dict[str, Any]]) -> list[str]:
    """The numbers of a run with each of its seeds."""
    found = seeds[0]
    if "epochs" not in found:
        return [found["run"], "", "", f"{found['dev']:.2f}", f"{found['test']:.2f}", "", "", "", ""]
    epochs = found["epochs"]
    curve = ", ".join(f"{epoch['score']:.2f}" for epoch in epochs[1:])
    after = [", ".join(f"{one[f'tuned_{name}']:.2f}" for one in seeds) for name in ("dev", "test")]
    names = "updates", "invalid", "place", "examples", "seconds"
    updates, invalid, place, examples, seconds = (sum(one[name] for one in epochs) for name in names)
    shares = [f"{100 * invalid / max(updates, 1):.1f}%", f"{100 * place / max(updates, 1):.0f}%"]
    scales = ", ".join(f"{value:.2f}" for value in found["scales"].values())
    speed = f"{examples / max(seconds, 1e-9):.0f}"
    return [found["run"], f"{epochs[-1]['features']:,}", curve, *after, scales, *shares, speed]


if __name__ == "__main__":
    main()
