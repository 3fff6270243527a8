"""What the commands that translate and align print."""

from typing import TYPE_CHECKING

from phrasebeam.commands.derived_command import CommandCall
from phrasebeam.console.tables import print_table

if TYPE_CHECKING:
    from phrasebeam.decoder.forced.reachability import Reachability


def align(counts: tuple[int, int], call: CommandCall) -> None:
    """Prints how many links there are."""
    n_pairs, n_points = counts
    print(f"{call.given['output']}: {n_pairs} sentence pairs with {n_points} links")


def forced_decode(reached: "Reachability", call: CommandCall) -> None:
    """Prints how many references are reachable, by length."""
    print_table(reached.table(), reached.text())
