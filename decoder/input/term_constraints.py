"""What a sentence's terms, translations that its author gives, mean for the phrase table's pairs, as in Moses.

Exclusive: no pair of the phrase table for any word of a term. Constraint: pairs over a whole term are kept where their
target holds one of the term's translations; where a phrase holds several terms, one of each. Moses looks at the first
translation of the first term alone.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from phrasebeam.decoder.input.input_settings import TermPolicy
from phrasebeam.decoder.input.sentence_input import Term
from phrasebeam.decoder.input.synthetic_pairs import LENGTHS_KEPT
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source
from phrasebeam.kernels.jit import inner_kernel, kernel

ALLOWED, CONSTRAINED, BLOCKED = 0, 1, 2  # what becomes of the phrase table's pairs for a span


def span_rules(n_words: int, longest: int, looked_up: int, terms: Sequence[Term], policy: TermPolicy) -> np.ndarray:
    """int8[n_words * longest] rule for the span begin:begin+k at [begin * longest + k - 1].

    Spans of more than `looked_up` words are blocked.
    """
    if not terms:
        return _rules_without_terms(n_words, longest, looked_up)
    rules = np.full((n_words, longest), ALLOWED, np.int8)
    if policy != "inclusive":
        length = np.arange(1, longest + 1)
        begin = np.arange(n_words)[:, None]
        end = begin + length
        for term in terms:
            overlap = (begin < term.end) & (term.begin < end)
            around = (begin <= term.begin) & (term.end <= end) & (policy == "constraint")
            rules[around] = np.maximum(rules[around], CONSTRAINED)
            rules[overlap & ~around] = BLOCKED
    rules[:, looked_up:] = BLOCKED
    return rules.ravel()


@lru_cache(LENGTHS_KEPT)
def _rules_without_terms(n_words: int, longest: int, looked_up: int) -> np.ndarray:
    """They are shared."""
    rules = np.full((n_words, longest), ALLOWED, np.int8)
    rules[:, looked_up:] = BLOCKED
    return rules.ravel()


@kernel
def find_table_pairs(phrases, words, longest, synthetic):
    """Fill own.twin for the sentence `words` (int32[n])."""
    for begin in range(words.size):
        for length in range(1, min(longest, words.size - begin) + 1):
            first, last = synthetic.first[begin * longest + length - 1], synthetic.first[begin * longest + length]
            if first == last:
                continue
            source = find_source(phrases, words, begin, begin + length)
            if source == ABSENT:
                continue
            for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
                for number in range(first, last):
                    size = synthetic.target_offsets[number + 1] - synthetic.target_offsets[number]
                    same_size = phrases.target_offsets[pair + 1] - phrases.target_offsets[pair] == size
                    if same_size and _occurs(phrases, pair, synthetic, number):
                        synthetic.table_pair[number] = pair


@inner_kernel
def keeps_terms(phrases, pair, synthetic, longest, begin, end):
    """Whether the pair, of the words begin:end, holds a translation of each term among them."""
    for first in range(begin, end):
        for last in range(first + 1, end + 1):
            place, is_term, is_kept = first * longest + last - first - 1, False, False
            for number in range(synthetic.first[place], synthetic.first[place + 1]):
                if synthetic.unknown[number] == 0.0:  # no copy
                    is_term = True
                    is_kept = is_kept or _occurs(phrases, pair, synthetic, number)
            if is_term and not is_kept:
                return False
    return True


@kernel
def _occurs(phrases, pair, synthetic, number):
    """Whether the target phrase of a synthetic pair occurs in that of one of the phrase table's."""
    begin, size = (
        synthetic.target_offsets[number],
        synthetic.target_offsets[number + 1] - synthetic.target_offsets[number],
    )
    for start in range(phrases.target_offsets[pair], phrases.target_offsets[pair + 1] - size + 1):
        n_same = 0
        while n_same < size and phrases.target_words[start + n_same] == synthetic.target_words[begin + n_same]:
            n_same += 1
        if n_same == size:
            return True
    return False
