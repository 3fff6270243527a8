"""Phrases to try a model with."""

import numpy as np

from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.tables.frequent_phrases import MOST_ALIKE, frequent_phrases
from tests.decoder.models import random_toy


def test_the_longest_and_most_frequent_that_differ(tmp_path):
    random_toy(tmp_path, 3, most=4)
    model = open_model(tmp_path)
    table, words = model.tables.phrases, model.source.words
    counts = np.arange(table.source_counts.size)[::-1]
    phrases = [
        [words[one] for one in table.source_words[begin:end]]
        for begin, end in zip(table.source_offsets, table.source_offsets[1:])
    ]
    expected = []
    for phrase in sorted(phrases, key=len, reverse=True):  # those that come first are the most frequent
        if all(sum(word in other for word in phrase) <= MOST_ALIKE * len(phrase) for other in expected):
            expected.append(phrase)
    found = frequent_phrases(table._replace(source_counts=counts), model.source, 3)
    assert found == [" ".join(phrase) for phrase in expected[:3]] and len(found) > 1
    empty = table._replace(source_offsets=table.source_offsets[:1], source_counts=counts[:0])
    assert frequent_phrases(empty, model.source, 3) == []
