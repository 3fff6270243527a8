"""A typed prefix in the search: the required words, and phrase pairs for words that occur in no option.

Prefix-constrained search for interactive translation goes back to Och, Zens & Ney (2003, "Efficient search for
A prefix that the phrase pairs cannot produce gets fallback pairs: each source word may also become a few words of the
prefix, or the whole rest of it, with the penalty of a copied word for each target word.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.input.sentence_input import Input, Prefix
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair, pack_synthetic_pairs
from phrasebeam.decoder.input.target_constraint import TargetConstraint, fill_rest
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence

LONGEST_SEGMENT = 3  # words of the prefix in a fallback pair, unless it has the whole rest
LONGEST_PREFIX = 1000  # words; for each, all options are checked for whether they can continue there
MOST_FALLBACK_WORDS = 1 << 23  # in all fallback pairs of a sentence: 32 MB, and some hundred MB while they are made
LN_FALLBACK = -5.0  # its translation scores; with 0, the source words that are costly to translate would be lost first


def with_prefixes(inputs: Iterable[Input], prefixes: Iterable[Prefix]) -> Iterator[Input]:
    """Combine each sentence with its prefix. Raises ConfigError if their numbers differ."""
    for number, (given, prefix) in enumerate(zip_longest(inputs, prefixes)):
        if given is None or prefix is None:
            few, more = ("sentences", "prefixes") if given is None else ("prefixes", "sentences")
            raise ConfigError(
                f"there are {number} {few} and more {more}; give one, or an empty line, for each sentence"
            )
        yield replace(given, prefix=prefix)


def constrain(
    prefix: Prefix, source: PreparedSentence, options: Options, ln_penalty: np.ndarray, model: Model
) -> TargetConstraint:
    """The constraint for the search of `source` with its `options`; `ln_penalty` as in fill_rest.

    Raises ConfigError for a prefix of more than LONGEST_PREFIX words.
    """
    if len(prefix.words) > LONGEST_PREFIX:
        message = (
            f"a prefix of {len(prefix.words)} words, expected at most {LONGEST_PREFIX}; give only the last sentence"
        )
        raise ConfigError(f"{excerpt(' '.join(prefix.words))}: {message}")
    n_options = int(options.first[source.sentence.words.size * options.longest])
    allowed = [[i] if i >= 0 else [] for i in target_ids(prefix.words, source, model).tolist()]
    if prefix.is_partial and allowed:
        oov_ids = _oov_target_ids(source, model)
        allowed[-1] = _ids_beginning_with(prefix.words[-1], oov_ids, options, n_options, model)
    first = np.zeros(len(allowed) + 1, np.int64)
    np.cumsum([len(ids) for ids in allowed], out=first[1:])
    constraint = TargetConstraint(first, np.array([i for ids in allowed for i in ids], np.int32), np.zeros(first.size))
    fill_rest(constraint, options, n_options, ln_penalty)
    _take_penalties_out(options, n_options, ln_penalty)
    return constraint


def _take_penalties_out(options: Options, n_options: int, ln_penalty: np.ndarray) -> None:
    """Subtract the penalties from estimates and bounds of options, as `ln_rest` contains them from the beginning."""
    synthetic = np.flatnonzero(options.pair[:n_options] < 0)
    number = -1 - options.pair[synthetic]
    options.estimate[synthetic] -= ln_penalty[number]
    options.bound[synthetic] -= ln_penalty[number]


def target_ids(words: Sequence[str], source: PreparedSentence, model: Model) -> np.ndarray:
    """int32[m], target ids of `words` in the options of `source`; -1 if neither `source` nor the model has a word."""
    oov_ids = _oov_target_ids(source, model)
    known = zip(words, model.target.ids(list(words)).tolist())
    return np.array([oov_ids.get(word, i) if i < 0 else i for word, i in known], np.int32)


def _oov_target_ids(source: PreparedSentence, model: Model) -> dict[str, int]:
    """Words of the sentence's synthetic pairs that are not in the target vocabulary, and their ids."""
    words = (word for pair in source.synthetic for word in pair.target)
    known = len(model.target)
    return {word: i for word, i in zip(words, source.sentence.synthetic.target_words.tolist()) if i >= known}


def _ids_beginning_with(
    beginning: str, oov_ids: dict[str, int], options: Options, n_options: int, model: Model
) -> list[int]:
    """Ascending ids of the words in options that start with `beginning`; for `oov_ids` see _oov_target_ids."""
    n_targets = int(options.target[:n_options].max(initial=-1)) + 1
    used = np.unique(options.words[: options.target_first[n_targets]]).tolist()
    others = {i: word for word, i in oov_ids.items()}
    words = (others[i] if i in others else model.target.words[i] for i in used)
    return [i for i, word in zip(used, words) if word.startswith(beginning)]


def with_fallback_pairs(source: PreparedSentence, prefix: Prefix, model: Model) -> tuple[PreparedSentence, np.ndarray]:
    """`source` with fallback pairs added, and bool[K]: which of all its synthetic pairs are fallback pairs.

    Raises ConfigError if there would be too many.
    """
    pairs = [(pair, False) for pair in source.synthetic] + [
        (pair, True) for pair in _fallback_pairs(len(source.words), prefix)
    ]
    pairs.sort(key=lambda item: (item[0].begin, item[0].end))
    is_fallback = np.array([is_one for _, is_one in pairs], bool)
    synthetic, sentence = [pair for pair, _ in pairs], source.sentence
    sizes, models = (len(source.words), sentence.longest), (model.target, model.language_models)
    packed = pack_synthetic_pairs(synthetic, *sizes, *models, model.n_scores, model.levels)
    packed.table_pair[~is_fallback] = sentence.synthetic.table_pair
    return source._replace(synthetic=synthetic, sentence=sentence._replace(synthetic=packed)), is_fallback


def _fallback_pairs(n_words: int, prefix: Prefix) -> Iterator[SyntheticPair]:
    size = len(prefix.words)
    if n_words == 0:
        yield SyntheticPair(0, 0, prefix.words, 0.0, UNKNOWN_WORD * size)
        return
    # Segments of each length from each word of the prefix, and the rest from each word.
    n_segment_words = size * (LONGEST_SEGMENT * (LONGEST_SEGMENT + 1) + size + 1) // 2
    if n_words * n_segment_words > MOST_FALLBACK_WORDS:
        raise ConfigError(
            f"{excerpt(' '.join(prefix.words))}: a prefix of {size} words, which no phrases of the model yield, is too "
            f"long for a sentence of {n_words} words; split both"
        )
    cuts = [(i, j) for i in range(size) for j in range(i + 1, size + 1) if j == size or j - i <= LONGEST_SEGMENT]
    segments = dict.fromkeys(prefix.words[i:j] for i, j in cuts)
    for i in range(n_words):
        for words in segments:
            yield SyntheticPair(i, i + 1, words, LN_FALLBACK, UNKNOWN_WORD * len(words))
