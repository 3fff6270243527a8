"""Why dense weights that the perceptron learns lose BLEU (Yu et al. 2013): step size, threshold, length, features.

    python -m benchmarks.experiments.maxforce.dense_weights DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tables]

It learns dense weights alone, with models, training pairs and lattices of `python -m benchmarks.experiments.maxforce`,
which may share the directory. A run starts from weights by MERT times some factor, since the size of a step matters
only in proportion to the weights: a rate of 1 with weights times 64 is a rate of 1/64 with the weights themselves. The
last weights are scored with and without the threshold of the beam, and with the word penalty that keeps the length of
translations. A file for each run is kept in DIRECTORY and not made again; yu2013-dense.csv has a row for each run.
"""

import json
import shutil
from argparse import Namespace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments.expected_bleu import BASELINE, Work, make_tuned, read_texts
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.maxforce.figures import CORPORA, Cells, write_rows
from benchmarks.experiments.maxforce.learning import begin_with_kept, file_of, scores, settings_of, take_last
from benchmarks.experiments.maxforce.runs import DENSE, ITERATIONS, LEARNING, PAPER_SEARCH, SENTENCES
from phrasebeam.base.config import load_config, parse_config, save_config
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.development_set import DevelopmentScorer, read_development
from phrasebeam.training.common.scales import with_length
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import WORK, train_maxforce
from phrasebeam.training.maxforce.state import directory_of

ZERO = 1e-9  # in place of 0, so that the table limit, which depends on the weights at the start, does not change
MERT = "MERT weights"
FACTORS = {"zero": ZERO, MERT: 1.0, **{f"{MERT} times {n}": float(n) for n in (4, 16, 64, 256, 1024, 4096)}}
PREFIXES = {"none": "no prefix pairs", "closed": "closed prefix pairs"}
LENGTH = ("word_penalty", "phrase_penalty")
FIXED = {
    "nothing": (),
    "language model": ("language_model",),
    "penalties": LENGTH,
    "language model and penalties": ("language_model", *LENGTH),
    "translation": ("translation",),
    "all but the language model": tuple(name for name in DENSE if name != "language_model"),
    "all but translation": tuple(name for name in DENSE if name != "translation"),
}
# A threshold prunes hypotheses by differences of scores, and these are proportional to the size of the weights.
WITHOUT_THRESHOLD = LEARNING["development_search"] | {"beam_threshold": 0.0}
WHOLE: dict[str, Any] = {"leave_one_out": None, "lm_folds": 0}
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {  # start, weights that are fixed, other settings
    **{start: (start, "nothing", {}) for start in FACTORS},
    **{f"{MERT} times 64, {fixed} fixed": (f"{MERT} times 64", fixed, {}) for fixed in FIXED if fixed != "nothing"},
    **{
        f"{start}, {pairs}": (start, "nothing", {"forcing": {"prefixes": kind}})
        for start in (MERT, f"{MERT} times 64", f"{MERT} times 256")
        for kind, pairs in PREFIXES.items()
    },
    f"{MERT}, learning rate 0.01": (MERT, "nothing", {"rates": dict.fromkeys(DENSE, 0.01)}),
    f"{MERT} times 64, without leave-one-out": (f"{MERT} times 64", "nothing", WHOLE),
    f"{MERT}, without leave-one-out": (MERT, "nothing", WHOLE),
    f"{MERT} times 256, penalties fixed": (f"{MERT} times 256", "penalties", {}),
    f"{MERT} times 64, max-violation": (f"{MERT} times 64", "nothing", {"update": "max_violation"}),
    f"{MERT}, the paper's search": (MERT, "nothing", {"update": "max_violation", "search": PAPER_SEARCH}),
    f"{MERT}, mini-batches of 400": (MERT, "nothing", {"batch": 400, "iterations": 12}),
    f"{MERT}, AdaGrad": (MERT, "nothing", {"rule": "adagrad", "rates": dict.fromkeys(DENSE, 0.24)}),
    f"{MERT} times 64, long": (f"{MERT} times 64", "nothing", {"iterations": 13}),
}


def main() -> None:
    parser = parser_of(__doc__, corpus=SENTENCES, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="of the order of sentences")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    # Further options that settings_of and make_tuned need
    given = Namespace(**vars(given) | {"search": "ours", "prefixes": "longest", "nuisances": False, "tiny": False})
    given.all_pairs, given.tuned_by = False, "mert"
    if not given.tables:
        show_progress()
        for corpus in given.corpus:
            work = Work(corpus, BASELINE, read_texts(corpus, given), given.output, given)
            make_tuned(work)
            for seed, name in product(given.seed, given.run):
                learn(work._replace(run="dense features"), name, seed)
                score_with_length(work, path_of(given.output, corpus, name, seed))
    paths = (path_of(given.output, *run) for run in product(given.corpus, RUNS, given.seed))
    found = [json.loads(path.read_text()) for path in paths if path.exists()]
    write_rows(given.output / "yu2013-dense.csv", [row(one) for one in found if "kept" in one])


def path_of(output: Path, corpus: str, name: str, seed: int) -> Path:
    """The file with the numbers of a run."""
    return file_of(output, corpus, f"dense weights, {name}", seed)


def learn(work: Work, name: str, seed: int) -> None:
    """Learn from scaled weights and score the last weights, unless that has been done."""
    path = path_of(work.output, work.corpus, name, seed)
    if path.exists():
        return
    start, fixed, more = RUNS[name]
    settings = settings_of(work, seed) | more
    settings["development_search"] = WITHOUT_THRESHOLD
    settings["fixed"] = ["unknown_word_penalty", *FIXED[fixed]]
    config = parse_config(settings, MaxforceConfig, "settings")
    model, output = scaled_model(work, FACTORS[start]), path.with_suffix(".model")
    begin_with_kept(work, config, output)
    trained = train_maxforce(model, work.texts.training, work.texts.sets["dev"], output, config)
    found: dict[str, Any] = {"corpus": work.corpus, "run": name, "start": start, "fixed": fixed, "seed": seed}
    found["epochs"] = [one.model_dump() for one in trained.progress[seed].iterations]
    with np.load(directory_of(output / WORK, seed) / "shard-0.npz") as arrays:
        found["last"] = arrays["dense"].tolist()
    take_last(output, seed, {})
    found |= scores(output, work.texts, path, search=WITHOUT_THRESHOLD)
    found |= scores(output, work.texts, path, "usual_")
    found["lengths"] = {part: length_ratio(work, path, part) for part in work.texts.sets}
    found["weights"] = load_config(output / "weights.yaml", Weights).model_dump(exclude_none=True)
    found["start_weights"] = load_config(model / "weights.yaml", Weights).model_dump(exclude_none=True)
    write(path, found)
    shutil.rmtree(output)
    shutil.rmtree(model)


def score_with_length(work: Work, path: Path) -> None:
    """Add the scores with the word penalty that keeps the length of translations, unless they exist."""
    found = json.loads(path.read_text())
    if "kept" in found:
        return
    config = parse_config({"development_search": WITHOUT_THRESHOLD}, MaxforceConfig, "settings")
    decoder = Decoder.load(work.tuned, config.development_search)
    sets = {name: read_development(data, config) for name, data in work.texts.sets.items()}
    sparse, weights = decoder.tables.sparse.weights, Weights.model_validate(found["weights"])
    n_words = found["epochs"][0]["development_words"]
    kept = with_length(DevelopmentScorer(sets["dev"], decoder), weights, sparse, n_words)
    test = DevelopmentScorer(sets["test"], decoder).score(kept.weights, sparse)
    write(path, found | {"kept": {"dev": kept.score, "test": test.score, "words": kept.n_words / n_words}})


def scaled_model(work: Work, factor: float) -> Path:
    """A copy of the tuned model with its weights times a factor."""
    model = work.output / f"{work.corpus}.tuned-times-{factor:g}"
    shutil.rmtree(model, ignore_errors=True)
    shutil.copytree(work.tuned, model, ignore=shutil.ignore_patterns("tuning"))
    weights = load_config(model / "weights.yaml", Weights).model_dump(exclude_none=True)
    scaled = {name: (factor * np.array(value)).tolist() for name, value in weights.items()}
    save_config(Weights.model_validate(scaled), model / "weights.yaml")
    accept_files(model)
    return model


def length_ratio(work: Work, path: Path, part: str) -> float:
    """The number of translated words over that of reference words, in percent."""
    texts = path.with_suffix(f".{part}"), work.texts.sets[part].references[0]
    translated, reference = (sum(len(line.split()) for line in read_lines(text)) for text in texts)
    return 100 * translated / reference


def row(found: dict[str, Any]) -> Cells:
    """The cells of a run for the file of results."""
    cells = {"corpus": CORPORA[found["corpus"]], "initial weights": found["run"], "seed": str(found["seed"])}
    cells |= {str(i): f"{epoch['score']:.2f}" for i, epoch in enumerate(found["epochs"][1 : 1 + ITERATIONS], 1)}
    cells["length, %"] = f"{found['lengths']['dev']:.0f}"
    for kind, name in ("usual_", "beam threshold"), ("", "no threshold"):
        cells |= {f"{part}, {name}": f"{found[kind + part]:.2f}" for part in ("dev", "test")}
    return cells | {f"{part}, same length": f"{found['kept'][part]:.2f}" for part in ("dev", "test")}


if __name__ == "__main__":
    main()
