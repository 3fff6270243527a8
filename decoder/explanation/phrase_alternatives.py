"""What else a span of the sentence could have been translated to: its translation options, and their scores."""

import numpy as np

from phrasebeam.decoder.explanation.derivation_vectors import vectors
from phrasebeam.decoder.explanation.weighted_features import Plain, Weighing
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult


class PhraseAlternative(Plain):
    """A target phrase for the source words of a phrase."""

    target: str
    score: float  # of the phrase pair alone: weighted features that need no context
    estimate: float  # with its own language model score, by which options are ranked
    total: float  # of the whole translation, with this phrase in place of the one that was chosen
    is_chosen: bool


def alternatives(
    result: SearchResult, weighing: Weighing, derivation: Derivation, number: int, most: int
) -> list[PhraseAlternative]:
    """The options of the span of phrase `number` of a derivation: the `most` best, and the chosen one, by their total.

    There are none for words of a prefix that no source words give. The search must have looked its options up.
    """
    options = result.workspace.options
    begin, end, pair = (int(field[number]) for field in (derivation.begin, derivation.end, derivation.pair))
    if begin == end:
        return []
    first, last = options.first[begin * options.longest + end - begin - 1 :][:2].tolist()
    chosen = np.arange(first, min(last, first + most))
    behind = first + most + np.flatnonzero(options.pair[first + most : last] == pair)
    chosen = np.concatenate([chosen, behind])
    totals = vectors(result, [_replaced(derivation, number, int(options.pair[i])) for i in chosen]) @ weighing.weights
    pairs = original_pairs(options.pair[chosen], result.source.tables.origin).tolist()
    found = [
        PhraseAlternative(
            target=" ".join(result.target(original)),
            score=options.score[i],
            estimate=options.estimate[i],
            total=total,
            is_chosen=options.pair[i] == pair,
        )
        for i, original, total in zip(chosen, pairs, totals.tolist())
    ]
    return sorted(found, key=lambda one: (-one.total, one.target))


def _replaced(derivation: Derivation, number: int, pair: int) -> Derivation:
    """The derivation with another pair for the span of one of its phrases."""
    pairs = derivation.pair.copy()
    pairs[number] = pair
    return derivation._replace(pair=pairs)
