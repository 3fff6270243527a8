"""Random phrase tables and text, for large_table.py; when run as a program, it writes a model directory.

python -m benchmarks.speed.synthetic_table PAIRS SEED LM OUTPUT MEMORY
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.config import parse_size, save_config
from phrasebeam.base.files import atomic_directory
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import MODEL_FORMAT, ModelDescription, save_description
from phrasebeam.decoder.tables.phrase_table import PhraseTable, ReorderingTable, floored_ln, open_phrase_table
from phrasebeam.decoder.tables.table_writer import TableWriter
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

N_WORDS = 1_000_000  # on each side
LONGEST = 5  # words in a phrase
PHRASES_PER_PIECE = 1 << 17
MOST_TARGETS = 20_000  # translations of a frequent word
USUAL_TARGETS = 12  # most translations of other phrases; their number is log-uniform
TEXT_SENTENCES, TEXT_WORDS = 200_000, 20
INI = """[mapping]
0 T 0
[distortion-limit]
6
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table
LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-msd-bidirectional-fe-allff path=reordering-table
Distortion
KENLM name=LM0 factor=0 path={name} order=3
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TranslationModel0= 0.2 0.2 0.2 0.2
LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3
Distortion0= 0.3
LM0= 0.5
"""


class Piece(NamedTuple):
    """Source phrases and their pairs; each row has the words of a phrase, padded with -1."""

    sources: np.ndarray  # int32[N, LONGEST]
    n_targets: np.ndarray  # int64[N]
    targets: np.ndarray  # int32[P, LONGEST]
    probabilities: np.ndarray  # float64[P, 4]
    orientations: np.ndarray  # float64[P, 6]


def pieces(n_pairs: int, seed: int) -> Iterator[Piece]:
    """Pieces with `n_pairs` pairs in all; source phrases are ordered by first word, from the rarest word on."""
    rng = np.random.default_rng(seed)
    per_word = np.maximum(1, 0.45 * n_pairs / np.log(N_WORDS) / np.arange(1, N_WORDS + 1)).astype(np.int64)
    last = N_WORDS
    while last > 0 and n_pairs > 0:
        ahead = np.cumsum(per_word[last - 1 :: -1][:PHRASES_PER_PIECE])
        first = last - max(1, int(np.searchsorted(ahead, PHRASES_PER_PIECE, "right")))
        piece = _piece(rng, np.arange(first, last), per_word[first:last])
        last = first
        if len(piece.targets) > n_pairs:
            piece = _cut(piece, n_pairs)
        n_pairs -= len(piece.targets)
        yield piece


def zipfian(rng: np.random.Generator, size: int | tuple[int, int]) -> np.ndarray:
    """int32 random words; the word of rank r has a probability of about 1 / r."""
    return (N_WORDS ** rng.random(size) - 1).astype(np.int32)


def _piece(rng: np.random.Generator, first_words: np.ndarray, per_word: np.ndarray) -> Piece:
    sources = _phrases(rng, int(per_word.sum()))
    sources[:, 0] = np.repeat(first_words, per_word)
    sources[np.cumsum(per_word) - per_word, 1:] = -1  # one phrase of each word is that word alone
    sources = sources[_distinct(sources)]
    n_targets = (USUAL_TARGETS ** rng.random(len(sources))).astype(np.int64)
    alone = sources[:, 1] < 0
    n_targets[alone] += np.minimum(MOST_TARGETS, 3 * MOST_TARGETS // (1 + sources[alone, 0]))
    of_pair = np.repeat(np.arange(len(sources)), n_targets)
    targets = _phrases(rng, of_pair.size)
    kept = _distinct(np.column_stack((of_pair, targets)))
    n_targets = np.bincount(of_pair[kept], minlength=len(sources))
    return Piece(sources, n_targets, targets[kept], rng.random((kept.size, 4)), rng.random((kept.size, 6)))


def _phrases(rng: np.random.Generator, n: int) -> np.ndarray:
    """int32[n, LONGEST] random phrases."""
    words = zipfian(rng, (n, LONGEST))
    words[np.arange(LONGEST) >= rng.integers(1, LONGEST + 1, n)[:, None]] = -1
    return words


def _distinct(rows: np.ndarray) -> np.ndarray:
    """int64[K]: the first index of each distinct row, ascending; by hash, so that two different rows may collide."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ (column.astype(np.int64) + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return np.sort(np.unique(keys, return_index=True)[1])


def _cut(piece: Piece, n_pairs: int) -> Piece:
    """The first `n_pairs` pairs."""
    ends = np.minimum(np.cumsum(piece.n_targets), n_pairs)
    n_targets = np.diff(ends, prepend=0)
    kept = n_targets > 0
    return Piece(piece.sources[kept], n_targets[kept], *(rows[:n_pairs] for rows in piece[2:]))


def as_table(piece: Piece) -> tuple[PhraseTable, ReorderingTable]:
    """The piece as our tables; the words of a pair are aligned one to one."""
    lengths = (piece.targets >= 0).sum(axis=1)
    counts = np.ones(len(piece.targets), np.int32)
    positions = np.broadcast_to(np.arange(LONGEST), piece.targets.shape)
    source_lengths = np.repeat((piece.sources >= 0).sum(axis=1), piece.n_targets)
    aligned = positions < np.minimum(lengths, source_lengths)[:, None]
    phrases = PhraseTable(
        np.zeros(0, np.int64),
        _offsets((piece.sources >= 0).sum(axis=1)),
        piece.sources[piece.sources >= 0],
        _offsets(piece.n_targets),
        _offsets(lengths),
        piece.targets[piece.targets >= 0],
        floored_ln(piece.probabilities),
        _offsets(aligned.sum(axis=1)),
        np.column_stack((positions[aligned], positions[aligned])).astype(np.uint8),
        counts,
        piece.n_targets.astype(np.int32),
        counts,
    )
    return phrases, ReorderingTable(floored_ln(piece.orientations), np.zeros((counts.size, 8), np.int32))


def _offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def write_model(n_pairs: int, seed: int, language_model: Path, output: Path, memory: int) -> None:
    """Write a model directory of the pairs, piece by piece."""
    with atomic_directory(output) as directory:
        for name in ("phrases", "reordering"):
            (directory / name).mkdir()
        with TableWriter(directory / "phrases", directory / "reordering", 6, memory=memory // 2) as writer:
            for piece in pieces(n_pairs, seed):
                writer.append(*as_table(piece))
        for side in ("source", "target"):
            names = (f"{side[0]}{i}\n" for i in range(N_WORDS))
            (directory / f"{side}.vocab").write_text("".join(names), encoding="utf-8")
        (directory / "lm.bin").write_bytes(language_model.read_bytes())
        save_config(Weights(), directory / "weights.yaml")
        description = ModelDescription(
            format=MODEL_FORMAT,
            version="0",
            signature="synthetic",
            sentence_pairs=0,
            source_words=N_WORDS,
            target_words=N_WORDS,
            max_source_phrase_length=writer.sizes.longest_source,
            max_target_phrase_length=writer.sizes.longest_target,
            max_pairs_per_source_phrase=writer.sizes.most_pairs,
            language_model_order=LanguageModel.load(language_model).order,
            reordering=Reordering(),
            settings={},
            data={},
        )
        save_description(description, directory)


def write_text_model(directory: Path, n_pairs: int, seed: int, language_model: Path) -> None:
    """Write the same model as Moses' text tables with a moses.ini."""
    with open(directory / "phrase-table", "w") as phrases, open(directory / "reordering-table", "w") as reordering:
        for piece in pieces(n_pairs, seed):
            of_pair = np.repeat(np.arange(len(piece.sources)), piece.n_targets).tolist()
            sources, targets = _texts(piece.sources, "s"), _texts(piece.targets, "t")
            pairs = [f"{sources[i]} ||| {target} ||| " for i, target in zip(of_pair, targets)]
            scores, orientations = piece.probabilities.tolist(), piece.orientations.tolist()
            phrases.writelines(
                f"{pair}{a:.6g} {b:.6g} {c:.6g} {d:.6g} ||| 0-0 ||| 1 1 1 ||| |||\n"
                for pair, (a, b, c, d) in zip(pairs, scores)
            )
            reordering.writelines(
                f"{pair}{a:.6g} {b:.6g} {c:.6g} {d:.6g} {e:.6g} {f:.6g}\n"
                for pair, (a, b, c, d, e, f) in zip(pairs, orientations)
            )
    (directory / "moses.ini").write_text(INI.format(name=language_model.name))


def _texts(phrases: np.ndarray, letter: str) -> list[str]:
    return [" ".join([f"{letter}{word}" for word in words if word >= 0]) for words in phrases.tolist()]


def write_target_text(path: Path, seed: int) -> None:
    """Write a text for the language model."""
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for _ in range(TEXT_SENTENCES // 1000):
            lines = zipfian(rng, (1000, TEXT_WORDS)).tolist()
            file.writelines(" ".join([f"t{word}" for word in line]) + "\n" for line in lines)


def write_sentences(model: Path, n: int, seed: int, path: Path) -> None:
    """Write sentences of five source phrases each, drawn uniformly from the model's table."""
    phrases, words = open_phrase_table(model / "phrases"), FixedVocabulary(model / "source.vocab")
    offsets = phrases.source_offsets
    drawn = np.random.default_rng(seed).integers(offsets.size - 1, size=(n, 5)).tolist()
    with open(path, "w") as file:
        for row in drawn:
            ids = [i for k in row for i in phrases.source_words[offsets[k] : offsets[k + 1]]]
            file.write(" ".join([words.word(i) for i in ids]) + "\n")


if __name__ == "__main__":
    pairs, seed, model, output, memory = sys.argv[1:]
    if memory == "text":
        write_text_model(Path(output), int(pairs), int(seed), Path(model))
    else:
        write_model(int(pairs), int(seed), Path(model), Path(output), int(str(parse_size(memory))))
