"""Makes runs of the perceptron: learns, and scores what was learned as it is and after tuning."""

import argparse
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments.expected_bleu import BASELINE, Texts, Work, make_tuned, read_texts
from benchmarks.experiments.expected_bleu import tuning as of_tuning
from benchmarks.experiments.kept_runs import write
from benchmarks.experiments.maxforce.runs import (
    CLASSES,
    FIGURE_9,
    FIGURES,
    LEARNING,
    PAPER_SEARCH,
    PEAK,
    PENALTIES,
    RUNS,
    SEARCHES,
    SENTENCES,
    TINY,
    TINY_TUNE,
    TUNING,
)
from benchmarks.measure import PHRASEBEAM, run
from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.tables.provenance import WORK_FILES
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.development_set import DevelopmentScorer, read_development
from phrasebeam.training.common.scales import with_best_scales
from phrasebeam.training.maxforce.config import MaxforceConfig, is_learned
from phrasebeam.training.maxforce.maxforce_model import WORK, train_maxforce, tuning
from phrasebeam.training.maxforce.state import directory_of
from phrasebeam.training.metrics.evaluation import bleu
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

MERT = "mert"


def make_runs(corpus: str, given: argparse.Namespace) -> None:
    """Make all runs on a corpus with one search."""
    work = Work(corpus, BASELINE, read_texts(corpus, given), given.output, given)
    make_tuned(work)
    if given.search == "paper":
        tune_for_paper(work)
    score_before(work, start_of(work), given.search, variant_of_start(given))
    for seed, name in product(given.seed, given.run):
        learn(work._replace(run=name), seed)


def with_search(given: argparse.Namespace, search: str) -> argparse.Namespace:
    """The options of the command with a single search."""
    return argparse.Namespace(**vars(given) | {"search": search})


def variant(given: argparse.Namespace) -> str:
    """A part of file names for the options that change all runs; it is empty, or begins with a dot."""
    prefixes = f".{given.prefixes}-prefixes" if given.prefixes != "longest" else ""
    flags = ".nuisances" * given.nuisances + ".all-pairs" * given.all_pairs
    flags += f".{given.iterations}-iterations" * (given.iterations != PEAK)
    return variant_of_start(given) + prefixes + flags


def variant_of_start(given: argparse.Namespace) -> str:
    """The part of `variant` that also applies to baselines: the search, and the method that tuned for it."""
    return "" if given.search == "ours" else f".{given.search}-search" + f".{given.tuned_by}" * (given.tuned_by != MERT)


def start_of(work: Work) -> Path:
    """The model that runs start from, tuned for their search."""
    variant = variant_of_start(work.given).replace(".paper-search", ".tuned-for-paper")
    return work.output / f"{work.corpus}{variant}" if variant else work.tuned


def tune_for_paper(work: Work) -> None:
    """Tune the model for the search of the paper, unless that has been done."""
    if not (start_of(work) / "model.yaml").exists():
        settings = of_tuning(work.given) | {"method": work.given.tuned_by, "seeds": [1], "search": PAPER_SEARCH}
        config = parse_config(settings, TuneConfig, "settings")
        tune_model(work.output / f"{work.corpus}.model", work.texts.sets["dev"], start_of(work), config)


def file_of(output: Path, corpus: str, name: str, seed: int = 1) -> Path:
    """The file with the numbers of a run."""
    seeded = f"{name}, seed {seed}" if seed != 1 else name
    return output / f"{corpus}.maxforce.{seeded.replace(', ', '.').replace(' ', '-')}.json"


def score_before(work: Work, start: Path, search: str = "ours", variant: str = "") -> None:
    """Score default weights, and those of the model `start` that runs start from, on both sets; by `search`.

    `variant` is a part of the file names.
    """
    for name, model in (("default", work.output / f"{work.corpus}.model"), ("tuned", start)):
        path = file_of(work.output, work.corpus, name + variant)
        if not path.exists():
            found = scores(model, work.texts, path, search=SEARCHES[search])
            write(path, {"corpus": work.corpus, "run": name} | found)


def scores(
    model: Path, texts: Texts, path: Path, kind: str = "", search: dict[str, Any] = LEARNING["development_search"]
) -> dict[str, float]:
    """BLEU on both sets; the translations are kept beside the file `path` of the numbers."""
    decoder = Decoder.load(model, parse_config(search, SearchSettings, "settings"))
    found = {}
    for name, data in texts.sets.items():
        translations = [one.text for one in decoder.translate_all(read_lines(data.source))]
        with atomic_file(path.with_suffix(f".{kind}{name}")) as file:
            file.write("".join(f"{text}\n" for text in translations).encode())
        found[f"{kind}{name}"] = bleu(translations, list(read_lines(data.references[0])))[0]
    return found


def learn(work: Work, seed: int) -> None:
    """Learn, score and tune, unless that has been done; runs for Figure 9 have only the numbers of iterations."""
    path = file_of(work.output, work.corpus, work.run + variant(work.given), seed)
    if path.exists():
        return
    config = parse_config(settings_of(work, seed), MaxforceConfig, "settings")
    output = path.with_suffix(".model")
    kept = begin_with_kept(work, config, output)
    trained = train_maxforce(start_of(work), work.texts.training, work.texts.sets["dev"], output, config)
    found: dict[str, Any] = {"corpus": work.corpus, "run": work.run}
    found["epochs"] = [one.model_dump() for one in trained.progress[seed].iterations]
    for name, directory in kept.items():
        if not directory.exists() and (output / WORK / name).exists():
            shutil.copytree(output / WORK / name, directory)
    if work.run not in FIGURE_9:
        found |= scores_of(work, output, path, config, seed)
    write(path, found)
    shutil.rmtree(output)


def scores_of(work: Work, output: Path, path: Path, config: MaxforceConfig, seed: int) -> dict[str, Any]:
    """BLEU of the written model, if it is scaled; of the last weights; and of the last weights, tuned."""
    given = work.given
    found: dict[str, Any] = {}
    if config.scales != [1.0]:
        found |= scores(output, work.texts, path, "written_", SEARCHES[given.search])
    weights = Decoder.load(start_of(work)).model.weights
    take_last(output, seed, weights.model_dump(include={*config.nuisance}))
    found |= scores(output, work.texts, path, "alone_", SEARCHES[given.search])
    for kind, search in {"tuned_": SEARCHES[given.search], "usual_": SEARCHES["ours"]}.items():
        if kind == "tuned_" or given.search != "ours":
            found |= retuned(work, output, path, seed, kind, search)
    return found


def settings_of(work: Work, seed: int) -> dict[str, Any]:
    """The settings of a run, from its name and the options of the command."""
    given = work.given
    more = {"sentences": SENTENCES[work.corpus], "threads": given.threads, "seeds": [seed]}
    settings = LEARNING | more | RUNS[work.run]
    settings["forcing"] = settings.get("forcing", {}) | {"prefixes": given.prefixes}
    if given.search == "paper":
        search = PAPER_SEARCH | RUNS[work.run].get("search", {})
        settings |= {"search": search, "development_search": PAPER_SEARCH}
    if given.nuisances:
        settings |= {"nuisance": PENALTIES, "rates": settings["rates"] | dict.fromkeys(PENALTIES, 1.0)}
    if given.all_pairs:
        settings["sentences"] = 0
    if work.run in FIGURES:
        settings["iterations"] = given.iterations
    if given.tiny:
        settings |= TINY | {"lm_folds": min(2, settings["lm_folds"])}
    settings["templates"] = with_classes(work, settings["templates"])
    return settings


def with_classes(work: Work, templates: dict[str, Any]) -> dict[str, Any]:
    """Templates whose levels of word classes, if any, use classes of the training data's words."""
    if not any(level["kind"] == "classes" for level in templates.get("levels", ())):
        return templates
    paths = {}
    for side, text in (("source", work.texts.training.source), ("target", work.texts.training.target)):
        paths[side] = str(work.output / f"{work.corpus}.{side}.paths")
        if not Path(paths[side]).exists():
            run([*PHRASEBEAM, "cluster", f"--text={text}", f"--classes={CLASSES}", f"--output={paths[side]}"])
    levels = [level | (paths if level["kind"] == "classes" else {}) for level in templates["levels"]]
    return templates | {"levels": levels}


def kept_of(work: Work, config: MaxforceConfig) -> dict[str, Path]:
    """Directories that keep, for other runs, data that do not depend on features: language models, gold lattices."""
    kind = "aligned" if config.forcing.aligned else "all"
    kind += f".{config.sentences}-pairs" if config.sentences else ".all-pairs"
    limit = config.search.table_limit if config.gold_table_limit is None else config.gold_table_limit
    kind += f".{limit}-a-phrase" if limit else ".any-pair"
    kind += "" if config.leave_one_out else ".nothing-left-out"
    kind += f".{config.forcing.prefixes}-prefixes" if config.forcing.prefixes != "longest" else ""
    kind += variant_of_start(work.given)  # the table limit depends on the weights
    kinds = {"lattices": kind} | ({"lm_folds": str(config.lm_folds)} if config.lm_folds else {})
    return {name: work.output / f"{work.corpus}.maxforce.{name}.{kind}" for name, kind in kinds.items()}


def begin_with_kept(work: Work, config: MaxforceConfig, output: Path) -> dict[str, Path]:
    """Copy kept data into the work of a run that has not begun; return the directories of `kept_of`."""
    kept = kept_of(work, config)
    there = {name: directory for name, directory in kept.items() if directory.exists() and not output.exists()}
    for name, directory in there.items():
        shutil.copytree(directory, output / WORK / name)
    if there:
        (output / WORK / WORK_FILES[-1]).write_text("format: phrasebeam work of a benchmark\n")  # otherwise refused
    return kept


def take_last(model: Path, seed: int, replaced: dict[str, Any]) -> None:
    """Give the model the averaged weights of the last iteration, but with the weights in `replaced`."""
    with np.load(directory_of(model / WORK, seed) / "shard-0.npz") as arrays:
        dense, sparse, _ = LearnedWeights.average_in(arrays).in_table()
    features = Decoder.load(model).features
    save_config(Weights.learned(features.by_group(dense) | replaced), model / "weights.yaml")
    if (model / "sparse").exists():
        save_sparse_weights(sparse, model / "sparse")
    accept_files(model)


def retuned(
    work: Work, learned_model: Path, path: Path, seed: int, kind: str, search: dict[str, Any]
) -> dict[str, Any]:
    """BLEU after scaling groups and tuning dense weights for a search, as by default; and the scales."""
    model = learned_model.with_suffix(f".{kind}model")
    shutil.rmtree(model, ignore_errors=True)
    shutil.copytree(learned_model, model, ignore=shutil.ignore_patterns(WORK))
    (model / WORK).mkdir()
    tune = TUNING["tune"] | {"search": search} | (TINY_TUNE if work.given.tiny else {})
    settings = TUNING | {"tune": tune, "development_search": search, "threads": work.given.threads}
    config = parse_config(settings, MaxforceConfig, "settings")
    decoder = Decoder.load(model, config.development_search)
    sparse = decoder.model.tables.sparse.weights
    read = read_development(work.texts.sets["dev"], config)
    tune = tuning(read, config, seed, model / WORK / "tuning", work.run)
    development = DevelopmentScorer(read, decoder, tune)
    learned = [name for name in GROUPS if is_learned(name, config)]
    scaled = with_best_scales(development, decoder.model.weights, sparse, learned, config.scales)
    dense = development.score_tuned("retuned", scaled, sparse)[1]
    weights = Weights.model_validate(decoder.features.by_group(dense))
    save_config(weights, model / "weights.yaml")
    accept_files(model)
    found: dict[str, Any] = dict(scores(model, work.texts, path, kind, search))
    found[f"{kind}scales".removeprefix("tuned_")] = {
        name: getattr(weights, name) for name in GROUPS if getattr(weights, name) is not None
    }
    shutil.rmtree(model)
    return found
