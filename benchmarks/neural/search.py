"""Beam search for a Transformer."""

import torch
from torch import Tensor

from benchmarks.neural.batches import BEGIN, END, PAD, padded
from benchmarks.neural.transformer import Memory, Transformer

ROWS = 320  # hypotheses that are extended at once


@torch.inference_mode()
def translated(model: Transformer, sentences: list[list[int]], beam: int, length_power: float) -> list[list[int]]:
    """The best translation of each sentence, in the order of the sentences; `beam` 1 is greedy search."""
    model.eval()
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    found: list[list[int]] = [[]] * len(sentences)
    size = ROWS // beam
    for begin in range(0, len(order), size):
        some = order[begin : begin + size]
        for i, pieces in zip(some, best(model, [sentences[i] for i in some], beam, length_power)):
            found[i] = pieces
    return found


def best(model: Transformer, sentences: list[list[int]], beam: int, length_power: float) -> list[list[int]]:
    """The best translations of a batch. The search for a sentence ends when `beam` of its translations have ended."""
    source = padded(sentences)
    n, limit = len(sentences), 2 * source.shape[1] + 20
    memory = at(model.encode(source, source == PAD), torch.arange(n).repeat_interleave(beam))
    pieces = torch.full((n * beam, 1), BEGIN)
    scores = torch.full((n, beam), float("-inf"))
    scores[:, 0] = 0
    ended: list[list[tuple[float, list[int]]]] = [[] for _ in range(n)]
    for length in range(1, limit + 1):
        states, memory = model.decode(pieces[:, -1:], memory, length - 1)
        steps = model.logits(states[:, 0]).log_softmax(1).view(n, beam, -1)
        size = steps.shape[2]
        top, places = (scores[:, :, None] + steps).flatten(1).topk(2 * beam)  # at least `beam` of these have not ended
        rows, last = places // size, places % size
        is_end = last == END
        for i, k in is_end[:, :beam].nonzero().tolist():
            if len(ended[i]) < beam and top[i, k] > float("-inf"):
                text = pieces[i * beam + rows[i, k], 1:].tolist()
                ended[i].append((top[i, k].item() / length**length_power, text))
        if all(len(one) == beam for one in ended):
            break
        going = top.masked_fill(is_end, float("-inf")).topk(beam)
        scores = going.values
        parents = (rows.gather(1, going.indices) + torch.arange(n)[:, None] * beam).flatten()
        pieces = torch.cat([pieces[parents], last.gather(1, going.indices).view(-1, 1)], 1)
        if beam > 1:
            kept = [(keys[parents], values[parents]) for keys, values in memory.so_far]
            memory = memory._replace(so_far=kept)
    unfinished = pieces.view(n, beam, -1)[:, 0, 1:].tolist()
    return [max(one)[1] if one else rest for one, rest in zip(ended, unfinished)]


def at(memory: Memory, rows: Tensor) -> Memory:
    """The memory for these rows of a batch."""
    return Memory([(keys[rows], values[rows]) for keys, values in memory.source], [], memory.mask[rows])
