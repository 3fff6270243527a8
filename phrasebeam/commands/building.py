"""Printed results of the commands that make corpora and models."""

from pathlib import Path
from typing import TYPE_CHECKING

from phrasebeam.base.errors import ModelError
from phrasebeam.commands.derived_command import CommandCall, tell
from phrasebeam.console.tables import print_table

if TYPE_CHECKING:
    from phrasebeam.decoder.model.description import ModelDescription
    from phrasebeam.training.selection.select_sentences import NgramCoverage, SelectionResult

NO_DIGESTS = "its model.yaml is of an older version and has no digests, which --accept writes"


def train_model(description: "ModelDescription", call: CommandCall) -> None:
    """Prints the number of sentence pairs."""
    pairs = f"model of {description.sentence_pairs} sentence pairs"
    tell(f"{call.given['output']}: {pairs}, made in {call.seconds:.1f} s")


def cluster(n_words: int, call: CommandCall) -> None:
    """Prints the number of words that have a class."""
    classes = f"{call.given['classes']} classes of {n_words} words"
    tell(f"{call.given['output']}: {classes}, made in {call.seconds:.1f} s")


def select(result: "SelectionResult", call: CommandCall) -> None:
    """Prints the share of distinct in-domain n-grams that the selection covers, a random selection, and all pairs."""
    selected = result.selected
    is_all = selected.n_sentences == result.all.n_sentences
    of_all = "all, since the budget leaves none out" if is_all else f"of {result.all.n_sentences}"
    counts = f"{selected.n_sentences} sentence pairs ({of_all}) with {selected.n_words} source words"
    tell(f"{call.given['output_source']}: {counts}, selected in {call.seconds:.1f} s")
    orders = [f"{n}-grams" for n in range(1, len(selected.shares) + 1)]
    named = ("selected", selected), ("at random", result.at_random), ("all", result.all)
    rows = [[name, *_cells(coverage)] for name, coverage in named]
    print_table([["in-domain n-grams covered", "pairs", "words", *orders], *rows])


def _cells(coverage: "NgramCoverage") -> list[str]:
    shares = [f"{100 * share:.1f} %" for share in coverage.shares]
    return [f"{coverage.n_sentences}", f"{coverage.n_words}", *shares]


def check_model(damages: list[str], call: CommandCall) -> None:
    """Prints all damage that is found; then the exit status is 2."""
    from phrasebeam.decoder.model.description import open_description

    model: Path = call.given["model"]
    for line in damages[1:]:
        print(line)
    if damages:
        raise ModelError(damages[0])
    is_complete = open_description(model).has_digests
    print(f"{model}: sound" if is_complete else f"{model}: no wrong numbers; {NO_DIGESTS}")


def join_features(result: None, call: CommandCall) -> None:
    """Prints the names of the models that were joined."""
    model, features = call.given["model"], call.given["features"]
    tell(f"{call.given['output']}: {model} with the sparse features of {features}; now tune it")
