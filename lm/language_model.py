"""A language model from a KenLM binary or ARPA file: ids of its words, and scores of sentences as in KenLM."""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.base.files import open_binary
from phrasebeam.lm.arpa import LONGEST_HEADER, read_arpa, starts_arpa
from phrasebeam.lm.ngrams import NgramModel
from phrasebeam.lm.probing import MAGIC, REBUILD, VOCABULARY_HEADER, Header, header_size, map_image, view_tables
from phrasebeam.lm.probing_writer import build_tables
from phrasebeam.lm.query import find_words, score_texts, score_words
from phrasebeam.lm.text.corpus import words_of
from phrasebeam.lm.text.encoded_words import Words, encode
from phrasebeam.lm.text.vocabulary import BEGIN, END
from phrasebeam.process.compression import is_compressed

MAGIC_PREFIX = MAGIC[: MAGIC.index(b"code") + 4]  # starts every version of KenLM's files, finished or not
MOST_SHOWN = 60  # characters of words that messages quote
EXPECTED = "expected ARPA (plain, .gz or .zst) or a KenLM probing binary"


class LanguageModel:
    """An n-gram model of `order` in KenLM's hash tables; `begin` and `end` are the ids of <s> and </s>."""

    def __init__(self, image: np.ndarray, header: Header, path: str | Path = "language model"):
        """From the bytes (uint8) of a KenLM probing file and its header, which `load` and `from_ngrams` supply."""
        self.path, self._image = path, image
        self.tables = view_tables(image, header)
        self.order, self.counts, self._largest_id = self.tables.order, header.counts, header.counts[0]
        self.begin, self.end = (int(id) for id in self.word_ids([BEGIN, END]))

    @classmethod
    @checked
    def load(cls, path: str | Path) -> "LanguageModel":
        """The model in a KenLM probing binary (mapped) or an ARPA file (plain, .gz or .zst, built in memory).

        Raises FormatError if the file is neither, or damaged.
        """
        if is_binary(path):
            return cls(*map_image(path), path)
        model = read_arpa(path)
        try:
            return cls(*build_tables(model), path)
        except ModelError as error:
            raise FormatError(path, str(error)) from None

    @classmethod
    def from_ngrams(cls, model: NgramModel) -> "LanguageModel":
        """Build the hash tables of a model in memory. Raises ModelError if the n-grams of `model` are inconsistent."""
        return cls(*build_tables(model))

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary, including <unk>, from the header."""
        return int(VOCABULARY_HEADER.unpack_from(self._image.data, header_size(self.order))[1])

    @property
    def ended_words(self) -> np.ndarray:
        """uint8[...], the words in the order of their ids, each followed by a zero byte; [0] if there are none."""
        return self._image[self.tables.units.nbytes :]

    @checked
    def word_ids(self, words: str | Sequence[str]) -> np.ndarray:
        """int32[W] LM ids of `words`, a list or a tokenized line, 0 (<unk>) for unknown words."""
        return self.encoded_ids(encode(words_of(words)))

    def encoded_ids(self, words: Words) -> np.ndarray:
        """int32[W] LM ids of encoded words, 0 (<unk>) for unknown words. Raises FormatError if the model is damaged."""
        ids = np.empty(words.offsets.size - 1, np.int32)
        invalid_id = find_words(self.tables, words.data, words.offsets, np.int64(self._largest_id), ids)
        if invalid_id:
            raise FormatError(self.path, f"a word has the id {invalid_id}, expected 0 to {self._largest_id}; {REBUILD}")
        return ids

    def begin_state(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The state after <s>, as in `score_word`: context (int32[order - 1]), log10 backoffs (float32) and length."""
        context, backoffs = np.zeros(self.order - 1, np.int32), np.zeros(self.order - 1, np.float32)
        context[0] = self.begin
        backoffs[0] = self.tables.floats[self.tables.starts[1] + 2 * self.begin + 1]
        return context, backoffs, 1

    @checked
    def score(self, words: str | Sequence[str], begin: bool = True, end: bool = True) -> float:
        """log10 p of a sentence, a list of words or a tokenized line, after <s> if `begin` and with </s> if `end`.

        `score` and `full_scores` have the same arguments and results as in KenLM's Python module:

        >>> lm = LanguageModel.load("model/lm.bin")
        >>> lm.score("der hund schläft .") == lm.score(["der", "hund", "schläft", "."])
        True
        """
        return float(np.sum(self._score(words, begin, end)[0], dtype=np.float64))

    @checked
    def full_scores(
        self, words: str | Sequence[str], begin: bool = True, end: bool = True
    ) -> list[tuple[float, int, bool]]:
        """(log10 p, length of the n-gram matched, whether the word is unknown) of every word, with </s> if `end`."""
        log10_probs, lengths, ids = self._score(words, begin, end)
        return list(zip(log10_probs.tolist(), lengths.tolist(), (ids == 0).tolist()))

    def _score(self, words: str | Sequence[str], begin: bool, end: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """log10 p (float32), lengths of n-grams matched (int64) and LM ids (int32) of all words, with </s> if `end`."""
        ids = self.word_ids(words)
        if end:
            ids = np.append(ids, np.int32(self.end))
        return *self.score_ids(ids, begin), ids

    def score_ids(self, ids: np.ndarray, begin: bool) -> tuple[np.ndarray, np.ndarray]:
        """log10 p (float32[T]) of LM ids (int32[T]), after <s> if `begin`, and lengths of n-grams matched (int64[T]).

        Raises ModelError if the model is so damaged that a score is not a log10 probability.
        """
        contexts, backoffs = np.zeros((2, self.order - 1), np.int32), np.zeros((2, self.order - 1), np.float32)
        length = 0
        if begin:
            contexts[0], backoffs[0], length = self.begin_state()
        log10_probs, lengths = np.empty(ids.size, np.float32), np.empty(ids.size, np.int64)
        _, _, n_sound = score_words(self.tables, ids, contexts, backoffs, length, log10_probs, lengths)
        if n_sound < ids.size:
            context = [self.begin] * (begin and n_sound < self.order - 1)
            context += ids[max(0, n_sound - self.order + 1) : n_sound].tolist()
            after = f" after {self._shown(context)}" if context else ""
            found = f"log10 p of {self._shown([int(ids[n_sound])])}{after} is {log10_probs[n_sound]:g}"
            raise ModelError(f"{self.path}: {found}, expected a number of at most 0; copy it again or {REBUILD}")
        return log10_probs, lengths

    def score_texts(self, ids: np.ndarray, first: np.ndarray) -> np.ndarray:
        """log10 p (float64[N]) of texts of LM ids (int32), each after <s>; text i is ids[first[i]:first[i + 1]].

        Raises ModelError if the model is damaged.
        """
        contexts, backoffs = np.zeros((2, self.order - 1), np.int32), np.zeros((2, self.order - 1), np.float32)
        log10_probs = np.empty(first.size - 1)
        score_texts(self.tables, ids, first, np.int32(self.begin), contexts, backoffs, log10_probs)
        if np.isnan(log10_probs).any():
            raise ModelError(f"{self.path}: not the log10 probability of any text; copy it again or {REBUILD}")
        return log10_probs

    def _shown(self, ids: list[int]) -> str:
        """The words of LM ids for messages, as far as the file contains them."""
        words = self.ended_words.tobytes().decode("utf-8", "replace").split("\0")
        return repr(" ".join(words[i] if i < len(words) - 1 else f"word {i}" for i in ids)[:MOST_SHOWN])


def is_binary(path: str | Path) -> bool:
    """Whether the file is a KenLM binary rather than ARPA. Raises FormatError if it is clearly neither."""
    try:
        with open_binary(path) as file:
            start = file.read(LONGEST_HEADER)
            compressed = is_compressed(file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(path, f"damaged compressed data ({error}); copy the file again") from None
    if start.startswith(MAGIC_PREFIX):
        if compressed:
            raise FormatError(path, "a compressed KenLM binary cannot be mapped; decompress it (gunzip, unzstd)")
        return True
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise FormatError(path, f"empty; {EXPECTED}")
    if text.startswith(b"iARPA"):
        raise FormatError(path, "IRSTLM's iARPA; convert it to ARPA: compile-lm --text yes MODEL MODEL.arpa")
    if starts_arpa(start):
        return False
    found = f"starts with {text[:16]!r}, and has no line \\data\\ in its first {LONGEST_HEADER >> 10}K"
    raise FormatError(path, f"not a language model: {found}; {EXPECTED} ({REBUILD})")
