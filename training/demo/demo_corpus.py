"""The demo corpus: everyday German and English sentences from the demo grammar, with noise as in found text."""

import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file
from phrasebeam.training.demo.grammar import Draw, Pair, sentence

NOISE = 0.05  # share of damaged pairs


class DemoFiles(NamedTuple):
    """Paths of the training and test parts."""

    train_source: Path
    train_target: Path
    test_source: Path
    test_target: Path


def generate(n: int, seed: int, noise: float = NOISE) -> Iterator[Pair]:
    """`n` pairs of a German sentence and its English translation, tokenized and lowercased.

    A share `noise` of them is damaged as in found text: words missing, doubled or misspelled, other punctuation,
    a translation of something else. The first k pairs are the same for every `n`. Raises ConfigError
    if `n` is negative or `noise` not from 0 to 1.
    """
    if n < 0 or not 0 <= noise <= 1:
        raise ConfigError(f"demo corpus: {n} sentences with noise {noise}; expected 0 or more, and noise from 0 to 1")
    return islice(_pairs(seed, noise), n)


def _pairs(seed: int, noise: float) -> Iterator[Pair]:
    # Two random generators, so that the undamaged sentences are the same for every share of noise.
    draw, draw_noise = random.Random(seed).random, random.Random(f"noise {seed}").random
    previous = sentence(draw)
    while True:
        pair = sentence(draw)
        is_damaged = draw_noise() < noise
        yield DAMAGES[int(len(DAMAGES) * draw_noise())](draw_noise, pair, previous) if is_damaged else pair
        previous = pair


def write_corpus(directory: str | Path, n_train: int, n_test: int, seed: int, noise: float = NOISE) -> DemoFiles:
    """Write train.de, train.en, test.de and test.en to `directory`: `n_train` and `n_test` generated pairs.

    The test part is without noise, and none of its sentences occurs in training.
    """
    folder = Path(directory)
    files = DemoFiles(folder / "train.de", folder / "train.en", folder / "test.de", folder / "test.en")
    seen: set[str] = set()
    train = list(generate(n_train, seed, noise))
    for pair in train:
        seen.update(pair)
    test: list[Pair] = []
    for pair in _pairs(seed + 1_000_003, 0.0):
        if len(test) == n_test:
            break
        if not seen.intersection(pair):
            seen.update(pair)
            test.append(pair)
    _write_pairs(train, files.train_source, files.train_target)
    _write_pairs(test, files.test_source, files.test_target)
    return files


def write_pairs(prefix: str | Path, n: int, seed: int, noise: float = NOISE) -> tuple[Path, Path]:
    """Write `prefix`.de and `prefix`.en with `n` lines each, and return the paths. Only one pair is in memory."""
    source, target = Path(f"{prefix}.de"), Path(f"{prefix}.en")
    _write_pairs(generate(n, seed, noise), source, target)
    return source, target


def _write_pairs(pairs: Iterator[Pair] | list[Pair], source: Path, target: Path) -> None:
    with atomic_file(source) as german, atomic_file(target) as english:
        for pair in pairs:
            german.write(f"{pair.de}\n".encode())
            english.write(f"{pair.en}\n".encode())


def _one_side(damage: Callable[[Draw, list[str], int], list[str]]) -> Callable[[Draw, Pair, Pair], Pair]:
    """Make a damage of sentence pairs from a `damage` of words: it gets a random side, and the index of a word of it.

    The word is random, but never the last one.
    """

    def damaged(draw: Draw, pair: Pair, previous: Pair) -> Pair:
        sides = [side.split(" ") for side in pair]
        side = int(2 * draw())
        if len(sides[side]) > 2:
            sides[side] = damage(draw, sides[side], int((len(sides[side]) - 1) * draw()))
        return Pair(" ".join(sides[0]), " ".join(sides[1]))

    return damaged


def _dropped(draw: Draw, words: list[str], at: int) -> list[str]:
    return words[:at] + words[at + 1 :]


def _doubled(draw: Draw, words: list[str], at: int) -> list[str]:
    return words[: at + 1] + words[at:]


def _misspelled(draw: Draw, words: list[str], at: int) -> list[str]:
    """Swap two letters of the word at `at`."""
    word = words[at]
    if len(word) > 3:
        i = int((len(word) - 1) * draw())
        word = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return [*words[:at], word, *words[at + 1 :]]


def _repunctuated(draw: Draw, words: list[str], at: int) -> list[str]:
    return [*words[:-1], ("!", "...", ";")[int(3 * draw())]]


def _unpunctuated(draw: Draw, words: list[str], at: int) -> list[str]:
    return words[:-1]


def _mistranslated(draw: Draw, pair: Pair, previous: Pair) -> Pair:
    """Give the sentence the translation of the previous one."""
    return Pair(pair.de, previous.en)


def _untranslated(draw: Draw, pair: Pair, previous: Pair) -> Pair:
    return Pair(pair.de, pair.de)


def _extended(draw: Draw, pair: Pair, previous: Pair) -> Pair:
    """Add an opening to the translation, as free translations do."""
    opening = ("as you know , ", "it seems that ", "i think ", "of course , ", "well , ", "to be honest , ")
    return Pair(pair.de, opening[int(len(opening) * draw())] + pair.en)


DAMAGES = [
    *(_one_side(damage) for damage in (_dropped, _doubled, _misspelled, _repunctuated, _unpunctuated)),
    _mistranslated,
    _untranslated,
    _extended,
]
