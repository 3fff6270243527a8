"""What the command `import-moses` tells."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from phrasebeam.commands.derived_command import CommandCall

if TYPE_CHECKING:
    from phrasebeam.decoder.model.description import ModelDescription


def import_moses(description: "ModelDescription", call: CommandCall) -> None:
    """Tells what of moses.ini was not taken over."""
    for note in notes(description.settings):
        print(note, file=sys.stderr)


def notes(settings: Mapping[str, object]) -> Iterator[str]:
    """Lines that tell what of a moses.ini an import has not taken over, and what it has added; of model.yaml."""
    from phrasebeam.decoder.moses.sections import INSTEAD

    if left_out := settings["left_out"]:
        names = [str(name) for name in left_out] if isinstance(left_out, list) else []
        texts = [f"[{name}]" + (f" ({INSTEAD[name]})" if name in INSTEAD else "") for name in names]
        yield f"not taken over, since it does not belong to the model: {', '.join(texts)}"
    if unweighted := settings.get("unweighted"):
        features = ", ".join(map(str, unweighted)) if isinstance(unweighted, list) else unweighted
        yield f"no weights of {features} in [weight]: 1 for each score, as in Moses; check that the file is whole"
