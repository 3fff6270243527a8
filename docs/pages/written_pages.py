"""Which pages are written from the code, and by what; and the file of options that help and completion read."""

from pathlib import Path

from docs.pages import api, commands, features, model_files, notebook, settings
from phrasebeam.commands.option_file import FILE

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
PAGES = {  # by name, from the folder of reference
    "commands.md": commands.page,
    "settings.md": settings.page,
    "features.md": features.page,
    "model-files.md": model_files.page,
    "api.md": api.page,
    "../notebook.ipynb": notebook.page,
    f"../../phrasebeam/commands/{FILE.name}": commands.options,
}
