"""A lattice prepared for the search: a sentence with its own tables, whose source phrases are the lattice's paths."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.held_out.filtered_table import NO_POINTS, FilteredTables
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.lattice_paths import Path, SourcePaths, find_paths
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair, pack_synthetic_pairs
from phrasebeam.decoder.input.term_constraints import span_rules
from phrasebeam.decoder.input.word_lattice import EMPTY, WordLattice
from phrasebeam.decoder.input.zones import NO_ZONES
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import NO_SOURCES, Sentence, Tables
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.options.candidates import Lookup, choose, lookup_of_pairs
from phrasebeam.decoder.options.score_checks import check_candidates
from phrasebeam.decoder.search.prepared_sentence import (
    LatticeWords,
    PreparedSentence,
    PreparerSettings,
    UnknownWords,
    unknown_word,
)
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.sparse.levels import NO_CLASSES, NO_CONTENT, UNCLASSED
from phrasebeam.decoder.sparse.sparse_features import sparse_of
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.vocabulary import BEGIN, END

NO_SLOTS = np.full(2, ABSENT, np.int64)  # paths are not looked up by their words


class _Rows(NamedTuple):
    """The words of all paths, concatenated; path q has the words from first[q] to end[q]."""

    words: list[str]
    first: np.ndarray  # int64[Q]
    end: np.ndarray  # int64[Q]


def prepare_lattice(
    lattice: WordLattice,
    model: Model,
    snapshot: WeightSnapshot,
    workspace: Workspace,
    bounds_checks: BoundsChecks,
    settings: PreparerSettings,
    unknown_words: UnknownWords | None = None,
) -> PreparedSentence:
    """The lattice as a sentence of n positions, with the model's table; the workspace has adopted the snapshot.

    Raises ConfigError if the numbers of the arcs' scores and of the weights differ, or the model needs tags or has
    operations.
    operations.
    """
    weights = snapshot.dense.input_score.tolist()
    _check(lattice, len(weights), model, snapshot.dense.operations.size > 0)
    words = list(dict.fromkeys(arc.word for arcs in lattice.nodes for arc in arcs))
    ids = dict(zip(words, model.source.ids(words).tolist()))
    known = {word for word, i in ids.items() if i >= 0}
    paths = find_paths(lattice, settings.longest, settings.input.lattice_paths, weights, known)
    sources = bounds_checks.find_sources(*_packed(paths, ids))
    kept = [i for i, (path, source) in enumerate(zip(paths, sources.tolist())) if len(path.words) < 2 or source >= 0]
    paths, sources = [paths[i] for i in kept], sources[kept]
    pairs, pair_offsets = _choose_pairs(sources, model, snapshot, workspace, settings.table_limit)
    tables = _tables_of(snapshot.tables, _packed(paths, ids), pair_offsets, pairs)
    unknown = np.flatnonzero(sources == ABSENT).tolist()
    synthetic = [(i, pair) for i in unknown for pair in _synthetic(paths[i], settings.input, unknown_words)]
    rows = _rows(lattice, paths, with_neighbours=model.levels is not None)
    span = max([settings.longest, *(path.end - path.begin for path in paths)])
    source_paths = SourcePaths(
        _by_span(paths, len(lattice.nodes), span),
        np.repeat(np.arange(len(paths)), np.diff(pair_offsets)),
        np.array([i for i, _ in synthetic], np.int64),
        rows.first,
        rows.end,
        np.array([path.ln_scores for path in paths], np.float64).reshape(len(paths), len(weights)),
        lattice.distances,
    )
    own = [pair for _, pair in synthetic]
    sentence = _sentence(lattice, own, span, rows.words, model)._replace(paths=source_paths)
    tags = [UNCLASSED] * len(lattice.nodes)
    return PreparedSentence(list(lattice.words), tags, own, sentence, tables, LatticeWords(paths, rows.words))


def _check(lattice: WordLattice, n_weights: int, model: Model, has_operations: bool) -> None:
    if has_operations:
        message = "operations need one order of words, and lattices and confusion networks have several"
        raise ConfigError(f"{message}; give text, or remove operations from weights.yaml and tune again")
    if model.has_tags:
        raise ConfigError("the model has features of tags, which lattices and confusion networks lack; give text")
    if not n_weights:
        raise ConfigError(
            "the model has no weight for the scores of lattices and confusion networks; give --input-weight, or "
            "input_score in weights.yaml"
        )
    if lattice.n_scores not in (n_weights, None):
        raise ConfigError(
            f"an arc has {lattice.n_scores} scores, and the model {n_weights} weights input_score; give the same number"
        )


def _packed(paths: Sequence[Path], ids: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The words of all paths as int32 ids, and int64[Q + 1] offsets of the paths."""
    offsets = np.array([0, *accumulate(len(path.words) for path in paths)], np.int64)
    return np.array([ids[word] for path in paths for word in path.words], np.int32), offsets


@kernel
def fill_pairs(lookup: Lookup, sources, pairs):
    """Write the best pairs of each of `sources` (int64[Q], ABSENT for none) to `pairs` (int64[P]), without gaps.

    `pairs` must have room for all pairs within lookup.limit.
    """
    count = np.int64(0)
    for path in range(sources.size):
        if sources[path] != ABSENT:
            first = lookup.tables.phrases.pair_offsets[sources[path]]
            for k in range(choose(sources[path], sources[path] + 1, lookup)):
                pairs[count] = first + lookup.candidates.heap[k]
                count += 1


def _choose_pairs(
    sources: np.ndarray, model: Model, snapshot: WeightSnapshot, workspace: Workspace, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """int64[P] pairs of the model's table for `sources` (int64[Q], or ABSENT), and int64[Q + 1] offsets into these."""
    offsets = snapshot.tables.phrases.pair_offsets
    sizes = np.where(sources == ABSENT, 0, offsets[sources + 1] - offsets[np.maximum(sources, 0)])
    if limit:
        sizes = np.minimum(sizes, limit)
    pairs = np.empty(sizes.sum(), np.int64)
    lookup = lookup_of_pairs(snapshot.tables, snapshot.dense, snapshot.ranking, limit, workspace.candidates)
    fill_pairs(lookup, sources, pairs)
    check_candidates(lookup, model.language_models)
    return pairs, np.append(0, np.cumsum(sizes))


def _tables_of(
    tables: Tables, words: tuple[np.ndarray, np.ndarray], pair_offsets: np.ndarray, pairs: np.ndarray
) -> FilteredTables:
    """Tables whose source phrases are paths: their words as by _packed, the offsets of their pairs, and the pairs."""
    whole = tables.phrases
    target_offsets, columns = taken(whole.target_offsets, pairs)
    phrases = PhraseTable(
        NO_SLOTS,
        source_offsets=words[1],
        source_words=words[0],
        pair_offsets=pair_offsets,
        target_offsets=target_offsets,
        target_words=whole.target_words[columns],
        ln_scores=whole.scores_of(pairs),
        **NO_POINTS,
        joint_counts=whole.joint_counts[pairs],
        source_counts=np.zeros(words[1].size - 1, np.int32),
        target_counts=whole.target_counts[pairs],
    )
    ln_reordering = tables.ln_reordering[pairs] if tables.ln_reordering.size else tables.ln_reordering
    own = tables._replace(phrases=phrases, ln_reordering=ln_reordering, sparse=sparse_of(tables.sparse, pairs))
    return FilteredTables(own, pairs)


def _synthetic(path: Path, settings: InputSettings, unknown_words: UnknownWords | None) -> list[SyntheticPair]:
    """The pairs of a path with one unknown word, or with an empty arc, which costs as much as in Moses."""
    span = path.begin, path.end
    if not path.words:
        return [SyntheticPair(*span, (), unknown=UNKNOWN_WORD)]
    copied = unknown_word(path.words[0], *span, settings)
    if not unknown_words:
        return [copied]
    found = unknown_words.of(path.words[0], *span)
    return [*found, copied._replace(ln_spelling=unknown_words.ln_copy(path.words[0]))]


def _by_span(paths: Sequence[Path], n_positions: int, longest: int) -> np.ndarray:
    """int64[S + 1], the first path of each span, see SourcePaths."""
    spans = np.array([path.begin * longest + path.end - path.begin - 1 for path in paths], np.int64)
    return np.append(0, np.cumsum(np.bincount(spans, minlength=n_positions * longest)))


def _rows(lattice: WordLattice, paths: Sequence[Path], with_neighbours: bool) -> _Rows:
    """The words of the paths; `with_neighbours`, each path stands between the likeliest words before and after it."""
    before, behind = _neighbours(lattice)
    words, first = list[str](), list[int]()
    for path in paths:
        words += [before[path.begin]] * with_neighbours
        first.append(len(words))
        words += [*path.words, *[behind[path.end]] * with_neighbours]
    starts = np.array(first, np.int64)
    return _Rows(words, starts, starts + [len(path.words) for path in paths])


def _neighbours(lattice: WordLattice) -> tuple[list[str], list[str]]:
    """The likeliest words that lead to each node, and those that leave it; or <s> and </s>."""
    n = len(lattice.nodes)
    leading: list[tuple[tuple[float, ...], str]] = [((), BEGIN)] * (n + 1)
    leaving: list[tuple[tuple[float, ...], str]] = [((), END)] * (n + 1)
    for node, arcs in enumerate(lattice.nodes):
        for arc in arcs:
            if arc.word != EMPTY:
                leaving[node] = max(leaving[node], (arc.probabilities, arc.word))
                leading[node + arc.length] = max(leading[node + arc.length], (arc.probabilities, arc.word))
    return [word for _, word in leading], [word for _, word in leaving]


def _sentence(
    lattice: WordLattice, synthetic: Sequence[SyntheticPair], span: int, rows: list[str], model: Model
) -> Sentence:
    """The sentence of the lattice's positions, without its paths."""
    n, levels = len(lattice.nodes), model.levels
    packed = pack_synthetic_pairs(synthetic, n, span, model.target, model.language_models, model.n_scores, levels)
    rules = span_rules(n, span, span, (), "exclusive")
    classes, is_content = NO_CLASSES, NO_CONTENT
    if levels is not None:
        number = {word: i for i, word in enumerate(dict.fromkeys([BEGIN, *rows, END]))}
        columns = np.array([number[word] for word in [BEGIN, *rows, END]], np.int64)
        classes = levels.classes("source", number)[columns]
        is_content = levels.content_words(list(number), [UNCLASSED] * len(number))[columns[1:-1]]
    return Sentence(np.full(n, ABSENT, np.int32), packed, span, NO_SOURCES, rules, NO_ZONES, classes, is_content)
