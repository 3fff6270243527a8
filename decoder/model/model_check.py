"""A check of all files of a model directory: their digests, indices out of bounds, and numbers that are not finite.

Opening a model reads next to nothing of its tables, and translating checks only the entries that it uses.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense import active_groups, dense_weights
from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.model.digests import changed_files
from phrasebeam.decoder.model.model import Model, check_parts, open_model
from phrasebeam.decoder.tables.array_checks import AT_ONCE, Finding, wrong_numbers
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, TRAIN_AGAIN, open_arrays
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import UNIGRAMS, VOCABULARY, entry_width


def findings(directory: str | Path, is_verified: bool = True) -> Iterator[str]:
    """A line for each file that is not as its digest says; if there is none, one for the first defect of each kind.

    Without the digests, unless `is_verified`. Raises SmtError where the model cannot be opened.
    """
    directory = Path(directory)
    if is_verified and (changed := _changed(directory)):
        yield from changed
        return
    model = open_model(directory, is_verified)
    scores, n_language_models = model.tables.phrases.ln_scores, len(model.language_models)
    dense_weights(model.weights, scores.shape[1], model.description.reordering, n_language_models)  # raises its errors
    active_groups(model.weights, model.tables.sparse)
    found = [*_numbers(directory, model)]
    if not found:  # the others need offsets and ids within bounds
        found = [*_points(model), *_lost_phrases(model)]
    for name, message in found:
        yield f"{directory / name}: {message}; {TRAIN_AGAIN}"
    for lm in model.language_models:
        yield from (f"{lm.model.path}: {message}; {TRAIN_AGAIN}" for message in _language_model(lm.model))


def check_arrays(directory: Path, model: Model) -> None:
    """Raise ModelError if a number in an array of the opened model is not one that its file is declared to have.

    For what reads whole tables; what reads the phrases of sentences relies on BoundsChecks.
    """
    for name, message in _numbers(directory, model):
        raise ModelError(f"{directory / name}: {message}; {TRAIN_AGAIN}")


def _changed(directory: Path) -> list[str]:
    """A line for each file that is not as its digest says; none for a model without digests."""
    check_parts(directory)
    description = open_description(directory)
    return [*changed_files(directory, description.files)] if description.has_digests else []


def _numbers(directory: Path, model: Model) -> Iterator[Finding]:
    """The first number of each array that is not one of those that its file is declared to have."""
    counts = {"V": len(model.source), "W": len(model.target)}
    for folder, files in ARRAY_FILES.items():
        is_used = folder != "reordering" or model.description.reordering is not None
        if is_used and (directory / folder / f"{files[0].name}.npy").exists():
            arrays = open_arrays(directory / folder, files, counts)
            for name, _, values, _ in files:
                yield from wrong_numbers(f"{folder}/{name}.npy", arrays[name], values, counts)


def _points(model: Model) -> Iterator[Finding]:
    """The first alignment point outside its phrases; needs sound offsets."""
    phrases = model.tables.phrases
    for first in range(0, len(phrases.ln_scores), AT_ONCE):
        pairs = np.arange(first, min(first + AT_ONCE, len(phrases.ln_scores)))
        sources = np.searchsorted(phrases.pair_offsets, pairs, side="right") - 1
        n_points = _lengths(phrases.alignment_offsets, pairs)
        sizes = np.stack([_lengths(phrases.source_offsets, sources), _lengths(phrases.target_offsets, pairs)], axis=1)
        sizes, begin = np.repeat(sizes, n_points, axis=0), int(phrases.alignment_offsets[first])
        points = phrases.alignment_points[begin : begin + len(sizes)]
        wrong = np.flatnonzero((points >= sizes).any(axis=1))
        if wrong.size:
            (i, j), (n_source, n_target) = points[wrong[0]], sizes[wrong[0]]
            message = f"{i}-{j} at {begin + wrong[0]}, expected points of {n_source} source and {n_target} target words"
            yield "phrases/alignment_points.npy", message
            return


def _lengths(offsets: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """int64[K] lengths of the phrases `numbers` (int64[K])."""
    return np.asarray(offsets[numbers + 1] - offsets[numbers])


def _lost_phrases(model: Model) -> Iterator[Finding]:
    """The first source phrase that is not in exactly one slot of the hash table; needs sound slots."""
    phrases = model.tables.phrases
    times = np.zeros(phrases.source_counts.size, np.int32)
    for first in range(0, phrases.slots.size, AT_ONCE):
        piece = phrases.slots[first : first + AT_ONCE]
        np.add.at(times, piece[piece >= 0], 1)
    for source in np.flatnonzero(times != 1)[:1]:
        yield "phrases/slots.npy", f"source phrase {source} stands in {times[source]} slots, expected 1"


def _language_model(model: LanguageModel) -> Iterator[str]:
    tables, order = model.tables, model.order
    largest_id = int(tables.starts[2] - tables.starts[UNIGRAMS]) // 2 - 1
    for table in (VOCABULARY, *range(2, order + 1)):
        start, width, buckets = tables.starts[table], entry_width(order, table), int(tables.buckets[table])
        has_empty, name = False, "words" if table == VOCABULARY else f"{table}-grams"
        for first in range(0, buckets, AT_ONCE):
            size = min(AT_ONCE, buckets - first)
            units = tables.units[start + first * width :][: size * width].reshape(size, width)
            used = (units[:, 0] != 0) | (units[:, 1] != 0)
            has_empty |= not used.all()
            if table == VOCABULARY:
                values, is_wrong = units[:, 2], units[:, 2] > largest_id
                expected = f"ids from 0 to {largest_id}"
            else:
                values = units[:, 2:].view(np.float32)
                is_wrong, expected = ~np.isfinite(values).all(axis=1), "finite numbers"
            for row in np.flatnonzero(used & is_wrong)[:1]:
                yield f"{values[row]} in bucket {first + row} of the {name}, expected {expected}"
        if not has_empty:
            yield f"no empty bucket among the {buckets} of the {name}, expected some"
    size = 2 * (largest_id + 1)
    unigrams = tables.floats[tables.starts[UNIGRAMS] :][:size].reshape(-1, 2)
    for word in np.flatnonzero(~np.isfinite(unigrams).all(axis=1))[:1]:
        yield f"{unigrams[word]} of word {word}, expected finite numbers"
