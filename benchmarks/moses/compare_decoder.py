"""The same model in Moses and here: our score for every derivation that Moses printed, and the results of our search.

    python -m benchmarks.moses.compare_decoder DATA

DATA has moses.ini and moses.tuned.ini with their model, input.de, and {default,tuned}.stack100.nbest100.gz: Moses'
n-best lists of the first sentences, with segmentation. Nothing is timed.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import read_lines
from phrasebeam.decoder.features.dense import UNKNOWN_WORD, weight_vector
from phrasebeam.decoder.features.language_model import begin_states, new_states
from phrasebeam.decoder.features.stateful import new_feature_memory
from phrasebeam.decoder.features.stateful_feature import SMALLEST_ROOM
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair, pack_synthetic_pairs
from phrasebeam.decoder.input.zones import NO_ZONES
from phrasebeam.decoder.model.tables import NO_SOURCES, Sentence
from phrasebeam.decoder.moses.importing import import_moses
from phrasebeam.decoder.options.candidates import new_target_room
from phrasebeam.decoder.output.derivation import Derivation, FeatureSpace, fill_feature_matrix
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.levels import NO_CLASSES, NO_CONTENT
from phrasebeam.decoder.sparse.sparse_features import new_sparse_features
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.text.corpus import split

SETTINGS = {"default": "moses.ini", "tuned": "moses.tuned.ini"}
SEARCH = SearchSettings(stack=100, distortion_limit=6, table_limit=20, max_phrase_length=7)
TOLERANCE = 2e-3  # Moses adds float32 numbers and prints six digits
RELATIVE = 6e-6  # half of the sixth digit of 1.00000, and the error of float32
# Our feature vector: 4 of the phrase table, 6 of the reordering table, then these.
MOSES_ORDER = ("TranslationModel0", "LexicalReordering0", "LM0", "Distortion0", "WordPenalty0", "PhrasePenalty0")


class Printed(NamedTuple):
    """One line of Moses' n-best list."""

    sentence: int
    words: list[str]
    features: np.ndarray  # float64[14], in our order; the unknown-word penalty is not printed
    score: float
    spans: list[tuple[int, int, int, int]]  # source begin, end, target begin, end; half-open


class Rescorer:
    """Computes features of derivations that are given as words and spans."""

    def __init__(self, decoder: Decoder):
        self.model = decoder.model
        self.weights = weight_vector(decoder.dense_weights, decoder.features)
        self.places = decoder.features.places()
        self.tables = decoder.tables
        self.states = new_states(self.tables.lms.orders, 4)
        begin_states(self.tables.lms, self.states)

    def features(self, source: list[str], printed: Printed) -> np.ndarray:
        """float64[15]: the features of the derivation, computed by our code."""
        pairs = [self._pair(source[b:e], printed.words[tb:te], b) for b, e, tb, te in printed.spans]
        spans = np.array([span[:2] for span in printed.spans], np.int32)
        derivation = Derivation(np.array(pairs, np.int64), spans[:, 0].copy(), spans[:, 1].copy())
        # Every source word may have been copied: the copy of word i has the pair number -1 - i.
        own = [SyntheticPair(i, i + 1, (word,), unknown=UNKNOWN_WORD) for i, word in enumerate(source)]
        packed = pack_synthetic_pairs(
            own, len(source), 1, self.model.target, self.model.language_models, self.model.n_scores
        )
        matrix, offsets = np.zeros((1, self.weights.size)), np.array([0, len(pairs)])
        room, fired = new_target_room(len(printed.words) + 1, 1), new_sparse_features(1, 0)  # no sparse features
        memory = new_feature_memory(self.tables, SMALLEST_ROOM), np.empty((len(pairs), 2), np.int8)
        space = FeatureSpace(self.states, *memory, self.places, 0, *room, fired)
        ids, no_rules = self.model.source.ids(source), np.zeros(0, np.int8)
        sentence = Sentence(ids, packed, 1, NO_SOURCES, no_rules, NO_ZONES, NO_CLASSES, NO_CONTENT)
        fill_feature_matrix(derivation, offsets, self.tables, sentence, space, matrix)
        return matrix[0]

    def _pair(self, source: list[str], target: list[str], begin: int) -> int:
        table = self.model.tables.phrases
        found = find_source(table, self.model.source.ids(source), np.int64(0), np.int64(len(source)))
        if found == ABSENT:
            if source != target:
                sys.exit(f"{source} -> {target}: neither in the table nor a copy")
            return -1 - begin
        wanted = self.model.target.ids(target)
        for pair in range(table.pair_offsets[found], table.pair_offsets[found + 1]):
            if np.array_equal(table.target_words[slice(*table.target_offsets[pair : pair + 2])], wanted):
                return pair
        sys.exit(f"{source} -> {target}: not in the table")


def read_nbest(path: Path) -> list[Printed]:
    """All lines of Moses' n-best list."""
    printed = []
    for line in read_lines(path):
        sentence, text, features, score, spans, *_ = line.split("|||")
        values: dict[str, list[float]] = {}
        for token in features.split():
            if token.endswith("="):
                name = token[:-1]
            else:
                values.setdefault(name, []).append(float(token))
        vector = np.array([value for name in MOSES_ORDER for value in values[name]])
        printed.append(Printed(int(sentence), split(text), vector, float(score), read_spans(spans)))
    return printed


def read_spans(text: str) -> list[tuple[int, int, int, int]]:
    """The spans in a text such as "0-3=0-3 4=4"."""
    spans = []
    for span in text.split():
        bounds = [[int(i) for i in side.split("-")] for side in span.split("=")]
        (source_first, *_, source_last), (target_first, *_, target_last) = ([b[0], b[-1]] for b in bounds)
        spans.append((source_first, source_last + 1, target_first, target_last + 1))
    return spans


def compare(data: Path, name: str, model: Path) -> bool:
    """Print how the scores of one setting differ; return whether they agree."""
    import_moses(data / SETTINGS[name], model)
    decoder = Decoder.load(model, SEARCH)
    rescorer = Rescorer(decoder)
    sources = [split(line) for line in read_lines(data / "input.de")]
    printed = read_nbest(data / f"{name}.stack100.nbest100.gz")
    worst_score, worst_feature, n_unknown = 0.0, 0.0, 0
    best: dict[int, float] = {}
    for line in printed:
        features = rescorer.features(sources[line.sentence], line)
        n_unknown += bool(features[-1])
        score = float(rescorer.weights @ features)
        best[line.sentence] = max(best.get(line.sentence, -np.inf), score)
        worst_score = max(worst_score, abs(score - line.score))
        # Moses prints six digits of sums of float32 logarithms.
        allowed = np.maximum(np.abs(line.features), 1)
        worst_feature = max(worst_feature, float(np.max(np.abs(features[:-1] - line.features) / allowed)))
    print(f"{name}: {len(printed)} derivations of {len(best)} sentences, {n_unknown} with words copied", end="")
    print(f" ({UNKNOWN_WORD:g} each)")
    print(f"  largest difference: score {worst_score:.2g}, a feature {worst_feature:.2g} (relative)")
    found = [translation.score for translation in decoder.translate_all(map(" ".join, sources))]
    ours = np.array(found)[sorted(best)]
    moses = np.array([best[i] for i in sorted(best)])
    print(f"  stack 100, best of {len(best)} sentences: Moses {moses.mean():.4f}, ours {ours.mean():.4f}", end="")
    print(f" (better {int(np.sum(ours > moses + 1e-4))}, worse {int(np.sum(ours < moses - 1e-4))} times)")
    print(f"  stack 100, average model score of all {len(found)} sentences: {np.mean(found):.4f}")
    return worst_score <= TOLERANCE and worst_feature <= RELATIVE


def main() -> None:
    """Compare both settings; exit status 1 if a score differs by more than TOLERANCE."""
    parser = argparse.ArgumentParser(description=re.sub(r"\n.*", "", str(__doc__), flags=re.DOTALL))
    parser.add_argument("data", type=Path, help="directory with moses.ini, moses.tuned.ini and Moses' n-best lists")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as scratch:
        agree = [compare(data, name, Path(scratch) / name) for name in SETTINGS]
    sys.exit(not all(agree))


if __name__ == "__main__":
    main()
