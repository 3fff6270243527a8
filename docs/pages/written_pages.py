"""Which pages are written from the code, and by what."""

from pathlib import Path

from docs.pages import api, commands, features, model_files, settings

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
PAGES = {
    "commands.md": commands.page,
    "settings.md": settings.page,
    "features.md": features.page,
    "model-files.md": model_files.page,
    "api.md": api.page,
}
