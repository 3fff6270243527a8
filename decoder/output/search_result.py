"""The result of a search: the hypothesis graph of a sentence, and all results for users that are read from it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.reordering import DIRECTIONS
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.output.derivation import Derivation, FeatureSpace, fill_feature_matrix
from phrasebeam.decoder.output.derivation_view import DerivationView, ViewCache
from phrasebeam.decoder.output.lattice import Lattice, build_lattice, connected
from phrasebeam.decoder.output.mbr import (
    Evidence,
    MbrSettings,
    choose,
    choose_by_chrf,
    probabilities,
    texts_of,
    with_evidence,
)
from phrasebeam.decoder.output.nbest import Derivations, best_derivations
from phrasebeam.decoder.output.request import SparseDetail
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.output.word_confidence import (
    ConfidenceSettings,
    LinkedPhrases,
    Links,
    WordPosteriors,
    option_posteriors,
)
from phrasebeam.decoder.search.hypothesis_graph import HypothesisGraph, best_derivation
from phrasebeam.decoder.search.sentence_search import SentenceSearch
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.sparse.levels import UNCLASSED
from phrasebeam.decoder.sparse.templates import FeatureNamer, NamedRule
from phrasebeam.kernels.jit import direct

_best_derivation, _fill_feature_matrix = direct(best_derivation), direct(fill_feature_matrix)


@dataclass(frozen=True)
class SearchResult(DerivationView):
    """The graph of one sentence, valid until its search ends; reading results after that raises RuntimeError."""

    search: SentenceSearch

    @property
    def workspace(self) -> Workspace:
        """The workspace that holds the graph."""
        return self.search.workspace

    @property
    def tables(self) -> Tables:
        """The tables in which the sentence was looked up; if it has its own, they are in the workspace."""
        return self.search.source.tables.tables

    def best(self, confidence: ConfidenceSettings | None = None) -> Translation:
        """The best derivation in the graph; for an empty sentence, the typed prefix.

        It has confidences of its words if `confidence` is given.
        """
        n_words, graph = len(self.source.words), self.workspace.graph
        if n_words == 0:
            typed = self._one(self._typed(), math.nan)
            return (
                replace(typed, confidences=(1.0,) * len(typed.text.split(" "))) if confidence and typed.text else typed
            )
        chosen = np.empty(n_words, np.int32)
        chosen = chosen[: _best_derivation(graph, n_words, chosen)]
        best = self._one(Derivation.of(self.workspace.options, chosen), float(graph.score[graph.stack_first[n_words]]))
        return self._with_confidences([best], chosen, confidence)[0]

    def _typed(self) -> Derivation:
        """The derivation of an empty sentence: the typed prefix."""
        size = len(self.source.synthetic)
        nothing = np.zeros(size, np.int32)
        return Derivation(-1 - np.arange(size), nothing, nothing)

    def _one(self, derivation: Derivation, score: float) -> Translation:
        if self.source.words:
            return self.translation(derivation, score)
        features = np.zeros((1, self.features.size))  # there was no search
        self.fill_features(derivation, np.array([0, derivation.pair.size]), features)
        return self.translation(derivation, float(weight_vector(self.weights, self.features) @ features[0]))

    def _with_confidences(
        self, translations: list[Translation], chosen: np.ndarray, confidence: ConfidenceSettings | None
    ) -> list[Translation]:
        """The translations, with confidences of words if requested; `chosen` (int[K]) are the options of all."""
        if confidence is None:
            return translations
        values = self.word_posteriors(confidence).confidences(self.linked_phrases(chosen)).tolist()
        sizes = [len(one.text.split(" ")) if one.text else 0 for one in translations]
        bounds = pairwise(accumulate(sizes, initial=0))
        return [replace(one, confidences=tuple(values[slice(*ends)])) for one, ends in zip(translations, bounds)]

    def word_posteriors(self, settings: ConfidenceSettings) -> WordPosteriors:
        """Probability of each word at each position of the sentence, over all derivations."""
        options = self.workspace.options
        posterior = option_posteriors(self.workspace.graph, len(self.source.words), options, settings.scale)
        chosen = np.flatnonzero(posterior)
        return WordPosteriors.of(self.linked_phrases(chosen), posterior[chosen])

    def linked_phrases(self, chosen: np.ndarray) -> LinkedPhrases:
        """The phrases of options (int[K]) of the search with their links; phrases of a lattice have none."""
        pairs, source = original_pairs(self.workspace.options.pair[chosen], self.source.tables.origin), self.source
        table, synthetic = self.model.tables.phrases, source.sentence.synthetic
        links = Links.of(pairs, table, synthetic) if source.lattice is None else Links.none(pairs.size)
        return LinkedPhrases.of(self.workspace.options, chosen, links)

    def nbest(
        self, n: int, distinct: bool, sparse: SparseDetail = "", confidence: ConfidenceSettings | None = None
    ) -> list[Translation]:
        """The `n` best derivations, or with `distinct` the best derivation of each of the `n` best texts, best first.

        They have sparse features and confidences if these are requested.
        """
        if not self.source.words:
            return [self.best(confidence)]
        best = self.derivations(n, distinct)
        matrix = np.zeros((best.score.size, self.features.size))
        self.fill_features(best.phrases, best.offsets, matrix)
        cache = ViewCache({}, {})
        translations = [
            self.translation(best.derivation(i), score, values, cache)
            for i, (score, values) in enumerate(zip(best.score.tolist(), matrix))
        ]
        translations = self._with_confidences(translations, best.option, confidence)
        return self._with_sparse(translations, map(best.derivation, range(len(translations))), sparse)

    def _with_sparse(
        self, translations: list[Translation], derivations: Iterable[Derivation], sparse: SparseDetail
    ) -> list[Translation]:
        """The translations with the sparse features of their derivations, if these are requested."""
        if not sparse or not self.tables.sparse.active.any():
            return translations
        names: dict[int, str] = {}  # shared by all translations
        return [
            replace(one, sparse=self.sparse_values(derivation, names, sparse == "names"), sparse_names=names)
            for one, derivation in zip(translations, derivations)
        ]

    def vector(
        self, derivation: Derivation, is_complete: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All features of a derivation of some of the words, or with `is_complete` of the whole sentence.

        Returns float64[F], laid out as `features`; keys (uint64[K]), values (float64[K]) and groups (int64[K], see
        GROUPS) of sparse features, with repetitions.
        """
        space = self.feature_space(derivation.pair.size, is_complete)
        offsets, matrix = np.array([0, derivation.pair.size]), np.zeros((1, self.features.size))
        _fill_feature_matrix(derivation, offsets, self.tables, self.source.sentence, space, matrix)
        fired = space.fired
        n = int(fired.n[0])
        return matrix[0], fired.keys[:n], fired.values[:n].astype(np.float64), fired.groups[:n]

    def sparse_values(self, derivation: Derivation, names: dict[int, str], with_names: bool) -> dict[int, float]:
        """Values of a derivation's sparse features by key; if `with_names`, their names are added to `names`."""
        _, fired, amounts, groups = self.vector(derivation, True)
        keys, values = fired.tolist(), dict[int, float]()
        for key, value in zip(keys, amounts.tolist()):
            values[key] = values.get(key, 0.0) + value
        if with_names:
            names.update(zip(keys, self._sparse_names(derivation, groups)))
        return values

    def with_model_pairs(self, derivation: Derivation) -> Derivation:
        """The derivation with pairs numbered as in the model's table, if the sentence has its own tables."""
        origin = self.search.source.tables.origin
        return derivation._replace(pair=original_pairs(derivation.pair, origin))

    def _sparse_names(self, derivation: Derivation, groups: np.ndarray) -> list[str]:
        levels, whole = self.model.levels, self.model.tables.sparse
        if levels is None:
            return []
        namer = FeatureNamer(levels, self.tables.sparse.active, self.tables.sparse.combinations, self.model.pair_names)
        phrases, rules = self.with_model_pairs(derivation), []
        for pair, begin, end in zip(*(field.tolist() for field in phrases)):
            first, last = self.source.rows_of(pair, begin, end)
            known = slice(*whole.pair_offsets[pair : pair + 2]) if pair >= 0 and whole.pair_keys.size else slice(0)
            target = self.words_of(pair)
            points = self.points_of(pair, last - first, len(target))
            rules.append(NamedRule(first, last, target, whole.pair_keys[known].tolist(), points, (begin, end)))
        if self.source.lattice is not None:
            words = self.source.lattice.rows
            return namer.names(words, [UNCLASSED] * len(words), rules, groups)
        return namer.names(self.source.words, self.source.tags, rules, groups)

    def derivations(self, n: int, distinct: bool) -> Derivations:
        """The `n` best derivations, or with `distinct` the best of each text; for an empty sentence, the only one."""
        workspace = self.workspace
        if not self.source.words:
            typed = self._typed()
            return Derivations(np.array([0, typed.pair.size]), typed, typed.begin, np.array([self.best().score]))
        return best_derivations(workspace.graph, len(self.source.words), n, workspace.options, distinct)

    def texts(self, derivations: Derivations) -> list[str]:
        """The texts of derivations whose pairs are numbered as in the model's table."""
        pairs, ends = derivations.phrases.pair.tolist(), derivations.offsets.tolist()
        phrase_of = {pair: " ".join(self.target(pair)) for pair in set(pairs)}
        phrases = [phrase_of[pair] for pair in pairs]
        return [" ".join(filter(None, phrases[begin:end])) for begin, end in pairwise(ends)]

    def compared(self, settings: MbrSettings) -> tuple[Derivations, list[str], np.ndarray]:
        """The distinct list of minimum Bayes risk decoding: derivations, their texts, and their probabilities."""
        best = self.derivations(settings.size, distinct=True)
        texts = self.texts(best._replace(phrases=self.with_model_pairs(best.phrases)))
        return best, texts, probabilities(best.score, settings.scale)

    def least_risk(
        self,
        settings: MbrSettings,
        sparse: SparseDetail = "",
        confidence: ConfidenceSettings | None = None,
        evidence: Evidence | None = None,
    ) -> Translation:
        """The translation with the largest expected gain, by BLEU or chrF++; `sparse` and `confidence` as in nbest."""
        if not self.source.words:
            return self.best(confidence)
        if settings.gain == "chrf++":
            best, texts, probability = self.compared(settings)
            size = len(texts)
            if evidence:
                texts, probability = with_evidence(texts, probability, evidence, settings.evidence)
            chosen = choose_by_chrf(texts, probability, size)
        else:
            best = self.derivations(settings.size, distinct=True)
            chosen = choose(texts_of(best, self.workspace.options), best.score, settings)
        derivation = best.derivation(chosen)
        found = [self._one(derivation, float(best.score[chosen]))]
        found = self._with_confidences(found, best.option[slice(*best.offsets[chosen : chosen + 2])], confidence)
        return self._with_sparse(found, [derivation], sparse)[0]

    def lattice(self, beam: float) -> Lattice:
        """The lattice of all derivations that score at most `beam` (in ln) below the best."""
        return self.lattice_of(self.workspace.graph, len(self.source.words), beam)

    def lattice_of(self, graph: HypothesisGraph, n_words: int, beam: float = math.inf) -> Lattice:
        """All derivations of the first `n_words` words in a graph of the sentence, or those within the beam."""
        source, options = self.source, self.workspace.options
        part = connected(graph, n_words, beam)
        chosen, inverse = np.unique(graph.edge_option[part.edge], return_inverse=True)
        begin, end = options.begin[chosen], options.end[chosen]
        pairs = original_pairs(options.pair[chosen], source.tables.origin).tolist()
        targets = [" ".join(self.target(pair)) for pair in pairs]
        sources = [" ".join(source.words_of(*span)) for span in zip(pairs, begin.tolist(), end.tolist())]
        texts = tuple([some[i] for i in inverse.tolist()] for some in (sources, targets))
        score = float(graph.score[graph.stack_first[n_words]]) if source.words else self.best().score
        return build_lattice(source.words, score, graph, part, (begin[inverse], end[inverse]), texts)

    def feature_space(self, n_phrases: int, is_complete: bool) -> FeatureSpace:
        """Room for derivations of up to `n_phrases` phrases."""
        workspace = self.workspace
        return FeatureSpace(
            workspace.states,
            workspace.memory,
            np.empty((n_phrases, len(DIRECTIONS)), np.int8),
            self.features.places(),
            self.weights.by_length.shape[1] - 1,
            *workspace.new_target_room(n_phrases),
            workspace.new_sparse_features(n_phrases),
            is_complete,
        )
