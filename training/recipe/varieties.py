"""Training pairs whose target text is written otherwise than most: another spelling, script or language.

Texts of small languages are often gathered from sources that spell differently. A model of both writes a mixture. The
lines are divided in two by their pairs of letters: along the first principal axis, then by naive Bayes with hard
assignments (expectation maximization) until nothing changes. Two topics or styles differ little in letters, and on both
sides; two spellings differ much, on one side alone.
"""

from collections.abc import Sequence

import numpy as np

MOST_PAIRS = 800  # of letters, the most frequent
LEAST_LINES = 100  # that are divided
FITTED = 20_000  # lines by which the text is divided
BATCH = 10_000  # lines
ROUNDS = 30
LEAST_DIVERGENCE = 0.2  # of two spellings, in bits: Jensen-Shannon of their pairs of letters; of topics 0.03 to 0.12
LEAST_RATIO = 3.0  # to the divergence of the source lines


def written_otherwise(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """bool[N]: which lines of `target` are written otherwise than most; none if all are much the same.

    Where the larger part has two spellings in its turn, those of the smaller one are so, too.
    """
    others = np.zeros(len(target), bool)
    while True:
        kept = np.flatnonzero(~others)
        smaller = _smaller_part(*([side[i] for i in kept.tolist()] for side in (source, target)))
        if not smaller.any():
            return others
        others[kept[smaller]] = True


def _smaller_part(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """bool[N]: the lines of the smaller one of two spellings of `target`; none if there is one."""
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
    """The pairs of neighbouring letters that are counted: the most frequent ones of some lines."""

    def __init__(self, lines: Sequence[str]):
        _, codes = _codes(lines)
        found, times = np.unique(codes, return_counts=True)
        self.codes = np.sort(found[np.argsort(-times, kind="stable")[:MOST_PAIRS]])

    def counts(self, lines: Sequence[str]) -> np.ndarray:
        """float32[N, pairs] how often each is in each of N lines."""
        line, codes = _codes(lines)
        n_pairs = self.codes.size
        if not n_pairs:
            return np.zeros((len(lines), 0), np.float32)
        place = np.minimum(np.searchsorted(self.codes, codes), n_pairs - 1)
        known = self.codes[place] == codes
        cells = np.bincount(line[known] * n_pairs + place[known], minlength=len(lines) * n_pairs)
        return cells.reshape(len(lines), n_pairs).astype(np.float32)


def _codes(lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """int64[P] numbers of lines and int64[P] codes of all pairs of letters, at the edges of words with a space."""
    text = "\n".join(" ".join(["", *line.lower().split(), ""]) for line in lines)
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    is_end = letters == ord("\n")
    within = ~(is_end[:-1] | is_end[1:])
    return np.cumsum(is_end)[:-1][within], ((letters[:-1] << 21) | letters[1:])[within]


def _division(counts: np.ndarray) -> np.ndarray:
    """float64[P + 1] weights of pairs of letters, and a constant: lines with positive sums are of the first part."""
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
    """The Jensen-Shannon divergence, in bits, of the pairs of letters in the lines of two parts."""
    sums = _sums(LetterPairs(lines).counts(lines), is_first)
    if not all(one.sum() for one in sums):
        return 0.0
    shares = np.array([one / one.sum() for one in sums])
    ratio = np.divide(shares, shares.mean(axis=0), out=np.ones_like(shares), where=shares > 0)
    return float((shares * np.log2(ratio)).sum() / 2)
