"""Printed results of the command `import-moses`."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from phrasebeam.commands.derived_command import CommandCall

if TYPE_CHECKING:
    from phrasebeam.decoder.model.description import ModelDescription


def import_moses(description: "ModelDescription", call: CommandCall) -> None:
    """Prints which sections of moses.ini were not imported."""
    for note in notes(description.settings):
        print(note, file=sys.stderr)


def notes(settings: Mapping[str, object]) -> Iterator[str]:
    """Lines about the sections of a moses.ini that were not imported, and about added weights; from model.yaml."""
    from phrasebeam.decoder.moses.sections import INSTEAD

    if left_out := settings["left_out"]:
        names = [str(name) for name in left_out] if isinstance(left_out, list) else []
        texts = [f"[{name}]" + (f" ({INSTEAD[name]})" if name in INSTEAD else "") for name in names]
        yield f"not imported, because it is not part of the model: {', '.join(texts)}"
    if unweighted := settings.get("unweighted"):
        features = ", ".join(map(str, unweighted)) if isinstance(unweighted, list) else unweighted
        yield f"[weight] has no weights for {features}: 1 is used for each, as in Moses; is the file complete?"
