"""The cost of an example of the perceptron: beam and gold lattice share one prepared sentence, or have one each.

    python -m benchmarks.speed.learning.perceptron DATA [--corpus multi30k] [--sentences 1000] [--features 5000000]

It measures updates of the first training pairs that have y-good derivations, with the default settings of
train-maxforce: with rule ids alone, with word edges as by default, and with features of two phrases in addition. The
weights are those of the model, and --features small random sparse ones. Passes over the examples take turns; the table
has medians, in processor time of one thread. Both ways give the same updates.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import CORPORA, prepare
from benchmarks.experiments.maxforce.runs import EDGES, NON_LOCAL, RULES
from benchmarks.measure import PHRASEBEAM, run, table
from phrasebeam.base.config import parse_config
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, sparse_weights_of
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.training_data import training_pairs
from phrasebeam.training.maxforce.comparison import Comparison, Difference
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.gold_examples import Examples, find_lattices
from phrasebeam.training.online.featured_model import with_features

FEATURES: dict[str, dict[str, Any]] = {"rule ids": RULES, "and word edges": EDGES, "and of two phrases": NON_LOCAL}
PASSES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", choices=list(CORPORA), default="multi30k")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--features", type=int, default=5_000_000)
    given = parser.parse_args()
    rows = [["features", "examples", "ms, one prepared sentence", "ms, one for each", "ratio"]]
    with tempfile.TemporaryDirectory() as directory:
        files = prepare(given.data / given.corpus, CORPORA[given.corpus], Path(directory))
        options = [f"--{name}={getattr(files, name)}" for name in ("source", "target", "alignment")]
        run([*PHRASEBEAM, "train-model", *options, f"--output={Path(directory) / 'model'}"])
        corpus = BitextFiles(files.source, [files.target], files.alignment)
        for number, (name, templates) in enumerate(FEATURES.items()):
            work = Path(directory) / f"work-{number}"
            one, each, size = measured(corpus, Path(directory) / "model", work, templates, given)
            rows.append([name, f"{size}", f"{1e3 * one:.2f}", f"{1e3 * each:.2f}", f"{each / one:.2f}"])
    print(table(rows))


def measured(
    corpus: BitextFiles, model: Path, work: Path, templates: dict[str, Any], given: argparse.Namespace
) -> tuple[float, float, int]:
    """Median seconds per example with one shared prepared sentence and with one each, and the number of examples."""
    settings = {"sentences": given.sentences, "templates": templates, "lm_folds": 0, "threads": 1}
    config = parse_config(settings, MaxforceConfig, "settings")
    opened = with_features(Decoder.load(model).model, model, work, config)
    decoder, other = (Decoder(opened, config.search) for _ in range(2))
    shared, apart = (ForcedDecoder(good, config.forcing) for good in (decoder, other))
    sentences = list(training_pairs(corpus, config))
    examples = Examples(find_lattices(shared, sentences, config, work / "lattices"), sentences)
    ways = [Comparison(decoder, forced, config.update, float(config.future_cost)) for forced in (shared, apart)]
    sparse, seconds = random_weights(given.features), [list[float](), list[float]()]
    for number in range(PASSES + 1):
        found = [updates(way, examples, sparse) for way in ways]
        assert all(same(one, other) for one, other in zip(found[0][1], found[1][1], strict=True))
        for times, (taken, _) in zip(seconds, found):
            times += [taken / len(examples)] * (number > 0)  # the first pass compiles kernels
    return statistics.median(seconds[0]), statistics.median(seconds[1]), len(examples)


def updates(way: Comparison, examples: Examples, sparse: SparseWeights) -> tuple[float, Sequence[Difference]]:
    """Processor seconds of this thread, and the update of each example."""
    snapshot = way.snapshot(way.decoder.model.weights, sparse)
    begin = time.thread_time()
    found = [way.difference(example, snapshot) for example in examples]
    return time.thread_time() - begin, found


def same(one: Difference, other: Difference) -> bool:
    """Whether two updates are equal to the last bit."""
    pairs = zip((one.dense, one.keys, one.values), (other.dense, other.keys, other.values), strict=True)
    return all(np.array_equal(left, right) for left, right in pairs)


def random_weights(n: int) -> SparseWeights:
    """A table of `n` small weights."""
    rng = np.random.default_rng(1)
    return sparse_weights_of(rng.integers(1, 2**63, n).astype(np.uint64), rng.normal(0, 1e-6, n))


if __name__ == "__main__":
    main()
