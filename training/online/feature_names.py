"""Names of the features with the largest weights. Keys are only hashes, so names are computed from logged updates."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np

from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.score_checks import alignment_in
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.sparse.templates import GROUPS, FeatureNamer, NamedRule
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.online.update_log import Record

READ_TOGETHER = 1 << 15  # records; of these, each sentence is prepared once


def heaviest(keys: np.ndarray, weights: np.ndarray, groups: np.ndarray, n: int) -> np.ndarray:
    """The keys (uint64[...]) of the `n` features of each group with the largest absolute weights.

    keys: uint64[K]; weights: float64[K]; groups: uint8[K], index of GROUPS.
    """
    selected = [np.zeros(0, np.int64)]
    for group in range(len(GROUPS)):
        of_group = np.flatnonzero(groups == group)
        selected.append(of_group[np.argsort(-np.abs(weights[of_group]), kind="stable")[:n]])
    return keys[np.concatenate(selected)]


def names_of(
    keys: np.ndarray, records: Iterable[Record], sentences: Mapping[int, Input], model: Model
) -> dict[int, str]:
    """The names of the features `keys` (uint64[K]) that the records have, by key; stops when all are found."""
    names, namer, records = dict[int, str](), Namer(model), iter(records)
    waiting = set(keys.tolist())
    while waiting and (together := _by_sentence(islice(records, READ_TOGETHER))):
        for number, derivations in together.items():
            found = namer.names(sentences[number], derivations, waiting)
            names |= found
            waiting -= found.keys()
    return names


def _by_sentence(records: Iterable[Record]) -> dict[int, list[Derivation]]:
    """The derivations of the records, by line of the training data."""
    found = dict[int, list[Derivation]]()
    for record in records:
        found.setdefault(record.number, []).extend((record.better, record.worse))
    return found


class Namer:
    """Computes the names of the features of derivations."""

    def __init__(self, model: Model):
        self.model, self.decoder = model, Decoder(model)
        if model.levels is None:
            raise ValueError("a model without sparse features")
        sparse = self.decoder.tables.sparse
        self.namer = FeatureNamer(model.levels, sparse.active, sparse.combinations, model.pair_names)

    def names(self, given: Input, derivations: Iterable[Derivation], waiting: set[int]) -> dict[int, str]:
        """Names, by key, of the features of derivations of the sentence `given` that are in `waiting`."""
        lists = {tuple(zip(*(field.tolist() for field in one))): one for one in derivations}
        rules = {phrase: self._rule(given.words, *phrase) for phrases in lists for phrase in phrases}
        terms, names = {phrase: self._term(rule) for phrase, rule in rules.items()}, dict[int, str]()
        sentence = Input(given.words, tuple(dict.fromkeys(terms.values())), "inclusive", tags=given.tags)
        with self.decoder.searcher.prepare(sentence) as search:
            result, tags = self.decoder.searcher.result(search), search.source.tags
            ids = {(*one[:3], one.alignment): -1 - i for i, one in enumerate(search.source.synthetic)}
            pairs = {phrase: ids[one.begin, one.end, one.target, one.alignment] for phrase, one in terms.items()}
            for phrases, derivation in lists.items():
                as_terms = derivation._replace(pair=np.array([pairs[phrase] for phrase in phrases], np.int64))
                _, fired, _, groups = result.vector(as_terms, is_complete=False)
                keys = fired.tolist()
                if waiting.isdisjoint(keys):
                    continue
                wanted = [i for i, key in enumerate(keys) if key in waiting]
                texts = self.namer.names(given.words, tags, [rules[phrase] for phrase in phrases], groups, wanted)
                names |= {keys[i]: texts[i] for i in wanted}
        return names

    def _rule(self, words: Sequence[str], pair: int, begin: int, end: int) -> NamedRule:
        if pair < 0:
            return NamedRule(begin, end, [words[begin]], (), ((0, 0),))
        table = self.model.tables.phrases
        ids = table.target_words[slice(*table.target_offsets[pair : pair + 2])]
        target = [self.model.target.word(i) for i in ids.tolist()]
        return NamedRule(begin, end, target, (), alignment_in(table, pair, end - begin, len(target)))

    @staticmethod
    def _term(rule: NamedRule) -> Term:
        """The phrase pair as a term of the input, so that it need not be in the phrase table."""
        return Term(rule.begin, rule.end, tuple(rule.target), alignment=tuple((i, j) for i, j in rule.points))
