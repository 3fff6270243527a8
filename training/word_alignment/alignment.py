"""Symmetrized word alignment of a bitext (eflomal of Östling & Tiedemann 2016, or older models)."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.decoder.extraction.symmetrization import combined_points
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.word_alignment.align_direction import UNLINKED, AlignmentJob
from phrasebeam.training.word_alignment.alignment_points import Alignments, in_target_order
from phrasebeam.training.word_alignment.alignment_settings import Aligner, AlignmentConfig, Symmetrization
from phrasebeam.training.word_alignment.directions import AlignedDirection, AlignmentDirection, run_directions

log = logging.getLogger("phrasebeam")

# Models to train, each initialised from the previous one (Och & Ney 2003, section 4).
STAGES: dict[Aligner, list[str]] = {
    "eflomal": ["eflomal"],
    "fast_align": ["fast_align"],
    "ibm1": ["ibm1"],
    "ibm2": ["ibm1", "ibm2"],
    "hmm": ["ibm1", "hmm"],
    "ibm3": ["ibm1", "hmm", "ibm3"],
    "ibm4": ["ibm1", "hmm", "ibm3", "ibm4"],
}
# Number of words of the longest piece on either side. A pass takes time and memory in proportion to the product of both
# lengths; with pieces, these are linear in the length of a long pair. Thot's HMM and IBM models take at most 200 words.
LONGEST_PIECE = 200
BOTH = FORWARD, BACKWARD = "source_to_target", "target_to_source"
ONE_DIRECTION: dict[Symmetrization, Sequence[str]] = {"source_to_target": [FORWARD], "target_to_source": [BACKWARD]}


class Pieces(NamedTuple):
    """Sentence pairs cut into P pieces that are short enough for an aligner."""

    source: Corpus  # P sentences
    target: Corpus  # P sentences
    pairs: np.ndarray  # int64[P], sentence pair of each piece, increasing


class KeptModels(NamedTuple):
    """Where the models of both directions are read and written, and whether they score sentence pairs."""

    learned: Path | None = None  # directory of existing models, which are used in place of training
    saved: Path | None = None  # directory to which the models are written
    is_scored: bool = False  # whether sentence pairs get scores


class ScoredAlignments(NamedTuple):
    """Word alignments of N sentence pairs, and the scores of the pairs."""

    alignments: Alignments
    scores: np.ndarray | None  # float64[N], mean over both directions of ln p per word; -inf if a side is empty


NOTHING_KEPT = KeptModels()


def align(source: Corpus, target: Corpus, settings: AlignmentConfig, threads: int = 2) -> Alignments:
    """Word alignments of the sentence pairs, see align_and_keep."""
    return align_and_keep(source, target, settings, threads).alignments


def align_and_keep(
    source: Corpus, target: Corpus, settings: AlignmentConfig, threads: int = 2, kept: KeptModels = NOTHING_KEPT
) -> ScoredAlignments:
    """Word alignments of the sentence pairs, in target order. They are the same for any number of threads.

    Pairs of more than LONGEST_PIECE words are aligned in pieces, cut at the same proportion of both sides. Raises
    SmtError if an aligner fails.
    """
    pieces = cut(source, target, LONGEST_PIECE)
    n_cut = int((np.bincount(pieces.pairs) > 1).sum())
    if n_cut:
        log.warning("%d sentence pairs have more than %d words and are aligned in pieces", n_cut, LONGEST_PIECE)
    is_both = kept.saved is not None or kept.is_scored or settings.symmetrization not in ONE_DIRECTION
    names = BOTH if is_both else ONE_DIRECTION[settings.symmetrization]
    found = dict(zip(names, _directions(pieces, names, settings, threads, kept)))
    points = _points(pieces, found, settings.symmetrization)
    scores = _scores(pieces, found, source, target) if kept.is_scored else None
    return ScoredAlignments(_join_pieces(points, pieces, source, target), scores)


def cut(source: Corpus, target: Corpus, limit: int) -> Pieces:
    """Cut each pair into as few pieces as possible with at most `limit` words on either side."""
    n_source, n_target = np.diff(source.offsets), np.diff(target.offsets)
    n_pieces = np.maximum(1, -(-np.maximum(n_source, n_target) // limit))
    pairs = np.repeat(np.arange(n_pieces.size), n_pieces)
    index_in_pair = np.arange(pairs.size) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)

    def cut_side(corpus: Corpus, lengths: np.ndarray) -> Corpus:
        begins = corpus.offsets[pairs] + lengths[pairs] * index_in_pair // n_pieces[pairs]
        return Corpus(np.append(begins, corpus.offsets[-1]), corpus.tokens)

    return Pieces(cut_side(source, n_source), cut_side(target, n_target), pairs)


def schedule(settings: AlignmentConfig, n_pairs: int) -> list[tuple[str, list[int]]]:
    """Models and their numbers of passes; those of eflomal's three stages depend on `n_pairs`, as in the original."""
    if settings.aligner == "eflomal":
        sweeps = max(2, round(settings.effort * 5000 / math.sqrt(n_pairs)))
        return [("eflomal", [max(2, sweeps // 4), max(1, sweeps // 4), sweeps])]
    return [(model, [getattr(settings.iterations, model)]) for model in STAGES[settings.aligner]]


def _points(pieces: Pieces, found: dict[str, AlignedDirection], symmetrization: Symmetrization) -> np.ndarray:
    """The links of all pieces (int32[A, 3]): piece, source position, target position."""
    source, target = pieces.source, pieces.target
    if symmetrization == FORWARD:
        return one_direction(found[FORWARD].links, target)[:, [0, 2, 1]]
    if symmetrization == BACKWARD:
        return one_direction(found[BACKWARD].links, source)
    with stage("symmetrizing word alignments"):
        return symmetrize(source, target, found[FORWARD].links, found[BACKWARD].links, symmetrization)


def _scores(pieces: Pieces, found: dict[str, AlignedDirection], source: Corpus, target: Corpus) -> np.ndarray:
    """The scores of whole sentence pairs (float64[N]), see ScoredAlignments."""
    lengths = {FORWARD: np.diff(target.offsets), BACKWARD: np.diff(source.offsets)}
    is_empty = (lengths[FORWARD] == 0) | (lengths[BACKWARD] == 0)
    each = [
        np.bincount(pieces.pairs, one.ln_scores, is_empty.size) / np.maximum(lengths[name], 1)
        for name, one in found.items()
    ]
    return np.where(is_empty, -np.inf, sum(each) / len(each))


def _directions(
    pieces: Pieces, names: Sequence[str], settings: AlignmentConfig, threads: int, kept: KeptModels
) -> list[AlignedDirection]:
    """The results of the directions `names`."""
    corpora = {FORWARD: (pieces.source, pieces.target), BACKWARD: (pieces.target, pieces.source)}
    directions = [corpora[name] for name in names]
    n_source, n_target = (np.diff(corpus.offsets) for corpus in directions[0])
    n_pairs = int(((n_source > 0) & (n_target > 0)).sum())
    if n_pairs == 0:
        nothing = np.zeros(n_source.size if kept.is_scored else 0)
        return [AlignedDirection(np.full(one.tokens.size, UNLINKED, np.int32), nothing) for _, one in directions]
    stages = schedule(settings, n_pairs)
    if kept.learned:
        stages = [(stages[-1][0], [])]
    jobs = [
        AlignmentJob(
            stages,
            settings.seed,
            settings.samplers,
            *(source.offsets.size - 1, source.tokens.size, target.tokens.size),
            learned=str(kept.learned / name) if kept.learned else "",
            saved=str(kept.saved / name) if kept.saved else "",
            is_scored=kept.is_scored,
        )
        for name, (source, target) in zip(names, directions)
    ]
    processes = min(threads, len(directions))
    # Only eflomal gets several threads: its samplers are independent, so that its result does not depend on them.
    cores = max(1, threads // processes) if settings.aligner == "eflomal" else 1
    with stage(f"aligning words ({settings.aligner})", sum(job.n_passes for job in jobs), "passes") as advance:
        requests = [AlignmentDirection(job, *direction) for job, direction in zip(jobs, directions)]
        return run_directions(requests, processes, cores, advance)


def _join_pieces(points: np.ndarray, pieces: Pieces, source: Corpus, target: Corpus) -> Alignments:
    """Alignments of whole sentence pairs from the links `points` (int32[A, 3]) of their pieces."""
    piece, pair = points[:, 0], pieces.pairs[points[:, 0]]
    s = points[:, 1] + pieces.source.offsets[piece] - source.offsets[pair]
    t = points[:, 2] + pieces.target.offsets[piece] - target.offsets[pair]
    counts = np.bincount(pair, minlength=source.offsets.size - 1)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return in_target_order(Alignments(offsets, np.stack((s, t), axis=1).astype(np.int32)))


def symmetrize(source: Corpus, target: Corpus, forward: np.ndarray, backward: np.ndarray, heuristic: str) -> np.ndarray:
    """Combine both directions by `heuristic`; returns sorted points (int32[A, 3]): pair, source and target position.

    forward: int32[target words], source position of each target word, or UNLINKED (-1); backward: int32[source words],
    target position of each source word, or UNLINKED.
    """
    points = [np.zeros((0, 3), np.int32)]
    lengths = zip(np.diff(source.offsets).tolist(), np.diff(target.offsets).tolist())
    sources_of, targets_of = (forward + 1).tolist(), (backward + 1).tolist()
    s = t = 0
    for pair, (n_source, n_target) in enumerate(lengths):
        if n_source and n_target:
            found = combined_points(sources_of[t : t + n_target], targets_of[s : s + n_source], heuristic)
            numbered = np.full((len(found), 3), pair, np.int32)
            numbered[:, 1:] = found
            points.append(numbered)
        s, t = s + n_source, t + n_target
    return np.concatenate(points)


def one_direction(links: np.ndarray, corpus: Corpus) -> np.ndarray:
    """The points of `links` (int32[words]; -1: UNLINKED), as int32[A, 3]: pair, position in `corpus`, its link."""
    pairs = np.repeat(np.arange(corpus.offsets.size - 1), np.diff(corpus.offsets))
    positions = np.arange(links.size) - corpus.offsets[pairs]
    return np.stack((pairs, positions, links), axis=1)[links >= 0].astype(np.int32)
