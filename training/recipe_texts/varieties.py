"""Finds training pairs whose target text differs from most in spelling, script or language.

Texts of small languages are often gathered from sources that spell differently. A model of both spellings writes a
mixture. The lines are divided in two by their letter bigrams: along the first principal axis, then by naive Bayes with
hard assignments (expectation maximization) until nothing changes. Two topics or styles differ little in letters, and on
both sides; two spellings differ much, on one side only.
"""

from collections.abc import Sequence

import numpy as np

MOST_PAIRS = 800  # number of letter bigrams that are counted, the most frequent ones
LEAST_LINES = 100  # fewer lines are not divided
FITTED = 20_000  # approximate number of lines on which the division is fitted
BATCH = 10_000  # lines that are classified at a time
ROUNDS = 30
# Jensen-Shannon divergence of the letter bigrams of two spellings, in bits, at least; of topics it is 0.03 to 0.12
LEAST_DIVERGENCE = 0.2
LEAST_RATIO = 3.0  # minimum ratio of the divergences of the target lines and the source lines


def written_otherwise(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """Which lines of `target` differ from most in spelling, script or language (bool[N]); none if all are similar.

    If the larger part again has two spellings, the lines with the rarer one of these are included, too.
    """
    others = np.zeros(len(target), bool)
    while True:
        kept = np.flatnonzero(~others)
        smaller = _smaller_part(*([side[i] for i in kept.tolist()] for side in (source, target)))
        if not smaller.any():
            return others
        others[kept[smaller]] = True


def _smaller_part(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """The lines with the rarer of two spellings of `target` (bool[N]); none if there is only one spelling."""
    if len(target) < LEAST_LINES:
        return np.zeros(len(target), bool)
    step = -(-len(target) // FITTED)
    pairs = LetterPairs(target[::step])
    weights = _division(pairs.counts(target[::step]))
    batches = (target[i : i + BATCH] for i in range(0, len(target), BATCH))
    parts = [pairs.counts(some) @ weights[:-1] + weights[-1] > 0 for some in batches]
    is_first = np.concatenate(parts)
    if is_first.all() or not is_first.any():
        return np.zeros(len(target), bool)
    ours, theirs = (divergence(lines[::step], is_first[::step]) for lines in (target, source))
    if ours < max(LEAST_DIVERGENCE, LEAST_RATIO * theirs):
        return np.zeros(len(target), bool)
    return is_first if is_first.mean() < 0.5 else ~is_first


class LetterPairs:
    """The letter bigrams that are counted: the most frequent ones in some lines."""

    def __init__(self, lines: Sequence[str]):
        _, codes = _codes(lines)
        found, times = np.unique(codes, return_counts=True)
        self.codes = np.sort(found[np.argsort(-times, kind="stable")[:MOST_PAIRS]])

    def counts(self, lines: Sequence[str]) -> np.ndarray:
        """The count of each letter bigram in each of N lines (float32[N, pairs])."""
        line, codes = _codes(lines)
        n_pairs = self.codes.size
        if not n_pairs:
            return np.zeros((len(lines), 0), np.float32)
        place = np.minimum(np.searchsorted(self.codes, codes), n_pairs - 1)
        known = self.codes[place] == codes
        cells = np.bincount(line[known] * n_pairs + place[known], minlength=len(lines) * n_pairs)
        return cells.reshape(len(lines), n_pairs).astype(np.float32)


def _codes(lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Line number and code (int64[P] each) of every letter bigram; at the edges of a word, one letter is a space."""
    text = "\n".join(" ".join(["", *line.lower().split(), ""]) for line in lines)
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    is_end = letters == ord("\n")
    within = ~(is_end[:-1] | is_end[1:])
    return np.cumsum(is_end)[:-1][within], ((letters[:-1] << 21) | letters[1:])[within]


def _division(counts: np.ndarray) -> np.ndarray:
    """Weights of letter bigrams and a constant (float64[P + 1]): lines with positive sums are in the first part."""
    if not counts.size:
        return np.zeros(counts.shape[1] + 1)
    shares = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
    shares -= shares.mean(axis=0)
    _, axes = np.linalg.eigh((shares.T @ shares).astype(np.float64))
    is_first = shares @ axes[:, -1] > 0
    weights = np.zeros(counts.shape[1] + 1)
    for _ in range(ROUNDS):
        if is_first.all() or not is_first.any():
            break
        ln_share = [np.log((sums + 1) / (sums.sum() + sums.size)) for sums in _sums(counts, is_first)]
        prior = np.log(is_first.mean() / (1 - is_first.mean()))
        weights = np.append(ln_share[0] - ln_share[1], prior)
        now = counts @ weights[:-1] + prior > 0
        if (now == is_first).all():
            break
        is_first = now
    return weights


def _sums(counts: np.ndarray, is_first: np.ndarray) -> list[np.ndarray]:
    return [counts[part].sum(axis=0, dtype=np.float64) for part in (is_first, ~is_first)]


def divergence(lines: Sequence[str], is_first: np.ndarray) -> float:
    """The Jensen-Shannon divergence, in bits, of the letter bigrams in the lines of two parts."""
    sums = _sums(LetterPairs(lines).counts(lines), is_first)
    if not all(one.sum() for one in sums):
        return 0.0
    shares = np.array([one / one.sum() for one in sums])
    ratio = np.divide(shares, shares.mean(axis=0), out=np.ones_like(shares), where=shares > 0)
    return float((shares * np.log2(ratio)).sum() / 2)
