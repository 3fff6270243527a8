"""The gain of ranking and online tuning over expected BLEU and the perceptron: BLEU on development and test sets.

    python -m benchmarks.experiments.added_trainers DATA --output DIRECTORY [--corpus NAME ...] [--seed N ...]
        [--added ranking online] [--epochs N]

Ranking learns from all pairs, with the defaults of train-ranking. It starts from the tuned model ("ranking"), or from
the perceptron's model, whose weights it trains further ("perceptron, then ranking"). The learned features are joined
with those of expected BLEU, as by join-features, and everything is tuned.

Online tuning uses the features of Green et al. (2013), as in online_tuning.py. It starts from the tuned model, from
expected BLEU's and from the perceptron's; their own sparse features keep their weights. It tunes on two thirds of the
development set; the other sentences, every third one, choose the epoch. Features that online tuning learned from
default weights, without rule ids, are joined with these models and everything is tuned ("beside online"). "tuned again"
are these models tuned without them.

The other models are those of both_trainers.py, which may share DIRECTORY. Files that exist in DIRECTORY are not made
again.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.experiments import both_trainers
from benchmarks.experiments.both_trainers import EXPECTED_BLEU, TUNE, alone, file_of_seeds, row, works
from benchmarks.experiments.expected_bleu import Work
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.maxforce.learning import file_of, scores
from benchmarks.experiments.maxforce.runs import TINY, TINY_TUNE
from benchmarks.experiments.online_tuning import COMMON, PLAIN, RICH, RUNS, split
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.joining.joined_model import join_features
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_model import OnlineData
from phrasebeam.training.tuning.run_state import RunResult
from phrasebeam.training.tuning.tune_model import tune_model

EPOCHS = 4  # epochs of ranking
ADDED = "ranking", "online"


def main() -> None:
    parser = parser_of(__doc__, corpus=EXPECTED_BLEU)
    parser.add_argument("--added", nargs="+", choices=ADDED, default=ADDED)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of ranking")
    for work in works(parser):
        if not work.given.tables:
            make_all(work)
        print_table(work)


def make_all(work: Work) -> None:
    """Make all models of a corpus, and score them."""
    for seed in work.given.seed:
        if "ranking" in work.given.added:
            make_ranking(work, seed)
        both_trainers.make(work, [seed])
        if "ranking" in work.given.added:
            add_to_perceptron(work, seed)
        for name in begun_with(work) if "online" in work.given.added else ():
            tune_online(work, name, seed)
            put_online_beside(work, name, seed)
            tune_again(work, name, seed)


def begun_with(work: Work) -> dict[str, Path]:
    """The models from which online tuning starts; the perceptron's is that of the last seed."""
    perceptron = work.output / f"{work.corpus}.both.perceptron"
    return {"tuned": work.tuned, "expected BLEU": work.path("model"), "perceptron": perceptron}


def file_of_ranking(work: Work, kind: str, seed: int) -> Path:
    return work.output / f"{work.corpus}.ranking.{kind}.{seed}.json"


def learn(work: Work, model: Path, output: Path, seed: int) -> list[float]:
    """Train by ranking, starting from `model`; return the development score of each epoch."""
    tiny = {**TINY, "tune": RankingConfig().model_dump(mode="json")["tune"] | TINY_TUNE} if work.given.tiny else {}
    settings = {
        "seed": seed,
        "iterations": work.given.epochs,
        "workers": work.given.threads,
        "threads": work.given.threads,
    } | tiny
    config = parse_config(settings, RankingConfig, "settings")
    progress = train_ranking(model, work.texts.training, work.texts.sets["dev"], output, config)
    return [one.score for one in progress.iterations]


def make_ranking(work: Work, seed: int) -> None:
    """Train by ranking from the tuned model, and score the result alone and joined with expected BLEU."""
    path = file_of_ranking(work, "beside", seed)
    if path.exists():
        return
    ranked = path.with_suffix(".ranked")
    curve = learn(work, work.tuned, ranked, seed)
    both = put_beside(work, work.path("model"), ranked, path, seed)
    found = scores(ranked, work.texts, path, "ranking_") | scores(both, work.texts, path, "both_")
    write(path, {"curve": curve} | found)


def put_beside(work: Work, model: Path, features: Path, path: Path, seed: int) -> Path:
    """Add the sparse features of another model to `model` and tune everything; return the tuned model.

    Both models are named after `path`.
    """
    joined, both = path.with_suffix(".joined"), path.with_suffix(".tuned")
    join_features(model, features, joined)
    tune_all(work, joined, both, seed)
    return both


def tune_all(work: Work, model: Path, output: Path, seed: int) -> None:
    """Tune the dense weights and scales of `model` by corpus-level MIRA."""
    settings = TUNE | {"seeds": [seed], "threads": work.given.threads} | (TINY_TUNE if work.given.tiny else {})
    tune_model(model, work.texts.sets["dev"], output, parse_config(settings, TuneConfig, "settings"))


def tune_again(work: Work, name: str, seed: int) -> None:
    """Tune the model `name` without further features, to measure what tuning alone adds."""
    path = file_of_online(work, f"nothing beside {name}", seed)
    if not path.exists():
        tune_all(work, begun_with(work)[name], path.with_suffix(".tuned"), seed)
        write(path, dict(scores(path.with_suffix(".tuned"), work.texts, path, "both_")))


def add_to_perceptron(work: Work, seed: int) -> None:
    """Train by ranking from the perceptron's model of this seed; score it alone and joined with expected BLEU."""
    path = file_of_ranking(work, "then", seed)
    if path.exists():
        return
    learned = path.with_suffix(".ranked")
    curve = learn(work, work.output / f"{work.corpus}.both.perceptron", learned, seed)
    both = put_beside(work, work.path("model"), learned, path, seed)
    found = scores(learned, work.texts, path, "then_") | scores(both, work.texts, path, "both_")
    write(path, {"curve": curve} | found)


def file_of_online(work: Work, name: str, seed: int) -> Path:
    return work.output / f"{work.corpus}.online.{name.replace(' ', '-')}.{seed}.json"


def tune_online(work: Work, name: str, seed: int) -> None:
    """Tune online, starting from the model `name`, whose sparse features keep their weights."""
    path, begun = file_of_online(work, name, seed), begun_with(work)[name]
    if path.exists():
        return
    own = [group for group in GROUPS if getattr(open_model(begun).weights, group) is not None]
    tuned = path.with_suffix(".tuned")
    result = learn_online(work, begun, tuned, seed, RUNS["rich"] | {"fixed": own})
    found = {"held_out": result.score, "held_out_before": result.before, "best": result.best}
    write(path, found | scores(tuned, work.texts, path, "online_"))


def learn_online(work: Work, begun: Path, output: Path, seed: int, more: dict[str, Any]) -> RunResult:
    """Tune online on two thirds of the development set; the other third chooses the epoch."""
    settings = COMMON | more | {"seeds": [seed], "threads": work.given.threads, "online": PLAIN | more["online"]}
    if work.given.tiny:
        settings |= {"iterations": 1, "nbest": 10}
    config = parse_config(settings, TuneConfig, "settings")
    tuned_on, held_out = split(work.texts.sets["dev"], work.output / f"{work.corpus}.data")
    return tune_model(begun, tuned_on, output, config, online=OnlineData(None, held_out))[0]


def put_online_beside(work: Work, name: str, seed: int) -> None:
    """Join what online tuning learned from default weights with the features of the model `name`; tune everything.

    Rule ids are left out, since the perceptron has them, too.
    """
    path = file_of_online(work, f"beside {name}", seed)
    if path.exists():
        return
    learned, begun = work.output / f"{work.corpus}.online.default.{seed}", work.output / f"{work.corpus}.model"
    if not (learned / "model.yaml").exists():
        templates = {group: is_there for group, is_there in RICH.items() if group != "rule_id"}
        learn_online(work, begun, learned, seed, {"online": RUNS["rich"]["online"] | {"templates": templates}})
    both = put_beside(work, begun_with(work)[name], learned, path, seed)
    write(path, dict(scores(both, work.texts, path, "both_")))


def print_table(work: Work) -> None:
    """Print a row for each model that exists."""
    before = file_of(work.output, work.corpus, "tuned")
    rows = [["", "dev", "test", "p"]]
    rows += [
        row(work, name, path) for name, path in (("tuned", before), ("expected BLEU", alone(work))) if path.exists()
    ]
    for seed in work.given.seed:
        beside, then = (file_of_ranking(work, kind, seed) for kind in ("beside", "then"))
        places = {
            "ranking": (beside, "ranking_"),
            "ranking and expected BLEU": (beside, "both_"),
            "perceptron": (file_of_seeds(work, [seed]), "perceptron_"),
            "perceptron, then ranking": (then, "then_"),
            "perceptron, then ranking, and expected BLEU": (then, "both_"),
        }
        for name in begun_with(work):
            places[f"{name}, then online"] = (file_of_online(work, name, seed), "online_")
            places[f"{name}, tuned again"] = (file_of_online(work, f"nothing beside {name}", seed), "both_")
            places[f"{name}, beside online"] = (file_of_online(work, f"beside {name}", seed), "both_")
        rows += [row(work, f"{name}, seed {seed}", *place) for name, place in places.items() if place[0].exists()]
        curves = {path.stem: json.loads(path.read_text())["curve"] for path in (beside, then) if path.exists()}
        for name, curve in curves.items():
            print(f"{name}: " + ", ".join(f"{score:.2f}" for score in curve))
    print(f"\n### {work.corpus}\n\n{table(rows)}", flush=True)


if __name__ == "__main__":
    main()
