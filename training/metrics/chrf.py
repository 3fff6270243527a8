"""The statistics of chrF and chrF++ against references, as sacrebleu counts them, by a kernel for each sentence."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.ngrams.chrf import fill_chrf_statistics, grams_of


class ChrfReferences:
    """The references of M sentences."""

    def __init__(self, references: Sequence[Sequence[str]], n_statistics: int, lowercase: bool = False):
        """`references`: one list of M sentences for each set of references."""
        self.references, self.n_statistics = list(zip(*references)), n_statistics
        self.lowercase = lowercase

    def statistics(self, sentences: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """The statistics of `texts` as translations of `sentences` (int64[K]), as float32[K, n_statistics]."""
        of_sentence: dict[int, dict[str, list[int]]] = {}
        for row, (sentence, text) in enumerate(zip(sentences.tolist(), texts)):
            of_sentence.setdefault(sentence, {}).setdefault(text, []).append(row)
        out = np.zeros((len(texts), self.n_statistics), np.float32)
        for sentence, rows in of_sentence.items():
            counted = self._of_sentence(sentence, list(rows))
            places = [row for same in rows.values() for row in same]
            out[places] = counted.repeat([len(same) for same in rows.values()], axis=0)
        return out

    def _of_sentence(self, sentence: int, texts: list[str]) -> np.ndarray:
        references = self.references[sentence]
        all_texts = [*references, *texts]
        grams = grams_of([text.lower() for text in all_texts] if self.lowercase else all_texts)
        counts, sums = np.zeros(int(grams.n_nodes[0]), np.int32), np.empty(self.n_statistics)
        out = np.empty((len(texts), self.n_statistics), np.float32)
        fill_chrf_statistics(grams, np.int64(len(references)), counts, sums, np.empty(len(texts)), out)
        return out
