"""Printed results of the commands that tune and train: tables of runs and iterations, and the gain."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from phrasebeam.commands.derived_command import CommandCall, tell
from phrasebeam.console.tables import print_table
from phrasebeam.process.hints import hint

if TYPE_CHECKING:
    from phrasebeam.api.trainers.rerank import Reranked
    from phrasebeam.decoder.normalization.normalizer_files import NormalizerDescription
    from phrasebeam.training.common.gain import Gain, TrainingOutcome
    from phrasebeam.training.common.iterations import Progress
    from phrasebeam.training.expected_bleu.expected_bleu_model import ExpectedBleuProgress
    from phrasebeam.training.maxforce.maxforce_model import TrainingResult
    from phrasebeam.training.online.progress import OnlineIteration, OnlineProgress
    from phrasebeam.training.ranking.list_iteration import ListIteration
    from phrasebeam.training.recipe.recipe_run import RecipeResult
    from phrasebeam.training.tuning.run_state import RunResult

NO_GAIN = 3  # exit status
RequireGain = Annotated[bool, f"End with status {NO_GAIN} if the new weights do not score better than the old ones."]


def tune(outcome: "TrainingOutcome[list[RunResult]]", call: CommandCall, *, require_gain: RequireGain = False) -> int:
    """Prints a row for each run, and for several seeds their mean and standard deviation (Clark et al. 2011)."""
    results, gain = outcome
    heads = [f"{gain.metric} before", "tuned", "chrF++", "test", "test chrF++"]
    rows = [["run", *heads, "iterations", "best", "updates", "optimize", "decode"]]
    for result in results:
        found = (result.before, result.score, result.chrfpp, result.test_score, result.test_chrfpp)
        scores = [_shown(score) for score in found]
        counts = [str(number) for number in (result.iterations, result.best, result.updates)]
        seconds = [f"{result.optimize_seconds:.1f} s", f"{result.decode_seconds:.1f} s"]
        rows.append([result.name, *scores, *counts, *seconds])
    for c in dict.fromkeys(result.c for result in results):
        same = [result for result in results if result.c == c]
        if len(same) > 1:
            rows += _mean(same)
    print_table(rows)
    return _status(gain, require_gain)


def train_maxforce(
    outcome: "TrainingOutcome[TrainingResult]", call: CommandCall, *, require_gain: RequireGain = False
) -> int:
    """Prints a row for each iteration, and marks the best."""
    result, gain = outcome
    for number, progress in result.progress.items():
        if result.mean:
            print(f"seed {number}")
        rows = {}
        for place, one in enumerate(progress.iterations):
            ratios = [f"{100 * one.invalid_ratio:.1f}%", f"{100 * one.solved / max(one.examples, 1):.1f}%"]
            rows[place] = [*_scores(one), f"{one.updates}", *ratios, f"{one.features}", _speed(one)]
        print_iterations(["score", "chrF++", "updates", "invalid", "solved", "features", "sentences/s"], rows, progress)
    if result.mean:
        print(f"mean of all seeds: {abs(result.mean.score):.2f}")
    return _status(gain, require_gain)


def train_ranking(
    outcome: "TrainingOutcome[OnlineProgress[ListIteration]]", call: CommandCall, *, require_gain: RequireGain = False
) -> int:
    """Prints a row for each epoch, and marks the best."""
    progress, gain = outcome
    rows = {}
    for number, one in enumerate(progress.iterations):
        rows[number] = [*_scores(one), _shown(one.example_score), f"{one.updates}", f"{one.features}", _speed(one)]
    print_iterations(["score", "chrF++", "training", "updates", "features", "sentences/s"], rows, progress)
    return _status(gain, require_gain)


def train_expected_bleu(
    outcome: "TrainingOutcome[ExpectedBleuProgress]", call: CommandCall, *, require_gain: RequireGain = False
) -> int:
    """Prints a row for each iteration that was scored, and marks the best."""
    progress, gain = outcome
    rows = {
        number: [*_scores(one), f"{one.expected_bleu:.4f}", f"{one.objective:.5f}"]
        for number, one in enumerate(progress.iterations)
        if one.score is not None
    }
    print_iterations(["score", "chrF++", "expected BLEU", "objective"], rows, progress)
    return _status(gain, require_gain)


def train(
    result: "RecipeResult | NormalizerDescription", call: CommandCall, *, require_gain: RequireGain = False
) -> int:
    """Prints a row for each stage and, for raw text, sacrebleu's signatures below the table."""
    from phrasebeam.decoder.normalization.normalizer_files import NormalizerDescription
    from phrasebeam.training.recipe.recipe_run import WORK, short_cells
    from phrasebeam.training.recipe.score_table import headings, shown_metrics

    if isinstance(result, NormalizerDescription):
        return _normalizer(result, call.given["output"])
    metrics = shown_metrics(result.metric)
    rows = [["stage", *headings(metrics), *headings(metrics, "test "), "minutes", ""]]
    for name, record in result.stages.items():
        kept = "written" if name == result.best else "kept" if record.is_kept else "dropped"
        rows.append([name, *short_cells(record, result.metric), f"{record.seconds / 60:.1f}", kept])
    print_table(rows)
    if result.is_raw:
        print(*result.signatures(metrics), sep="\n")
    output = call.given["output"]
    tell(f"{output}: the model of {result.best}; {output / WORK / 'report.md'} has details")
    return _status(result.gain, require_gain)


def _normalizer(result: "NormalizerDescription", output: object) -> int:
    """Print the accuracy of a normalizer on held-out words, and how reliable its confidences are."""
    held_out = result.held_out
    rows = [["confidence", "words", "right", "expected"]]
    for one in held_out.calibration:
        if one.words:
            shares = [f"{100 * one.right / one.words:.1f}%", f"{100 * one.confidence:.1f}%"]
            rows.append([f"from {one.least:g}", f"{one.words:,}", *shares])
    print_table(rows)
    by_letters = 100 * held_out.letters_right / max(1, held_out.words)
    print(f"accuracy {held_out.accuracy:.2f} of {held_out.words:,} held-out words; by letters alone {by_letters:.2f}")
    tell(f"{output}: a normalizer; phrasebeam translate --model {output} reads words")
    return 0


def rerank(
    reranked: "Reranked",
    call: CommandCall,
    *,
    require_gain: Annotated[
        bool, f"End with status {NO_GAIN} if the learned weights do not score better on the lists."
    ] = False,
) -> int:
    """Prints the best translations."""
    learned = reranked.learned
    if learned is None or learned.is_better:
        return 0
    before = "begun with" if call.given["start_weights"] else "that their scores come from"
    scores = f"{learned.score:.2f} on these lists, {learned.before:.2f} by the weights {before}"
    hint(f"nothing gained: {scores}")
    return NO_GAIN if require_gain else 0


def _status(gain: "Gain", is_required: bool) -> int:
    """The exit status of a training; if nothing was gained, its last line of output says so."""
    if gain.found:
        return 0
    print(gain)
    return NO_GAIN if is_required else 0


def print_iterations(header: Sequence[str], rows: Mapping[int, Sequence[str]], progress: "Progress[Any]") -> None:
    """Print a row for each iteration, by number; the best one is marked."""
    numbered = [[f"{number}*" if number == progress.best else f"{number}", *cells] for number, cells in rows.items()]
    print_table([["iteration", *header], *numbered])


def _speed(iteration: "OnlineIteration") -> str:
    return f"{iteration.speed:.1f}" if iteration.seconds else ""


def _scores(iteration: Any) -> list[str]:
    """The score of an iteration and its chrF++."""
    return [_shown(iteration.score), _shown(iteration.chrfpp)]


def _shown(score: float | None) -> str:
    """A score as text; an error rate without the minus sign that it has in trainers."""
    return "" if score is None else f"{abs(score):.2f}"


def _mean(results: "Sequence[RunResult]") -> list[list[str]]:
    """Two rows: mean and standard deviation of the scores of several seeds with the same C."""
    columns = [[one.score, one.chrfpp, one.test_score, one.test_chrfpp] for one in results]
    known = [[score for score in column if score is not None] for column in zip(*columns)]
    names = ["mean", "deviation"] if results[0].c is None else [f"mean of C {results[0].c:g}", "deviation"]
    return [
        [name, "", *(_shown(of(column)) if column else "" for column in known)]
        for name, of in zip(names, (statistics.mean, statistics.stdev))
    ]
