"""Settings of the Transformer and of its training, for little data; no module of PyTorch is needed to read them.

Small subword vocabularies, strong dropout, dropped words, small batches and label smoothing are those of Sennrich and
Zhang (2019) and of Araabi and Monz (2020), the size is that of Wu et al. (2021), the best of theirs on Multi30k.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """One training run; all randomness follows from the seed."""

    pieces: int  # of a byte-pair encoding that both languages share
    score: str  # of the development set, which learning rate, end and checkpoint are chosen by: BLEU or chrF++
    seed: int = 1
    width: int = 128
    layers: int = 4  # of encoder and of decoder
    heads: int = 4
    inner_width: int = 256
    dropout: float = 0.3
    word_dropout: float = 0.1  # share of the positions whose embedding is nothing
    label_smoothing: float = 0.1
    batch_tokens: int = 1_000  # of the target, with padding
    learning_rate: float = 2e-3
    warmup: int = 1_000  # steps
    decay: float = 0.998  # of the running average of the weights, which translates
    max_length: int = 150  # pieces; longer training pairs are left out
    least_epochs: int = 30  # before which the learning rate is not halved, and training does not end
    plateau: int = 4  # epochs without a better score until the learning rate is halved
    patience: int = 12  # epochs without a better score until training ends
    beam: int = 5
    length_power: float = 1.0  # scores of translations are divided by their length to this power
