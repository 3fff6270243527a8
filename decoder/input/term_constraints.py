"""Phrase pairs that the terms of a sentence exclude, by the policies of Moses' xml-input.

Exclusive: all pairs for any word of a term are excluded. Constraint: pairs for part of a term are excluded, and pairs
for a whole term whose target phrase contains none of its translations; a phrase with several terms needs a translation
of each. (Moses checks only the first translation of the first term.)
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from phrasebeam.decoder.input.input_settings import TermPolicy
from phrasebeam.decoder.input.sentence_input import Term
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPairs
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable, find_source
from phrasebeam.kernels.jit import inner_kernel, kernel

LENGTHS_KEPT = 256  # lengths of sentences for which rules are cached
ALLOWED, CONSTRAINED, BLOCKED = 0, 1, 2  # how many of the phrase table's pairs for a span may be used: all, some, none


def span_rules(
    n_words: int, longest: int, longest_source: int, terms: Sequence[Term], policy: TermPolicy
) -> np.ndarray:
    """int8[n_words * longest], the rule for the span begin:begin+k at [begin * longest + k - 1].

    Spans of more than `longest_source` words are BLOCKED.
    """
    if not terms:
        return _rules_without_terms(n_words, longest, longest_source)
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
    rules[:, longest_source:] = BLOCKED
    return rules.ravel()


@lru_cache(LENGTHS_KEPT)
def _rules_without_terms(n_words: int, longest: int, longest_source: int) -> np.ndarray:
    """span_rules without terms; the result is cached and must not be changed."""
    rules = np.full((n_words, longest), ALLOWED, np.int8)
    rules[:, longest_source:] = BLOCKED
    return rules.ravel()


@kernel
def find_table_pairs(phrases: PhraseTable, words, longest, synthetic: SyntheticPairs):
    """Write the phrase table's pairs with the words of synthetic pairs to `synthetic.table_pair`.

    `words` (int32[n]) are the source ids of the sentence, `longest` the words of its longest span.
    """
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
def keeps_terms(phrases: PhraseTable, pair, synthetic: SyntheticPairs, longest, begin, end):
    """Whether the target phrase of `pair` contains a translation of each term within its source words begin:end.

    `longest` (int64): number of words of the longest span in `synthetic`.
    """
    for first in range(begin, end):
        for last in range(first + 1, end + 1):
            span_index, is_term, has_translation = first * longest + last - first - 1, False, False
            for number in range(synthetic.first[span_index], synthetic.first[span_index + 1]):
                if synthetic.unknown[number] == 0.0:  # not a copy of an unknown word
                    is_term = True
                    has_translation = has_translation or _occurs(phrases, pair, synthetic, number)
            if is_term and not has_translation:
                return False
    return True


@kernel
def _occurs(phrases, pair, synthetic, number):
    """Whether the target phrase of synthetic pair `number` occurs in that of `pair` in the phrase table."""
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
