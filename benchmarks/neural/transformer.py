"""A Transformer (Vaswani et al. 2017): layer normalization before each sublayer, and a single embedding matrix for
source, target, input and output.

Lengths are in pieces; `padding` is true at positions of a batch without a piece.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.neural.settings import Settings


class Memory(NamedTuple):
    """The decoder's memory: keys and values of the source and of the target pieces so far, for each layer."""

    source: list[tuple[Tensor, Tensor]]
    so_far: list[tuple[Tensor, Tensor]]
    mask: Tensor  # of the source; true at positions that may be attended to


class Dropout(nn.Module):
    """Dropout by one random byte for each number, which on a CPU is several times as fast as PyTorch's own.

    The share is rounded to a multiple of 1/256.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.limit = round(256 * share)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.limit:
            return x
        chance = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None).view(torch.uint8)
        kept = (chance[: x.numel()] >= self.limit).view(x.shape)
        return x * (kept * (256 / (256 - self.limit)))


class Attention(nn.Module):
    """Multi-head attention; keys and values may be computed in advance."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.heads = settings.heads
        self.query, self.key, self.value, self.output = (nn.Linear(settings.width, settings.width) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.split(self.key(x)).float(), self.split(self.value(x)).float()

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, is_causal: bool = False) -> Tensor:
        queries = self.split(self.query(x)).float()  # on a CPU, attention with 16 bits is many times slower
        with torch.autocast("cpu", enabled=False):
            found = F.scaled_dot_product_attention(queries, keys, values, mask, is_causal=is_causal)
        return self.output(found.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """A layer of the encoder, or of the decoder if it attends to a source."""

    def __init__(self, settings: Settings, has_source: bool) -> None:
        super().__init__()
        width = settings.width
        self.own, self.own_norm = Attention(settings), nn.LayerNorm(width)
        if has_source:
            self.source, self.source_norm = Attention(settings), nn.LayerNorm(width)
        self.inner = nn.Sequential(
            nn.Linear(width, settings.inner_width),
            nn.ReLU(),
            Dropout(settings.dropout),
            nn.Linear(settings.inner_width, width),
        )
        self.inner_norm = nn.LayerNorm(width)
        self.dropout = Dropout(settings.dropout)

    def encode(self, x: Tensor, mask: Tensor) -> Tensor:
        normed = self.own_norm(x)
        x = x + self.dropout(self.own(normed, *self.own.keys_and_values(normed), mask))
        return x + self.dropout(self.inner(self.inner_norm(x)))

    def decode(self, x: Tensor, source: tuple[Tensor, Tensor], mask: Tensor, before: tuple[Tensor, Tensor] | None):
        """The next states, and the keys and values of all pieces so far, including those of `before`."""
        normed = self.own_norm(x)
        keys, values = self.own.keys_and_values(normed)
        if before is not None:
            keys, values = torch.cat([before[0], keys], 2), torch.cat([before[1], values], 2)
        x = x + self.dropout(self.own(normed, keys, values, None, is_causal=before is None))
        x = x + self.dropout(self.source(self.source_norm(x), *source, mask))
        return x + self.dropout(self.inner(self.inner_norm(x))), (keys, values)


class Transformer(nn.Module):
    """Encoder and decoder."""

    def __init__(self, settings: Settings, n_pieces: int) -> None:
        super().__init__()
        self.settings = settings
        self.embedding = nn.Embedding(n_pieces, settings.width)
        self.encoder = nn.ModuleList(Layer(settings, has_source=False) for _ in range(settings.layers))
        self.decoder = nn.ModuleList(Layer(settings, has_source=True) for _ in range(settings.layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(settings.width), nn.LayerNorm(settings.width)
        self.dropout = Dropout(settings.dropout)
        self.register_buffer("positions", sinusoids(1_000, settings.width), persistent=False)
        for matrix in (one for one in self.parameters() if one.dim() > 1):
            nn.init.xavier_uniform_(matrix)
        nn.init.normal_(self.embedding.weight, std=settings.width**-0.5)

    def embedded(self, pieces: Tensor, begin: int = 0) -> Tensor:
        x = self.embedding(pieces) * math.sqrt(self.settings.width)
        if self.training and self.settings.word_dropout:
            kept = torch.rand(pieces.shape) >= self.settings.word_dropout
            x = x * kept.unsqueeze(-1)
        return self.dropout(x + self.positions[begin : begin + pieces.shape[1]])

    def encode(self, source: Tensor, padding: Tensor) -> Memory:
        mask = ~padding[:, None, None, :]
        x = self.embedded(source)
        for layer in self.encoder:
            x = layer.encode(x, mask)
        x = self.encoder_norm(x)
        return Memory([layer.source.keys_and_values(x) for layer in self.decoder], [], mask)

    def decode(self, pieces: Tensor, memory: Memory, begin: int = 0) -> tuple[Tensor, Memory]:
        """The states of the pieces from position `begin` on, for `logits`; if `begin` is not 0, of one position."""
        x = self.embedded(pieces, begin)
        so_far = []
        for i, layer in enumerate(self.decoder):
            x, kept = layer.decode(x, memory.source[i], memory.mask, memory.so_far[i] if begin else None)
            so_far.append(kept)
        return self.decoder_norm(x), memory._replace(so_far=so_far)

    def logits(self, states: Tensor) -> Tensor:
        return F.linear(states, self.embedding.weight)


def sinusoids(length: int, width: int) -> Tensor:
    """Sines and cosines of the positions, (length, width)."""
    angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)
