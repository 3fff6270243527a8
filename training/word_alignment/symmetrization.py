"""Symmetrization of the word alignments of a bitext, both directions of which are known."""

import numpy as np

from phrasebeam.decoder.extraction.symmetrization import combined_points
from phrasebeam.lm.text.corpus import Corpus


def symmetrize(source: Corpus, target: Corpus, forward: np.ndarray, backward: np.ndarray, heuristic: str) -> np.ndarray:
    """int32[A, 3] points (pair, source position, target position), sorted, of both directions combined by `heuristic`.

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
    """int32[A, 3] points (pair, position in `corpus`, aligned position) of `links` (int32[words], -1: UNLINKED)."""
    pairs = np.repeat(np.arange(corpus.offsets.size - 1), np.diff(corpus.offsets))
    positions = np.arange(links.size) - corpus.offsets[pairs]
    return np.stack((pairs, positions, links), axis=1)[links >= 0].astype(np.int32)
