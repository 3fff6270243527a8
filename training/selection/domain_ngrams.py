"""The n-grams of in-domain text, and where they occur in the source sentences of a bitext."""

import logging
import string
from array import array
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import Advance, stage
from phrasebeam.kernels.jit import kernel
from phrasebeam.kernels.trie import NO_ROOM, ROOT, Trie, child, new_trie
from phrasebeam.lm.text.corpus import Words, split
from phrasebeam.lm.text.corpus_reader import read_corpus
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.training.bitext.bitext_files import BitextFiles

log = logging.getLogger("phrasebeam")

CHUNK = 1 << 18  # number of words that are processed at a time
UNKNOWN = -1  # id of words that do not occur in the in-domain text


class DomainNgrams(NamedTuple):
    """The distinct n-grams of in-domain text, numbered from 1 to F - 1; number 0 is the empty n-gram."""

    vocabulary: Vocabulary
    trie: Trie  # has no room for new nodes, so that `child` only looks up
    lengths: np.ndarray  # int64[F], lengths of the n-grams in words


class SentenceNgrams(NamedTuple):
    """In-domain n-grams of N source sentences; those of sentence i are ngrams[offsets[i]:offsets[i + 1]]."""

    offsets: np.ndarray  # int64[N + 1]
    ngrams: np.ndarray  # int32[K], repeated as often as they occur
    n_words: np.ndarray  # int32[N], length of the source sentence; 0 if a side of the pair is empty


@kernel
def _find_ngrams(trie: Trie, tokens, offsets, order, ngrams, ends):
    """Fill `ngrams` with the n-grams of up to `order` (int64) words; returns how many there are (int64).

    tokens: int32[T] word ids of sentences that begin and end at `offsets` (int64[N + 1]); ngrams: int32[T * order];
    ends: int64[N], filled with the end of each sentence in `ngrams`. New n-grams are added to a trie that has room.
    """
    n_found = np.int64(0)
    for i in range(ends.size):
        end = offsets[i + 1]
        for begin in range(offsets[i], end):
            node = ROOT
            for position in range(begin, min(begin + order, end)):
                word = np.int64(tokens[position])
                if word == UNKNOWN:
                    break
                node = child(trie, node, word)
                if node == NO_ROOM:  # longer n-grams are not in the trie, either
                    break
                ngrams[n_found] = node
                n_found += 1
        ends[i] = n_found
    return n_found


def read_domain(paths: Sequence[str | Path], order: int, words: Words = split) -> DomainNgrams:
    """The n-grams of up to `order` words in texts of one sentence a line; `words` splits a line into words.

    Raises FormatError if the texts have no words or are not UTF-8.
    """
    vocabulary = Vocabulary()
    corpora = [read_corpus(path, vocabulary, words) for path in paths]
    if not len(vocabulary):
        raise FormatError(", ".join(map(str, paths)), "no words; give text that resembles the text to translate")
    trie = new_trie(1 + order * sum(corpus.tokens.size for corpus in corpora))
    for corpus in corpora:
        ngrams, ends = np.empty(corpus.tokens.size * order, np.int32), np.empty(corpus.offsets.size - 1, np.int64)
        _find_ngrams(trie, corpus.tokens, corpus.offsets, np.int64(order), ngrams, ends)
    n_nodes = int(trie.n_nodes[0])
    trie = trie._replace(parent=trie.parent[:n_nodes].copy(), word=trie.word[:n_nodes].copy())
    nodes, lengths = np.arange(n_nodes), np.zeros(n_nodes, np.int64)
    while nodes.any():
        lengths += nodes != ROOT
        nodes = trie.parent[nodes]
    return DomainNgrams(vocabulary, trie, lengths)


def read_sentences(bitext: BitextFiles, domain: DomainNgrams, order: int, words: Words = split) -> SentenceNgrams:
    """The in-domain n-grams of up to `order` words of each source sentence. Memory grows with the number of n-grams.

    Raises FormatError if the files differ in their number of lines, are not UTF-8 or have no pair with words.
    """
    offsets, ngrams, n_words = array("q", [0]), array("i"), array("i")
    with stage("reading", unit="sentence pairs") as advance:
        for tokens, lengths in _chunks(bitext, domain.vocabulary, advance, words):
            n_words.frombytes(lengths.tobytes())
            begins = np.append(0, np.cumsum(lengths, dtype=np.int64))
            found, ends = np.empty(tokens.size * order, np.int32), np.empty(lengths.size, np.int64)
            n_found = _find_ngrams(domain.trie, tokens, begins, np.int64(order), found, ends)
            ngrams.frombytes(found[:n_found].tobytes())
            offsets.frombytes((ends + offsets[-1]).tobytes())
    n_skipped = n_words.count(0)
    if n_skipped == len(n_words):
        raise FormatError(bitext.source, f"no line has words on both sides, here and in {bitext.target}")
    if n_skipped:
        names = bitext.source.name, bitext.target.name
        log.warning("%s, %s: %d of %d pairs skipped: one side is empty", *names, n_skipped, len(n_words))
    return SentenceNgrams(*(np.frombuffer(values, values.typecode) for values in (offsets, ngrams, n_words)))


def _chunks(
    bitext: BitextFiles, vocabulary: Vocabulary, advance: Advance, words_of: Words
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield word ids (int32) of the source sentences of several pairs, and the length of each sentence (int32)."""
    tokens: list[int] = []
    lengths: list[int] = []
    for source, target in _pairs(bitext):
        words = words_of(source) if target.strip(string.whitespace) else []
        tokens += [vocabulary.index.get(word, UNKNOWN) for word in words]
        lengths.append(len(words))
        if len(tokens) + len(lengths) >= CHUNK:
            yield np.array(tokens, np.int32), np.array(lengths, np.int32)
            advance(len(lengths))
            tokens, lengths = [], []
    yield np.array(tokens, np.int32), np.array(lengths, np.int32)


def _pairs(bitext: BitextFiles) -> Iterator[tuple[str, str]]:
    """Yield lines of both sides together. Raises FormatError if one of the files ends before another."""
    paths = bitext.parallel
    for number, lines in enumerate(zip_longest(*map(read_lines, paths))):
        if None in lines:
            longer = next(path for path, line in zip(paths, lines) if line is not None)
            message = f"{number} lines, but {longer} has more; give files that are parallel line by line"
            raise FormatError(paths[lines.index(None)], message)
        yield lines[0], lines[1]
