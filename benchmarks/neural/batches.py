"""Text as pieces of a byte-pair encoding, and training pairs in batches with about equal numbers of pieces."""

import random
from collections.abc import Iterator
from pathlib import Path

import sentencepiece
import torch
from torch import Tensor

PAD, UNKNOWN, BEGIN, END = range(4)
Pair = tuple[list[int], list[int]]


def encoding(texts: list[Path], directory: Path, n_pieces: int) -> sentencepiece.SentencePieceProcessor:
    """The joint byte-pair encoding of these texts, trained unless it is in the directory; it keeps spaces."""
    path = directory / "pieces.model"
    if not path.exists():
        sentencepiece.SentencePieceTrainer.train(
            input=[str(text) for text in texts],
            model_prefix=str(directory / "unfinished"),
            model_type="bpe",
            vocab_size=n_pieces,
            character_coverage=1.0,
            normalization_rule_name="identity",
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=BEGIN,
            eos_id=END,
            num_threads=1,
            minloglevel=2,
        )
        (directory / "unfinished.model").rename(path)
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def padded(rows: list[list[int]]) -> Tensor:
    """Rows of pieces as one array with padding, (rows, longest)."""
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def batches(pairs: list[Pair], n_tokens: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Source and target of all pairs in batches in random order; pairs in a batch have about equal lengths."""
    chance = random.Random(seed)
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][1]), len(pairs[i][0]), chance.random()))
    groups: list[list[int]] = [[]]
    for i in order:
        if (len(groups[-1]) + 1) * (len(pairs[i][1]) + 1) > n_tokens and groups[-1]:
            groups.append([])
        groups[-1].append(i)
    chance.shuffle(groups)
    for group in groups:
        yield padded([pairs[i][0] + [END] for i in group]), padded([[BEGIN, *pairs[i][1], END] for i in group])
