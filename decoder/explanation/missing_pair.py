"""The first phrase pair that a model lacks for a given translation.

It is the place up to which its phrase pairs can produce the translation, and where none can continue. Limits of jumps
and scores do not matter here.
"""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.explanation.weighted_features import Plain
from phrasebeam.decoder.options.option_arrays import Options

MOST_STATES = 50_000  # pairs of a coverage and a position
Step = tuple[int, int]  # the bits of the source words that an option covers, and the position after its target words


class MissingPair(Plain):
    """The place in a given translation from which no phrase pair of the sentence can continue it."""

    produced: str  # the longest beginning of the translation that they can produce
    rest: str  # the remainder, which they cannot continue
    untranslated: list[int]  # positions of the source words that remain then; one of them would need the missing pair
    unknown: list[str]  # words of the translation that occur in no phrase pair of the sentence
    is_exact: bool  # False if there were too many ways to follow all

    @property
    def is_certain(self) -> bool:
        """Whether a pair is certainly missing, even if not all ways were followed."""
        return bool(self.unknown) or (self.is_exact and bool(self.rest or self.untranslated))


def missing_pair(options: Options, n_words: int, reference: np.ndarray, words: Sequence[str]) -> MissingPair:
    """Follow `words` (target ids: `reference`, int32[m]) with the options of a sentence of `n_words` words."""
    steps = _steps(options, n_words, reference)
    covered, position, is_exact = _furthest(steps, len(words))
    used = set(options.words[: options.target_first[_n_targets(options, n_words)]].tolist())
    return MissingPair(
        produced=" ".join(words[:position]),
        rest=" ".join(words[position:]),
        untranslated=[i for i in range(n_words) if not covered >> i & 1],
        unknown=list(dict.fromkeys(word for word, i in zip(words, reference.tolist()) if i not in used)),
        is_exact=is_exact,
    )


def _n_targets(options: Options, n_words: int) -> int:
    return int(options.target[: options.first[n_words * options.longest]].max(initial=-1)) + 1


def _steps(options: Options, n_words: int, reference: np.ndarray) -> list[list[Step]]:
    """For each position of the reference, the options that produce the words from there."""
    wanted, firsts, ends = reference.tolist(), options.target_first[:-1], options.target_first[1:]
    target_of = options.target[: options.first[n_words * options.longest]]
    is_empty = firsts[target_of] == ends[target_of]
    can_begin = np.isin(options.words[np.minimum(firsts[target_of], options.words.size - 1)], reference)
    places = dict[int, list[tuple[int, int]]]()  # begins and ends of each target phrase in the reference
    steps: list[list[Step]] = [[] for _ in range(len(wanted) + 1)]
    for option in np.flatnonzero(is_empty | can_begin).tolist():
        target = int(target_of[option])
        if target not in places:
            phrase = options.words[options.target_first[target] : options.target_first[target + 1]].tolist()
            size = len(phrase)
            begins = range(len(wanted) - size + 1)
            places[target] = [(i, i + size) for i in begins if wanted[i : i + size] == phrase]
        begin, end = int(options.begin[option]), int(options.end[option])
        bits = (1 << end) - (1 << begin)
        for first, last in places[target]:
            steps[first].append((bits, last))
    return [list(dict.fromkeys(some)) for some in steps]


def _furthest(steps: Sequence[Sequence[Step]], size: int) -> tuple[int, int, bool]:
    """(coverage, position, whether all were followed) of the state that produces most words, then covers most."""
    coverages: list[dict[int, None]] = [{} for _ in range(size + 1)]  # for each position, an ordered set
    coverages[0][0] = None
    n_states, best, is_exact = 1, (0, 0), True
    for position in range(size + 1):
        waiting = list(coverages[position])
        for covered in waiting:  # the list grows by options without target words
            if (position, covered.bit_count()) > (best[0], best[1].bit_count()):
                best = position, covered
            for bits, behind in steps[position]:
                after = covered | bits
                if covered & bits or after in coverages[behind]:
                    continue
                if n_states == MOST_STATES:
                    is_exact = False
                    continue
                n_states += 1
                coverages[behind][after] = None
                if behind == position:
                    waiting.append(after)
    return best[1], best[0], is_exact
