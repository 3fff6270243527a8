"""The command `train`: all stages of a recipe."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.trainers.train_model import train
from phrasebeam.base.command_line import Force, Memory
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import print_table
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.recipe.recipe_run import WORK, bleu_of


def train_command(
    source: Annotated[Path, typer.Option(help="Source sentences, tokenized or --raw, one a line (or .gz, .zst).")],
    target: shared.Target,
    dev_source: Annotated[Path, typer.Option(help="Other sentences, to tune on and to choose by.")],
    dev_reference: shared.DevReference,
    output: Annotated[Path, typer.Option(help="Directory of the model; a run that was stopped there goes on.")],
    recipe: Annotated[
        str, typer.Option(help="quick, standard, best, or a file; 'phrasebeam config recipe-standard' prints one.")
    ] = "standard",
    seed: Annotated[
        int, typer.Option(help="N adds N - 1 to all seeds of the recipe, to repeat it with other ones.")
    ] = 1,
    alignment: Annotated[Path | None, typer.Option(help="A word alignment (0-0 1-2 ...) to use as it is.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The text is raw: tokenize and truecase it.")] = False,
    source_language: Annotated[str | None, typer.Option(help="Of raw text: de, en, fr ...")] = None,
    target_language: Annotated[str | None, typer.Option(help="Of raw text.")] = None,
    test_source: Annotated[Path | None, typer.Option(help="Other sentences, whose scores are only reported.")] = None,
    test_reference: Annotated[list[Path] | None, typer.Option(help="Their translations.")] = None,
    threads: shared.Threads = None,
    memory: Memory = None,
    force: Force = False,
    require_gain: shared.RequireGain = False,
) -> int:
    """Make the best model of two text files by a recipe of all stages, and report what each brings."""
    given = locals()  # the options, which are arguments of the function
    given.pop("require_gain")
    show_progress()
    result = train(**given)
    rows = [["stage", "BLEU", "test BLEU", "minutes", ""]]
    for name, record in result.stages.items():
        kept = "written" if name == result.best else "kept" if record.is_kept else "dropped"
        rows.append([name, *bleu_of(record), f"{record.seconds / 60:.1f}", kept])
    print_table(rows)
    print(f"{output}: the model of {result.best}; {output / WORK / 'report.md'} tells more")
    return shared.status_of(result.gain, require_gain)
