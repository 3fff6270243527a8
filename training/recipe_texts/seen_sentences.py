"""Development and test sentences that also occur in the training data, and sets without them."""

from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines, write_lines
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.recipe_texts.recipe_data import LEAST_SENTENCES, RecipeFiles

Seen = Mapping[str, Sequence[bool]]  # whether each source sentence of a set is in the training data


def seen_in_training(files: RecipeFiles) -> Seen:
    """Whether each source sentence of the development and test data is also in the training data, word for word."""
    wanted = {name: [line.strip() for line in read_lines(data.source)] for name, data in _sets(files).items()}
    every = {line for lines in wanted.values() for line in lines}
    common = {line.strip() for line in read_lines(files.training.source)} & every
    return {name: [line in common for line in lines] for name, lines in wanted.items()}


def check_enough_unseen(files: RecipeFiles, seen: Seen) -> None:
    """Raise ConfigError if too few sentences of a set would be left without those that are in the training data."""
    for name, data in _sets(files).items():
        left, least = seen[name].count(False), LEAST_SENTENCES if name == "development" else 1
        if left < least:
            found = f"{left} of {len(seen[name])} {name} sentences are not in the training data"
            raise ConfigError(
                f"{data.source}: {found}, expected {least} or more; give others, or do not leave them out"
            )


def without_seen(files: RecipeFiles, seen: Seen, directory: Path) -> RecipeFiles:
    """The files without the sentences that are in the training data; changed sets are written to `directory`."""
    sets = {name: _unseen(data, seen[name], directory / f"{name}.unseen") for name, data in _sets(files).items()}
    return files._replace(development=sets.get("development"), test=sets.get("test"))


def _sets(files: RecipeFiles) -> dict[str, BitextFiles]:
    sets = {"development": files.development, "test": files.test}
    return {name: data for name, data in sets.items() if data}


def _unseen(data: BitextFiles, seen: Sequence[bool], directory: Path) -> BitextFiles:
    if not any(seen):
        return data
    directory.mkdir(parents=True, exist_ok=True)
    places = [directory / name for name in ("source", *(f"reference.{i}" for i in range(1, len(data.references) + 1)))]
    for path, place in zip((data.source, *data.references), places):
        write_lines(place, compress(read_lines(path), (not one for one in seen)))
    return BitextFiles(places[0], places[1:])
