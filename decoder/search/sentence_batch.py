"""Plain sentences in batches: one call of a kernel finds their best derivations, without Python code in between.

A plain sentence has only words and no markup, and is translated with the tables of the model. Kernels read it like any
other: their arguments are images, in which the arrays of the sentence are parts of the batch's arrays.
"""

import math
from collections.abc import Callable
from functools import reduce
from typing import Annotated, Any, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPairs
from phrasebeam.decoder.input.zones import NO_ZONES
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Sentence
from phrasebeam.decoder.options.candidates import Lookup
from phrasebeam.decoder.options.future_cost import fill_future_cost
from phrasebeam.decoder.options.translation_options import fill_options
from phrasebeam.decoder.search.cube_pruning import Queues, cube_search
from phrasebeam.decoder.search.extension import SearchSpace
from phrasebeam.decoder.search.hypothesis_graph import best_derivation
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.stack_search import search
from phrasebeam.decoder.search.stacks import OK
from phrasebeam.decoder.sparse.levels import NO_CLASSES, NO_CONTENT
from phrasebeam.kernels.compilation.argument_kinds import kind_of
from phrasebeam.kernels.compiled_calls import (
    DATA,
    N_ITEMS,
    SHAPE,
    address_in,
    address_of,
    call_kernel,
    image_at,
    image_words,
    word_in_image,
    write_image,
)
from phrasebeam.kernels.jit import direct, inlined_kernel, kernel
from phrasebeam.kernels.second_compiler import call_of, second_compiler

# Why a batch stops before its end
NO_OPTIONS, NOT_SEARCHED, NO_TRANSLATION = np.int64(1), np.int64(2), np.int64(3)
# Fields of a Sentence that differ within a batch: those of its words, and those of its pairs for unknown words
WORDS, SOURCES, RULES, FIRST, TARGET_WORDS, LM_IDS, OFFSETS, PAIRS = range(8)
PAIR_FIELDS = ("alignment_points", "ln_scores", "unknown", "n_related", "n_spelled", "ln_spelling", "table_pair")
FIELDS: dict[int, list[tuple[str, ...]]] = {
    WORDS: [("words",)],
    SOURCES: [("sources",)],
    RULES: [("rules",)],
    FIRST: [("synthetic", "first")],
    TARGET_WORDS: [("synthetic", "target_words")],
    LM_IDS: [("synthetic", "lm_ids")],
    OFFSETS: [("synthetic", "target_offsets"), ("synthetic", "alignment_offsets")],
    PAIRS: [("synthetic", name) for name in PAIR_FIELDS],
}


class SentenceBatch(NamedTuple):
    """N plain sentences with T words in all. K of these are unknown, W of them are not among the V target words."""

    offsets: np.ndarray  # int64[N + 1], of the words of each sentence
    words: np.ndarray  # int32[T], source ids
    sources: np.ndarray  # int64[T * longest], see span_sources
    unknown_offsets: np.ndarray  # int64[N + 1], of the unknown words of each sentence
    unknown: np.ndarray  # int64[K], position in the sentence, ascending
    target_words: np.ndarray  # int32[K], target id of the unknown word; V + i for word i of the sentence's W
    lm_offsets: np.ndarray  # int64[N + 1], of the rows of each sentence
    lm_ids: np.ndarray  # int32[W, L], ids in the language models


class Images(NamedTuple):
    """Memory for the arguments of the kernels for one sentence."""

    lookup: Annotated[np.ndarray, array(np.int64, "A")]
    space: Annotated[np.ndarray, array(np.int64, "B")]
    first: Annotated[np.ndarray, array(np.int64, "F")]  # see SyntheticPairs


class BestDerivations(NamedTuple):
    """The best derivations of N sentences of T words; those of sentence i are offsets[i]:offsets[i + 1]."""

    offsets: Annotated[np.ndarray, array(np.int64, "N + 1")]
    pair: Annotated[np.ndarray, array(np.int64, "T")]
    begin: Annotated[np.ndarray, array(np.int32, "T")]
    end: Annotated[np.ndarray, array(np.int32, "T")]
    score: Annotated[np.ndarray, array(np.float64, "N")]
    option: Annotated[np.ndarray, array(np.int32, "T")]  # scratch space
    status: Annotated[np.ndarray, array(np.int64, 2)]  # why the batch stopped, and what a kernel returned


class BatchCalls(NamedTuple):
    """Data with which a batch calls kernels: addresses of machine code, sizes of images, and positions of fields."""

    fill_options: int
    search: int
    is_cube: bool
    counts_future: bool  # see fill_future_cost
    lookup_words: int
    space_words: int
    places: np.ndarray  # int64[2, P, 3], see places_in, in images of lookup and space


def largest_sentence(model: Model, n_words: int, n_unknown: int, longest: int) -> Sentence:
    """A sentence with arrays for `n_words` words of plain sentences, `n_unknown` of them unknown."""
    sizes = {"S": 0, "K": n_unknown, "N": n_unknown, "A": n_unknown, "W": n_unknown}
    sizes |= {"L": len(model.language_models), "T": model.n_scores}
    synthetic = allocate(
        SyntheticPairs,
        sizes,
        target_offsets=np.arange(n_unknown + 1),
        alignment_offsets=np.arange(n_unknown + 1),
        unknown=np.full(n_unknown, UNKNOWN_WORD),
        classes=NO_CLASSES,
    )
    words, rules = np.zeros(n_words, np.int32), np.zeros(n_words * longest, np.int8)
    sources = np.zeros(n_words * longest, np.int64)
    return Sentence(words, synthetic, longest, sources, rules, NO_ZONES, NO_CLASSES, NO_CONTENT)


def new_images(calls: BatchCalls, most_words: int, longest: int) -> Images:
    """Room for the images of a sentence of up to `most_words` words, with phrases of up to `longest` words."""
    return allocate(Images, {"A": calls.lookup_words, "B": calls.space_words, "F": most_words * longest + 1})


def no_sentences(n_models: int) -> SentenceBatch:
    """An empty batch, for `n_models` language models."""
    offsets, ids = np.zeros(1, np.int64), np.zeros(0, np.int32)
    nothing = np.zeros(0, np.int64)
    return SentenceBatch(offsets, ids, nothing, offsets, nothing, ids, offsets, np.zeros((0, n_models), np.int32))


def new_found(batch: SentenceBatch) -> BestDerivations:
    """Room for the best derivations of a batch."""
    return allocate(BestDerivations, {"N": batch.offsets.size - 1, "T": batch.words.size})


def places_in(struct: Lookup | SearchSpace) -> np.ndarray:
    """int64[P, 3], for each field of FIELDS its position in an image of `struct`, its kind, and its row length."""
    rows, kind = [], kind_of(struct)
    for what, paths in FIELDS.items():
        for path in paths:
            field: Any = reduce(getattr, path, struct.sentence)
            rows.append((word_in_image(kind, ("sentence", *path)), what, math.prod(field.shape[1:])))
    return np.array(rows)


def calls_for(
    lookup: Lookup, space: SearchSpace, queues: Queues, settings: SearchSettings, meanwhile: Callable[[], object]
) -> BatchCalls:
    """The calls that all batches of a model share, for arguments of these types.

    Compiles the kernels. `meanwhile` is called in this process while another one compiles the search.
    """
    is_cube, places = settings.algorithm == "cube", np.array([places_in(lookup), places_in(space)])
    n_words = image_words(kind_of(lookup)), image_words(kind_of(space))
    calls = BatchCalls(0, 0, is_cube, settings.future_cost, *n_words, places)
    images, batch = new_images(calls, 0, 0), no_sentences(lookup.tables.lms.orders.size)
    searching = call_of(cube_search, space, queues, 0) if is_cube else call_of(search, space, 0, 0)
    others = [
        searching,
        call_of(search_batch, lookup, space, queues, calls, batch, images, 0, new_found(batch)),
    ]
    with second_compiler(others):
        options_address = address_of(call_of(fill_options, lookup, space.options))
        meanwhile()
    return calls._replace(fill_options=options_address, search=address_of(searching))


@inlined_kernel
def _write_images(lookup, space, calls, batch, i, images):
    """Copy the arguments to `images`, and point the copies to the words of sentence `i` and its own pairs."""
    longest = lookup.sentence.longest
    _fill_first(batch, i, images.first, (batch.offsets[i + 1] - batch.offsets[i]) * longest, longest)
    write_image(lookup, images.lookup)
    write_image(space, images.space)
    for k in range(calls.places.shape[1]):
        _write_field(images.lookup, calls.places[0, k], batch, i, images.first, longest)
        _write_field(images.space, calls.places[1, k], batch, i, images.first, longest)


@inlined_kernel
def _fill_first(batch, i, first, n_spans, longest):
    """Write SyntheticPairs.first of sentence `i` to first[:n_spans + 1]; each unknown word has one pair."""
    k, end = batch.unknown_offsets[i], batch.unknown_offsets[i + 1]
    count = 0
    for span in range(n_spans + 1):
        first[span] = count
        if k < end and span == batch.unknown[k] * longest:
            count, k = count + 1, k + 1


@inlined_kernel
def _write_field(image, field, batch, i, first, longest):
    """Write address and size of the part of a field (int64[3], see places_in) that belongs to sentence `i`."""
    place, what, row_size = field[0], field[1], field[2]
    begin, n_words = batch.offsets[i], batch.offsets[i + 1] - batch.offsets[i]
    unknown, n_unknown = batch.unknown_offsets[i], batch.unknown_offsets[i + 1] - batch.unknown_offsets[i]
    size = n_unknown
    if what == WORDS:
        size = n_words
        image[place + DATA] = address_in(batch.words, begin)
    elif what == SOURCES:
        size = n_words * longest
        image[place + DATA] = address_in(batch.sources, begin * longest)
    elif what == RULES:
        size = n_words * longest
    elif what == FIRST:
        size = n_words * longest + 1
        image[place + DATA] = address_in(first, 0)
    elif what == TARGET_WORDS:
        image[place + DATA] = address_in(batch.target_words, unknown)
    elif what == LM_IDS:
        size = batch.lm_offsets[i + 1] - batch.lm_offsets[i]
        image[place + DATA] = address_in(batch.lm_ids, batch.lm_offsets[i])
    elif what == OFFSETS:
        size = n_unknown + 1
    image[place + SHAPE] = size
    image[place + N_ITEMS] = size * row_size


@kernel
def search_batch(
    lookup: Lookup,
    space: SearchSpace,
    queues: Queues,
    calls: BatchCalls,
    batch: SentenceBatch,
    images: Images,
    begin,
    found: BestDerivations,
):
    """Search the sentences of a batch from sentence `begin` on, and write the best derivations to `found`.

    Returns the number of the sentence at which it stopped (found.status has the reason), or the number of all
    sentences.
    """
    n_sentences = batch.offsets.size - 1
    for i in range(begin, n_sentences):
        _write_images(lookup, space, calls, batch, i, images)
        its, own = image_at(lookup, images.lookup), image_at(space, images.space)
        options, n_words = space.options, batch.offsets[i + 1] - batch.offsets[i]
        n_options = call_kernel(calls.fill_options, (its, options))
        if n_options < 0:
            found.status[0], found.status[1] = NO_OPTIONS, n_options
            return i
        fill_future_cost(options, n_words, calls.counts_future, space.future)
        if calls.is_cube:
            status = call_kernel(calls.search, (own, queues, n_words))
        else:
            status = call_kernel(calls.search, (own, n_words, n_words))
        if status != OK:
            found.status[0], found.status[1] = NOT_SEARCHED, status
            return i
        graph = space.graph
        if graph.stack_first[n_words] == graph.stack_first[n_words + 1]:
            found.status[0], found.status[1] = NO_TRANSLATION, 0
            return i
        found.score[i] = graph.score[graph.stack_first[n_words]]
        first = found.offsets[i]
        n_phrases = best_derivation(graph, n_words, found.option[first:])
        for k in range(first, first + n_phrases):
            option = found.option[k]
            found.pair[k] = options.pair[option]
            found.begin[k], found.end[k] = options.begin[option], options.end[option]
        found.offsets[i + 1] = first + n_phrases
    return n_sentences


search_all = direct(search_batch)
