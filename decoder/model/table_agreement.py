"""A check of whether the tables of a model agree: what each says about the others, and what a search finds in them.

All checks need numbers that are valid for their files.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from phrasebeam.base.errors import excerpt
from phrasebeam.base.memory_bound import pieces_of_rows
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.operations.operation_model import UNKNOWN_ID
from phrasebeam.decoder.operations.word_operations import misnamed
from phrasebeam.decoder.tables.array_checks import AT_ONCE, Finding
from phrasebeam.decoder.tables.model_files import ORIENTATIONS, TYPES
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable, find_source
from phrasebeam.decoder.tables.word_counts import FOLDER, SIDES
from phrasebeam.kernels.jit import kernel

AGREES, OF_SOURCE, OF_TARGET = np.int64(0), np.int64(1), np.int64(2)  # status of counts
COUNTS = {OF_SOURCE: "summed over the pairs of source phrase", OF_TARGET: "of pair"}
LIMITS = {OF_SOURCE: "phrases/source_counts.npy", OF_TARGET: "phrases/target_counts.npy"}
N_CLASSES = ORIENTATIONS // 2  # in each direction


def disagreements(model: Model) -> Iterator[Finding]:
    """The first contradiction of each kind between tables."""
    phrases = model.tables.phrases
    yield from _points(phrases)
    lost = [*_lost_phrases(phrases)]
    yield from lost or _other_phrases(model)  # searching a table without empty slots would read all of it each time
    if model.description.is_estimated:
        yield from _counts(phrases)
        yield from _orientations(model)
        yield from _target_types(model)
        yield from _word_counts(model)
    yield from _nameless_features(model)
    yield from _operations(model)


def _points(phrases: PhraseTable) -> Iterator[Finding]:
    """The first alignment point outside its phrases."""
    for first in pieces_of_rows(phrases.n_pairs, AT_ONCE):
        pairs = np.arange(first, min(first + AT_ONCE, phrases.n_pairs))
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
    """int64[K], lengths of the phrases `numbers` (int64[K])."""
    return np.asarray(offsets[numbers + 1] - offsets[numbers])


def _lost_phrases(phrases: PhraseTable) -> Iterator[Finding]:
    """The first source phrase that does not occur in exactly one slot of the hash table."""
    times = np.zeros(phrases.source_counts.size, np.int32)
    for first in pieces_of_rows(phrases.slots.size, AT_ONCE):
        piece = phrases.slots[first : first + AT_ONCE]
        np.add.at(times, piece[piece >= 0], 1)
    for source in np.flatnonzero(times != 1)[:1]:
        yield "phrases/slots.npy", f"source phrase {source} is in {times[source]} slots, expected 1"


@kernel
def find_other_phrase(phrases: PhraseTable):
    """The first source phrase that its own words do not find, and what they find; ABSENT twice if there is none."""
    for source in range(phrases.source_offsets.size - 1):
        begin, end = phrases.source_offsets[source], phrases.source_offsets[source + 1]
        found = find_source(phrases, phrases.source_words, begin, end)
        if found != source:
            return np.int64(source), np.int64(found)
    return np.int64(ABSENT), np.int64(ABSENT)


def _other_phrases(model: Model) -> Iterator[Finding]:
    phrases = model.tables.phrases
    source, found = find_other_phrase(phrases)
    if source != ABSENT:
        ids = phrases.source_words[slice(*phrases.source_offsets[source : source + 2])].tolist()
        text = excerpt(" ".join(map(model.source.word, ids)))
        where = f"source phrase {found}" if found >= 0 else "nothing"
        message = f"of source phrase {source}, {text}, find {where} in slots.npy, expected {source}"
        yield "phrases/source_words.npy", f"the words {message}"


@kernel
def find_wrong_count(phrases: PhraseTable):
    """A status, and the first phrase pair or source phrase whose count contradicts that of its pairs; all int64.

    Returns the status, the number of the pair or phrase, the count of pairs, and the count that it must not exceed.
    """
    for source in range(phrases.source_counts.size):
        total, limit = np.int64(0), np.int64(phrases.source_counts[source])
        for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
            joint, of_target = np.int64(phrases.joint_counts[pair]), np.int64(phrases.target_counts[pair])
            if joint > of_target:
                return OF_TARGET, np.int64(pair), joint, of_target
            total += joint
        if total > limit:
            return OF_SOURCE, np.int64(source), total, limit
    return AGREES, np.int64(0), np.int64(0), np.int64(0)


def _counts(phrases: PhraseTable) -> Iterator[Finding]:
    """The first count of phrase pairs above the count of their source phrase or their target phrase."""
    status, phrase, found, limit = find_wrong_count(phrases)
    if status != AGREES:
        status = np.int64(status)
        message = f"{found} {COUNTS[status]} {phrase}, expected at most {limit} as in {LIMITS[status]}"
        yield "phrases/joint_counts.npy", message


def _orientations(model: Model) -> Iterator[Finding]:
    """The first pair seen more often in some orientation than in total."""
    joint = model.tables.phrases.joint_counts
    for first in pieces_of_rows(len(model.reordering_counts), AT_ONCE):
        piece = model.reordering_counts[first : first + AT_ONCE].astype(np.int64)
        totals = piece.reshape(-1, 2, N_CLASSES).sum(axis=2).max(axis=1)
        for row in np.flatnonzero(totals > joint[first : first + AT_ONCE])[:1]:
            limit = f"{joint[first + row]} as in phrases/joint_counts.npy"
            yield "reordering/counts.npy", f"{totals[row]} in all of pair {first + row}, expected at most {limit}"
            return


def _target_types(model: Model) -> Iterator[Finding]:
    """The first pair that is missing in the counts of its target phrase."""
    types, joint = model.discounting.target_types, model.tables.phrases.joint_counts
    for first in pieces_of_rows(len(types), AT_ONCE):
        column = np.clip(joint[first : first + AT_ONCE], 1, TYPES) - 1
        own = np.take_along_axis(types[first : first + AT_ONCE], column[:, np.newaxis], axis=1)[:, 0]
        for row in np.flatnonzero(own < 1)[:1]:
            times = f"its target phrase occur {joint[first + row]} times"
            yield "smoothing/target_types.npy", f"0 of pair {first + row}, expected 1 or more, since pairs of {times}"
            return


def _word_counts(model: Model) -> Iterator[Finding]:
    """The first word of each side whose number of sentences contradicts its number of occurrences."""
    for side, (occurrences, sentences) in zip(SIDES, model.word_counts()):
        for word in np.flatnonzero((sentences > occurrences) | ((sentences < 1) & (occurrences > 0)))[:1]:
            message = f"{sentences[word]} of word {word}, expected at least 1 and at most {occurrences[word]}"
            yield f"{FOLDER}/{side}_sentences.npy", f"{message} as in {FOLDER}/{side}_occurrences.npy"


def _nameless_features(model: Model) -> Iterator[Finding]:
    """The first feature of a pair that has no name."""
    names, keys = np.array([*model.pair_names], np.uint64), model.tables.sparse.pair_keys
    for first in pieces_of_rows(keys.size, AT_ONCE):
        for row in np.flatnonzero(~np.isin(keys[first : first + AT_ONCE], names))[:1]:
            message = f"{keys[first + row]} at {first + row}, expected the hash of a line of sparse/pairs/names"
            yield "sparse/pairs/keys.npy", message
            return


def _operations(model: Model) -> Iterator[Finding]:
    if (names := model.operation_names) is not None:
        operations = model.tables.operations
        for row in np.flatnonzero(operations.ids == UNKNOWN_ID)[:1].tolist():
            message = "is not in operations/lm.bin, expected one of its words"
            yield "operations/names", f"line {row + 1}, {excerpt(names.word(row))}, {message}"
        for row, expected in islice(misnamed(operations.keys, names, model.source, model.target), 1):
            yield "operations/names", f"line {row + 1}, {excerpt(names.word(row))}, expected {expected}"
