"""Entries of a dictionary, words or phrases with their translations, as additional training pairs."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

from phrasebeam.base.files import read_lines, write_lines
from phrasebeam.base.progress import log
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.cleaning import pair_cleaner, write_cleaned
from phrasebeam.training.bitext.pair_files import write_sides
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.recipe_texts.recipe_data import CleanedData, TwinData


def read_dictionary(data: CleanedData, settings: TrainModelConfig, directory: Path) -> CleanedData:
    """The data with the entries of the dictionary, if there is one, cleaned like training pairs, but with copies.

    Both sides of the entries are written to files in `directory`. Raises FormatError, ConfigError or OSError.
    """
    if (dictionary := data.files.dictionary) is None:
        return data
    name = dictionary.path.name
    sides = [directory / side / name for side in ("source", "target")]
    write_sides(dictionary.path, dictionary.columns, sides)
    if settings.is_cleaned:
        cleaner = pair_cleaner(settings.cleaning.model_copy(update={"copies": False}), settings.preprocessing)
        cleaned = [directory / f"cleaned.{side}" / name for side in ("source", "target")]
        write_cleaned(sides, cleaned, cleaner)
        sides = cleaned
    note = f"{name}: {sum(1 for _ in read_lines(sides[0])):,} entries are added to the training pairs"
    log.info("%s", note)
    return data._replace(entries=BitextFiles(sides[0], sides[1:]), notes=[*data.notes, note])


def with_entries(read: TwinData, entries: BitextFiles, directory: Path) -> TwinData:
    """The data with the entries after the training pairs; trainers that decode training pairs leave the entries out.

    Development data stay as they are, also if they were held out from the training pairs. Raises OSError.
    """
    training = read.files.training
    added = _joined(training, entries, directory / "training")
    whole = read.files.held_out_of
    all_added = _joined(whole, entries, directory / "whole") if whole else None
    files = read.files._replace(training=added, held_out_of=all_added)
    n_pairs, n_entries = (sum(1 for _ in read_lines(one.source)) for one in (training, entries))
    numbers = map(str, range(n_pairs + 1, n_pairs + n_entries + 1))
    left_out = directory / "left-out"
    write_lines(left_out, chain(read_lines(read.left_out) if read.left_out else (), numbers))
    return read._replace(files=files, left_out=left_out)


def _joined(pairs: BitextFiles, entries: BitextFiles, directory: Path) -> BitextFiles:
    directory.mkdir(parents=True, exist_ok=True)
    places = [directory / name for name in ("source", "target", "alignment")]
    for path, more, place in zip(pairs.parallel[:2], entries.parallel, places):
        write_lines(place, chain(read_lines(path), read_lines(more)))
    alignment = None
    if pairs.alignment:
        alignment = places[2]
        write_lines(alignment, chain(read_lines(pairs.alignment), _all_links(entries)))
    return replace(pairs, source=places[0], references=[places[1]], alignment=alignment)


def _all_links(entries: BitextFiles) -> Iterator[str]:
    """A word alignment of each entry: each word with all words of the other side."""
    for source, target in zip(read_lines(entries.source), read_lines(entries.target)):
        words = range(len(source.split())), range(len(target.split()))
        yield " ".join(f"{i}-{j}" for i, j in product(*words))
