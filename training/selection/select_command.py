"""The command `select`: the sentence pairs of a bitext that resemble in-domain text."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.select import select as select_pairs
from phrasebeam.base.command_line import config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import print_table
from phrasebeam.training.selection.select_sentences import NgramCoverage, SelectionResult


def select(
    source: Annotated[Path, typer.Option(help="Source side of the bitext, tokenized, one sentence a line.")],
    target: Annotated[Path, typer.Option(help="Its target side, line by line.")],
    in_domain: Annotated[list[Path], typer.Option(help="Source text like what is to be translated, tokenized.")],
    output_source: Annotated[Path, typer.Option(help="File of the selected source sentences.")],
    output_target: Annotated[Path, typer.Option(help="File of their translations.")],
    alignment: Annotated[Path | None, typer.Option(help="Word alignment of the bitext, line by line.")] = None,
    output_alignment: Annotated[Path | None, typer.Option(help="File of the alignment of what is selected.")] = None,
    sentences: Annotated[int | None, typer.Option(help="How many to select; either this or --words.")] = None,
    words: Annotated[int | None, typer.Option(help="Select until there are so many source words.")] = None,
    order: Annotated[int | None, typer.Option(help="Words of the longest n-grams.", show_default="3")] = None,
    in_order: Annotated[bool, typer.Option("--in-order", help="Lines as in the bitext, not the best first.")] = False,
    log: Annotated[Path | None, typer.Option(help="File of line number, score, source words; the best first.")] = None,
    config: Annotated[Path | None, config_option("select")] = None,
) -> None:
    """Select the training sentences that resemble in-domain text, by feature decay (Biçici & Yuret 2011).

    The best come first, so that the first lines are the selection of a smaller budget.
    """
    given = locals()  # the options, which are arguments of the function
    start = time.perf_counter()
    show_progress()
    result = select_pairs(**given)
    report(result, output_source, time.perf_counter() - start)


def report(result: SelectionResult, path: Path, seconds: float) -> None:
    """Print what was selected, and the share of the distinct in-domain n-grams that it and others cover."""
    selected = result.selected
    is_all = selected.n_sentences == result.all.n_sentences
    of_all = "all, since the budget leaves none out" if is_all else f"of {result.all.n_sentences}"
    counts = f"{selected.n_sentences} sentence pairs ({of_all}) with {selected.n_words} source words"
    print(f"{path}: {counts}, selected in {seconds:.1f} s")
    orders = [f"{n}-grams" for n in range(1, len(selected.shares) + 1)]
    named = ("selected", selected), ("at random", result.at_random), ("all", result.all)
    rows = [[name, *_cells(coverage)] for name, coverage in named]
    print_table([["in-domain n-grams covered", "pairs", "words", *orders], *rows])


def _cells(coverage: NgramCoverage) -> list[str]:
    shares = [f"{100 * share:.1f} %" for share in coverage.shares]
    return [f"{coverage.n_sentences}", f"{coverage.n_words}", *shares]
