"""Candidate forms of words (n-best lists of a model of letters, known forms, the word itself) and their features."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.base.progress import stage
from phrasebeam.decoder.normalization.letter_edits import edits_of
from phrasebeam.decoder.normalization.letter_outputs import LetterOutputs, ln_outputs
from phrasebeam.decoder.normalization.near_words import Lexicon, near_forms
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.normalization.word_memory import MEMORY_FEATURES, WordMemory
from phrasebeam.decoder.output.nbest_table import nbest_table
from phrasebeam.decoder.tables.language_models import LN10
from phrasebeam.decoder.tokenizers.spelling import OF_WORDS, Spelling
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.lm.text.vocabulary import END

# Features of a form: whether it is missing in the n-best list; 1 / its rank there; whether it is one of the nearest
# known forms; whether it is a candidate only for this reason; 1 / its rank among these. Ranks start at 1; 0 means not
# in the list.
LIST_FEATURES = ("not_in_list", "reciprocal_rank", "near", "near_alone", "reciprocal_near_rank")
WORDS_AT_ONCE = 64  # words that a process searches for each message
EDIT_FEATURES = "ln_edits", "ln_outputs"  # of the cheapest edits: minus their cost; score from surrounding letters


class CandidateSettings(Section):
    """Which candidate forms of a word are scored."""

    nbest: int = Field(30, ge=1, le=1000, description="number of forms that the letter model lists for each word")
    nearest: int = Field(
        10,
        ge=0,
        le=1000,
        description="number of known forms, from training or other words, that are nearest to each word",
    )


class CandidateLists(NamedTuple):
    """The candidate forms of W words, C in all; the forms of word i are first[i]:first[i + 1]."""

    words: list[str]
    forms: list[str]
    first: np.ndarray  # int64[W + 1]
    features: np.ndarray  # float64[C, F]
    names: list[str]  # F

    @property
    def owner(self) -> np.ndarray:
        """int64[C], the number of the word to which each form belongs."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.first))

    def forms_of(self, word: int) -> list[str]:
        """The forms of a word, by its number."""
        return self.forms[self.first[word] : self.first[word + 1]]


class LetterCosts(NamedTuple):
    """Costs of edits of letters, and the model of letters that are written; see letter_edits.py, letter_outputs.py."""

    alphabet: Alphabet
    costs: np.ndarray  # float64[A, A]
    outputs: LetterOutputs


def candidate_lists(
    words: Sequence[str],
    decoder: Decoder,
    memory: WordMemory,
    lexicon: Lexicon,
    letters: LetterCosts,
    settings: CandidateSettings,
    threads: int,
) -> CandidateLists:
    """The candidates of distinct words: the n-best list, forms seen in training, the nearest forms of the lexicon."""
    forms, sizes, rows = list[str](), list[int](), list[np.ndarray]()
    names = [*decoder.features.names(), *LIST_FEATURES, *MEMORY_FEATURES, *EDIT_FEATURES]
    search = partial(_listed, decoder, settings.nbest, memory, letters.alphabet.of_forms)
    near = near_forms(words, lexicon, letters.alphabet, letters.costs, settings.nearest)
    listed = current_engine().map(search, list(zip(words, near)), threads, WORDS_AT_ONCE, is_python=True)
    with stage("finding forms", len(words), "words") as advance, closing(listed):
        for found, features in listed:
            forms += found
            sizes.append(len(found))
            rows.append(features)
            advance(1)
    first = np.append(np.int64(0), np.cumsum(np.array(sizes, np.int64)))
    lists = CandidateLists(list(words), forms, first, np.zeros((0, len(names))), names)
    if not words:
        return lists
    listed_features, owner = np.concatenate(rows), lists.owner
    _score_unlisted(listed_features, forms, names, decoder, letters.alphabet.of_forms)
    known = memory.features([words[number] for number in owner.tolist()], forms)
    texts = letters.alphabet.texts(lists.words), letters.alphabet.form_texts(forms)
    edits = edits_of(texts[0], owner, texts[1], letters.costs)
    outputs = ln_outputs(texts, owner, edits, letters.outputs)
    return lists._replace(features=np.column_stack([listed_features, known, -edits.cost, outputs]))


def _score_unlisted(
    features: np.ndarray, forms: Sequence[str], names: Sequence[str], decoder: Decoder, spelling: Spelling
) -> None:
    """Write the scores of the language models for forms that are not in the n-best list to `features`."""
    unlisted = np.flatnonzero(features[:, names.index("not_in_list")])
    spelled = [[*spelling.tokens(forms[number]), END] for number in unlisted.tolist()]
    first = np.append(np.int64(0), np.cumsum([len(tokens) for tokens in spelled], dtype=np.int64))
    tokens = [token for one in spelled for token in one]
    for number, lm in enumerate(decoder.model.language_models):
        column = names.index(f"language_model_{number}")
        features[unlisted, column] = LN10 * lm.model.score_texts(lm.word_ids(tokens), first)


def _listed(
    decoder: Decoder, nbest: int, memory: WordMemory, spelling: Spelling, given: tuple[str, list[str]]
) -> tuple[list[str], np.ndarray]:
    """The distinct forms of a word, and their features (float64[K, ...]) from the model and its n-best list.

    `given` is the word and the known forms near it. A form that is not in the list gets the model's features of the
    last form in the list, except those of language models (see _score_unlisted). The word itself is not a form if forms
    are spelled in another way, with spaces.
    """
    word, near = given
    with decoder.searcher.search(decoder.search_input(OF_WORDS.tokens(word))) as result:
        table = nbest_table(result, nbest, distinct=True, sparse=False)
    places: dict[str, int] = {}
    for place, text in enumerate(table.texts):
        if form := spelling.word(text):
            places.setdefault(form, place)
    own = [] if spelling.is_spaced else [word]
    others = dict.fromkeys([*places, *memory.forms_of.get(word, ()), *own])
    forms = list(others | dict.fromkeys(near)) or [word]
    at = np.array([*places.values(), *[len(table.texts) - 1] * (len(forms) - len(places))])
    is_listed = np.arange(len(forms)) < len(places)
    ranks = {form: rank for rank, form in enumerate(near, 1)}
    of_near = np.array([1.0 / ranks[form] if form in ranks else 0.0 for form in forms])
    is_alone = np.arange(len(forms)) >= max(1, len(others))
    return forms, np.column_stack(
        [table.features[at], ~is_listed, is_listed / (1.0 + at), of_near > 0, is_alone, of_near]
    )
