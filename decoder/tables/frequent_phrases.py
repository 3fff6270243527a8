"""The longest and most frequent source phrases of the training text, for trying a model without a text at hand."""

import numpy as np

from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

LOOKED_AT = 1 << 20  # number of source phrases that are compared, so that a large table is not read as a whole
TRIED = 200  # number of candidates among them, best first
MOST_ALIKE = 0.5  # share of the words of a phrase that may be in another chosen phrase


def frequent_phrases(table: PhraseTable, source: FixedVocabulary, n: int) -> list[str]:
    """Up to `n` phrases, most of whose words differ: the longest first, of equally long phrases the most frequent."""
    lengths = np.diff(table.source_offsets[: LOOKED_AT + 1])
    order = np.lexsort((-np.asarray(table.source_counts[:LOOKED_AT]), -lengths))[:TRIED]
    found = list[list[str]]()
    for number in order:
        begin, end = table.source_offsets[number : number + 2]
        words = list(map(source.word, table.source_words[begin:end]))
        if words and all(_share_in(words, other) <= MOST_ALIKE for other in found):
            found.append(words)
        if len(found) == n:
            break
    return [" ".join(words) for words in found]


def _share_in(words: list[str], other: list[str]) -> float:
    return sum(word in other for word in words) / len(words)
