"""Settings of the Transformer and of its training for little data; reading them does not need PyTorch.

Small subword vocabularies, strong dropout, word dropout, small batches and label smoothing are as in Sennrich and
Zhang (2019) and in Araabi and Monz (2020). The size is the best one on Multi30k in Wu et al. (2021).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings of a training run; all its randomness follows from the seed."""

    pieces: int  # of a byte-pair encoding that both languages share
    score: str  # on the development set, decides about learning rate, end and checkpoint: BLEU or chrF++
    seed: int = 1
    width: int = 128
    layers: int = 4  # in the encoder and in the decoder, each
    heads: int = 4
    inner_width: int = 256
    dropout: float = 0.3
    word_dropout: float = 0.1  # share of positions whose embedding is set to zero
    label_smoothing: float = 0.1
    batch_tokens: int = 1_000  # target pieces in a batch, with padding
    learning_rate: float = 2e-3
    warmup: int = 1_000  # steps
    decay: float = 0.998  # of the running average of the weights, which is used to translate
    max_length: int = 150  # pieces; longer training pairs are left out
    least_epochs: int = 30  # in these epochs the learning rate is not halved, and training does not end
    plateau: int = 4  # epochs without a better score until the learning rate is halved
    patience: int = 12  # epochs without a better score until training ends
    beam: int = 5
    length_power: float = 1.0  # scores of translations are divided by their length to this power
