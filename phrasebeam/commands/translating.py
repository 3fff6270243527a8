"""Printed results of the commands that translate and align."""

import sys
from typing import TYPE_CHECKING

from phrasebeam.commands.derived_command import CommandCall, tell
from phrasebeam.console.tables import print_table

if TYPE_CHECKING:
    from phrasebeam.decoder.forced.reachability import Reachability
    from phrasebeam.training.aligned_text.aligned_files import AlignedFiles


def align(aligned: "AlignedFiles", call: CommandCall) -> None:
    """Prints the number of links and, with gold alignments, the error rate (on standard error if links are printed)."""
    output = call.given["output"]
    is_printed = str(output) == "-"
    if not is_printed:
        tell(f"{output}: {aligned.sentence_pairs} sentence pairs with {aligned.links} links")
    if aligned.errors:
        print(aligned.errors, file=sys.stderr if is_printed else sys.stdout)


def forced_decode(reached: "Reachability", call: CommandCall) -> None:
    """Prints how many references are reachable, by sentence length."""
    print_table(reached.table(), reached.text())
