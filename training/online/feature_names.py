"""Names of the features with the largest weights. Keys are only hashes, so names are computed from logged updates."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.score_checks import alignment_in
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.sparse.templates import GROUPS, FeatureNamer, NamedRule
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.online.update_log import Record


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
    names, namer = dict[int, str](), Namer(model)
    waiting = set(keys.tolist())
    for record in records:
        if not waiting:
            break
        for derivation in (record.better, record.worse):
            for key, name in namer.names(sentences[record.number], derivation, waiting):
                names[key] = name
                waiting.discard(key)
    return names


class Namer:
    """Computes the names of the features of derivations."""

    def __init__(self, model: Model):
        self.model, self.decoder = model, Decoder(model)
        if model.levels is None:
            raise ValueError("a model without sparse features")
        sparse = self.decoder.tables.sparse
        self.namer = FeatureNamer(model.levels, sparse.active, sparse.combinations, model.pair_names)

    def names(self, given: Input, derivation: Derivation, waiting: set[int]) -> list[tuple[int, str]]:
        """Keys and names of the features of a derivation of the sentence `given` that are in `waiting`."""
        phrases = zip(*(field.tolist() for field in derivation))
        rules = [self._rule(given.words, pair, begin, end) for pair, begin, end in phrases]
        terms = tuple(self._term(rule) for rule in rules)
        with self.decoder.searcher.prepare(Input(given.words, terms, "inclusive", tags=given.tags)) as search:
            indices = [self._index_of(search.source.synthetic, term) for term in terms]
            as_terms = derivation._replace(pair=-1 - np.array(indices, np.int64))
            tags = search.source.tags
            _, keys, _, groups = self.decoder.searcher.result(search).vector(as_terms, is_complete=False)
        if waiting.isdisjoint(keys.tolist()):
            return []
        names = self.namer.names(given.words, tags, rules, groups)
        return [(key, name) for key, name in zip(keys.tolist(), names) if key in waiting]

    @staticmethod
    def _index_of(synthetic: Sequence[SyntheticPair], term: Term) -> int:
        key = term.begin, term.end, term.target
        return next(i for i, pair in enumerate(synthetic) if (pair.begin, pair.end, pair.target) == key)

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
