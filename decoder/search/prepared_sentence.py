"""A source sentence prepared for the search: its words, and the phrase pairs that only this sentence has."""

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.held_out.filtered_table import FilteredTables
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.lattice_paths import Path
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair, pack_synthetic_pairs
from phrasebeam.decoder.input.term_constraints import BLOCKED, find_table_pairs, span_rules
from phrasebeam.decoder.input.zones import pack_zones
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Sentence
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.sparse.levels import NO_CLASSES, NO_CONTENT, UNCLASSED
from phrasebeam.decoder.tables.phrase_table import ABSENT, LEAST_LN
from phrasebeam.decoder.unknown_words.related_pairs import HeldOut, RelatedPairs
from phrasebeam.decoder.unknown_words.spelled_pairs import SpelledPairs


class PreparerSettings(NamedTuple):
    """Settings of the preparation of a sentence."""

    longest: int  # words of the longest source phrase that is looked up
    table_limit: int
    input: InputSettings


class UnknownWords(NamedTuple):
    """Finds translations of unknown words: through known words, and through their letters. None: not in this way."""

    related: RelatedPairs | None
    spelled: SpelledPairs | None
    held_out: HeldOut | None = None

    def pairs_of(self, words: Sequence[str], is_oov: np.ndarray, terms: Sequence[Term]) -> list[SyntheticPair]:
        """Phrase pairs for the unknown words (bool[n]) of `words` outside terms."""
        in_terms = {i for term in terms for i in range(term.begin, term.end)}
        unknown = [i for i in is_oov.nonzero()[0].tolist() if i not in in_terms]
        return [pair for i in unknown for pair in self.of(words[i], i, i + 1)]

    def of(self, word: str, begin: int, end: int) -> list[SyntheticPair]:
        """Phrase pairs for an unknown word in the span begin:end."""
        found = self.related.of(word, begin, end, self.held_out) if self.related else []
        if self.spelled and self.held_out is None:  # the model of letters may know the words of a training sentence
            found += self.spelled.of(word, begin, end)
        return found

    def ln_copy(self, word: str) -> float:
        """ln of the probability of a copy of an unknown word by its letters."""
        return self.spelled.ln_copy(word) if self.spelled and self.held_out is None else 0.0


class LatticeWords(NamedTuple):
    """The words of a lattice as users see them."""

    paths: Sequence[Path]  # indexed by the numbers in SourcePaths
    rows: list[str]  # the words that Sentence.classes describes


class PreparedSentence(NamedTuple):
    """A sentence as users and as kernels see it."""

    words: list[str]  # of a lattice, the likeliest word at each position
    tags: Sequence[str]  # UNCLASSED for a sentence without tags
    synthetic: list[SyntheticPair]  # indexed by the numbers in SyntheticPairs
    sentence: Sentence
    tables: FilteredTables  # in which its phrases are looked up
    lattice: LatticeWords | None = None
    own_model: Model | None = None  # of this sentence alone, if its tables replace the model's

    def path(self, pair: int, begin: int, end: int) -> Path:
        """The path of a lattice that `pair`, numbered as in the model's table, translates between two nodes."""
        return cast(LatticeWords, self.lattice).paths[self._path_number(pair, begin, end)]

    def words_of(self, pair: int, begin: int, end: int) -> Sequence[str]:
        """The source words that `pair`, numbered as in the model's table, translates over the positions begin:end."""
        return self.words[begin:end] if self.lattice is None else self.path(pair, begin, end).words

    def rows_of(self, pair: int, begin: int, end: int) -> tuple[int, int]:
        """(begin, end) of the words of `pair` in Sentence.classes, see source_words."""
        if self.lattice is None:
            return begin, end
        number, paths = self._path_number(pair, begin, end), self.sentence.paths
        return int(paths.first[number]), int(paths.end[number])

    def _path_number(self, pair: int, begin: int, end: int) -> int:
        paths, origin = self.sentence.paths, cast(np.ndarray, self.tables.origin)
        if pair < 0:
            return int(paths.of_synthetic[-1 - pair])
        first, last = paths.of_span[begin * self.sentence.longest + end - begin - 1 :][:2]
        offsets = self.tables.tables.phrases.pair_offsets
        number = offsets[first] + np.flatnonzero(origin[offsets[first] : offsets[last]] == pair)[0]
        return int(paths.of_pair[number])


def prepare_sentence(
    given: Input,
    model: Model,
    tables: FilteredTables,
    longest: int,
    input_settings: InputSettings,
    bounds_checks: BoundsChecks,
    unknown_words: UnknownWords | None = None,
) -> PreparedSentence:
    """Prepare the sentence with phrases of up to `longest` words from `tables`, which have the `bounds_checks`.

    As in Moses, a word that has no phrase pair by itself, or only excluded ones, is copied, dropped or marked; pairs
    that `unknown_words` finds for it are added.
    Raises ConfigError if the sentence lacks the tags that the model needs.
    """
    words, terms, phrases = list(given.words), given.terms, tables.tables.phrases
    if model.has_tags and len(given.tags) != len(words):
        raise ConfigError(f"{' '.join(words)!r} has no tags, and the model has features of tags; give Input some")
    tags = given.tags or [UNCLASSED] * len(words)
    room = max([longest, *(term.end - term.begin for term in terms)])
    ids = model.source.ids(words)
    required = [term for term in terms if not term.is_optional]
    rules = span_rules(len(words), room, longest, required, given.policy)
    sources = bounds_checks.span_sources(ids, np.array([0, len(words)]), longest, room)
    is_oov = sources[::room] == ABSENT
    synthetic = unknown_words.pairs_of(words, is_oov, terms) if unknown_words else []
    if terms:
        is_oov |= rules[::room] == BLOCKED
        is_oov[[term.begin for term in terms if term.end == term.begin + 1]] = False
    for i in is_oov.nonzero()[0].tolist():
        ln_copy = unknown_words.ln_copy(words[i]) if unknown_words else 0.0
        synthetic.append(unknown_word(words[i], i, i + 1, input_settings)._replace(ln_spelling=ln_copy))
    synthetic += [_term_pair(term, model.n_scores) for term in terms]
    synthetic.sort(key=lambda pair: (pair.begin, pair.end))
    sizes, models = (len(words), room), (model.target, model.language_models)
    packed = pack_synthetic_pairs(synthetic, *sizes, *models, model.n_scores, model.levels)
    if terms:
        find_table_pairs(phrases, ids, room, packed)
    zones = pack_zones(len(words), given.walls, given.zones)
    classes = model.levels.sentence_classes(words, tags) if model.levels else NO_CLASSES
    is_content = model.levels.content_words(words, tags) if model.levels else NO_CONTENT
    sentence = Sentence(ids, packed, room, sources, rules, zones, classes, is_content)
    return PreparedSentence(words, tags, synthetic, sentence, tables)


def _term_pair(term: Term, n_scores: int) -> SyntheticPair:
    """The pair of a term. Its scores add up to ln of the term's probability, as in Moses."""
    ln_probability = max(math.log(term.probability), LEAST_LN) if term.probability else LEAST_LN
    return SyntheticPair(term.begin, term.end, term.target, ln_probability / n_scores, alignment=term.alignment)


def unknown_word(word: str, begin: int, end: int, input_settings: InputSettings) -> SyntheticPair:
    """The pair of an unknown word, which is copied, dropped or marked."""
    if input_settings.oov == "drop" and not any(digit in word for digit in "0123456789"):
        return SyntheticPair(begin, end, (), unknown=UNKNOWN_WORD)
    shown = f"{input_settings.oov_prefix}{word}{input_settings.oov_suffix}" if input_settings.oov == "mark" else ""
    return SyntheticPair(begin, end, (word,), unknown=UNKNOWN_WORD, alignment=((0, 0),), shown=shown)
