"""What the phrase table of a model counts of phrases that confirmed segments have: c(e), and where a pair stands."""

from functools import cached_property

import numpy as np

from phrasebeam.decoder.adaptation.segment import Words
from phrasebeam.decoder.adaptation.word_translation import WordTranslation, word_translation
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.tables.array_checks import check_phrase_table
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source
from phrasebeam.decoder.tables.source_slots import hash_phrases

SAMPLE = 1 << 10  # first pairs of a table, which tell what scores are usual


class StaticCounts:
    """Counts of a model's phrase table; any number of projects may share them, which are read when first needed."""

    def __init__(self, model: Model, prior_count: float):
        """`prior_count`: of each phrase, in a table without counts. Raises ModelError where the table is damaged."""
        check_phrase_table(model.tables.phrases, len(model.source), len(model.target))
        self.model, self.prior_count = model, prior_count
        self.phrases = model.tables.phrases
        self.has_counts = bool(self.phrases.joint_counts[:SAMPLE].any())
        # Of phrases of confirmed segments alone, which sentences ask for again and again
        self._pairs: dict[tuple[int, Words], int] = {}
        self._target_counts: dict[Words, float] = {}
        self._links: dict[tuple[int, int], float] = {}

    @cached_property
    def words(self) -> WordTranslation:
        return word_translation(self.phrases, len(self.model.source), len(self.model.target), self.prior_count)

    @cached_property
    def _targets(self) -> tuple[np.ndarray, np.ndarray]:
        """uint64[D] hashes of all target phrases, ascending, and int32[D] their counts."""
        hashes = hash_phrases(self.phrases.target_offsets, self.phrases.target_words)
        hashes, first = np.unique(hashes, return_index=True)
        return hashes, np.array(self.phrases.target_counts[first])

    @cached_property
    def usual_scores(self) -> list[float]:
        """The medians of the K scores of the first pairs, for columns of which a new pair has nothing."""
        sample = self.phrases.scores_of(slice(SAMPLE))
        return np.median(sample, axis=0).tolist() if len(sample) else [0.0] * sample.shape[1]

    def source(self, words: Words) -> int:
        """The number of a source phrase, or ABSENT."""
        ids = np.array(words, np.int32)
        return max(int(find_source(self.phrases, ids, 0, ids.size)), ABSENT)

    def source_count(self, source: int) -> float:
        """c(f) of a source phrase by its number, 0 where the table lacks it."""
        if source == ABSENT:
            return 0.0
        return float(self.phrases.source_counts[source]) if self.has_counts else self.prior_count

    def target_count(self, words: Words) -> float:
        """c(e) of a target phrase, 0 where the table lacks it."""
        if words not in self._target_counts:
            self._target_counts[words] = self._find_target_count(words)
        return self._target_counts[words]

    def _find_target_count(self, words: Words) -> float:
        hashes, counts = self._targets
        ids = np.array(words, np.int32)
        wanted = hash_phrases(np.array([0, ids.size]), ids)[0]
        place = int(np.searchsorted(hashes, wanted))
        if place == hashes.size or hashes[place] != wanted:
            return 0.0
        return float(counts[place]) if self.has_counts else self.prior_count

    def pair(self, source: int, target: Words) -> int:
        """The number of the pair of a source phrase, by its number, with a target phrase, or ABSENT."""
        if source == ABSENT:
            return ABSENT
        if (source, target) not in self._pairs:
            self._pairs[source, target] = self._find_pair(source, target)
        return self._pairs[source, target]

    def _find_pair(self, source: int, target: Words) -> int:
        table = self.phrases
        first, last = table.pair_offsets[source : source + 2].tolist()
        offsets = table.target_offsets[first : last + 1]
        found = np.flatnonzero(np.diff(offsets) == len(target))
        for i, word in enumerate(target):
            found = found[table.target_words[offsets[found] + i] == word]
        return first + int(found[0]) if found.size else ABSENT

    def links(self, source: int, target: int) -> float:
        """How often two words are linked; 0 where the model lacks one of them."""
        if (source, target) not in self._links:
            ids = np.array([source], np.int32), np.array([target], np.int32)
            self._links[source, target] = float(self.words.link_counts(*ids)[0, 0])
        return self._links[source, target]

    def source_links(self, word: int) -> float:
        counts = self.words.source_counts
        return float(counts[word]) if word < counts.size else 0.0

    def target_links(self, word: int) -> float:
        counts = self.words.target_counts
        return float(counts[word]) if word < counts.size else 0.0
