"""What sets of features by orientation learn from four fifths of the lists, on the last fifth: mean BLEU of the best.

    python -m benchmarks.models.orientation_held_out DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]

DIRECTORY has what benchmarks.models.orientation_sets wrote. The factor of the learned score is chosen on one half
of the last fifth, and each half is scored by the factor of the other. No weights are tuned, so that the figures have
none of the noise of that, and say nothing of what tuning makes of them. In the end p, that of no gain over the
run before it, is of a paired bootstrap over the lists.
"""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpora import CORPORA
from benchmarks.experiments.expected_bleu import BASELINE, Work, say
from benchmarks.experiments.kept_runs import parser_of
from benchmarks.models.orientation_sets import ITERATIONS, RUNS, begun, prepared, settings_of
from phrasebeam.training.expected_bleu.calibration import mean_best
from phrasebeam.training.expected_bleu.learners import FeatureLearner
from phrasebeam.training.expected_bleu.list_store import Events
from phrasebeam.training.expected_bleu.objective import ScoredLists, add_by_event

FACTORS = 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0
SAMPLES = 2000


class Part(NamedTuple):
    """Lists with the events of all lists, in place of a ListStore."""

    part: ScoredLists
    all_events: Events

    def lists(self) -> ScoredLists:
        return self.part

    def events(self) -> Events:
        return self.all_events


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, run=[run for run in RUNS if run != BASELINE])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    given = parser.parse_args()
    for corpus in given.corpus:
        texts, found = prepared(corpus, given), dict[str, np.ndarray]()
        for run in given.run:
            found[run] = held_out(Work(corpus, run, texts, given.output, given))
            others = [f"p against {name} {p_value(before, found[run]):.3f}" for name, before in found.items()]
            say(corpus, run, f"{found[run].mean():.4f}; {', '.join(others[:-1])}")


def held_out(work: Work) -> np.ndarray:
    """float64[N], BLEU of the best hypothesis of each list of the last fifth."""
    given: Any = work.given
    config = settings_of(work.corpus, work.run, given)
    training, store = begun(work, config)
    lists, opened = store.lists(), training.derived.opened
    n_lists = lists.first.size - 1
    begin = n_lists * 4 // 5
    part: Any = Part(taken(lists, 0, begin), store.events())
    learner = FeatureLearner(opened, part, config, training.word_groups())
    weights, state = learner.start(), dict[str, np.ndarray]()
    for _ in range(config.iterations):
        learner.step(weights, state)
    learned = np.zeros(store.events().pair.size)
    for design in learner.objective.designs:
        add_by_event(design, weights, learned)
    middle = (begin + n_lists) // 2
    halves = taken(lists, begin, middle), taken(lists, middle, n_lists)
    known = np.zeros(learned.size) if learner.objective.calibrated is None else learner.objective.calibrated
    bleu = {factor: [best_bleu(half, known + factor * learned) for half in halves] for factor in FACTORS}
    chosen = [max(FACTORS, key=lambda factor: bleu[factor][half].mean()) for half in range(2)]
    before = np.concatenate(bleu[0.0]).mean()
    size = f"{learner.size:,} parameters, {n_lists - begin:,} lists"
    say(work.corpus, work.run, f"{size}, before {before:.4f}, factors {chosen}")
    store.close()
    return np.concatenate([bleu[chosen[1]][0], bleu[chosen[0]][1]])


def taken(lists: ScoredLists, begin: int, end: int) -> ScoredLists:
    """The lists begin:end."""
    hypotheses = slice(lists.first[begin], lists.first[end])
    bounds = lists.event_first[hypotheses.start : hypotheses.stop + 1]
    first = lists.first[begin : end + 1] - lists.first[begin]
    event = np.ascontiguousarray(lists.event[bounds[0] : bounds[-1]])
    return ScoredLists(first, lists.score[hypotheses], lists.bleu[hypotheses], bounds - bounds[0], event)


def best_bleu(lists: ScoredLists, weights: np.ndarray) -> np.ndarray:
    """float64[N], BLEU of the best hypothesis of each list."""
    ones = (taken(lists, n, n + 1) for n in range(lists.first.size - 1))
    return np.array([mean_best(one, weights) for one in ones])


def p_value(before: np.ndarray, after: np.ndarray) -> float:
    """Share of bootstrap samples of the lists in which `after` is not better than `before`."""
    gains, rng = after - before, np.random.default_rng(1)
    means = np.array([gains[rng.integers(0, gains.size, gains.size)].mean() for _ in range(SAMPLES)])
    return float(np.mean(means <= 0))


if __name__ == "__main__":
    main()
