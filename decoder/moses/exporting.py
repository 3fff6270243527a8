"""Export of a model directory in Moses' formats: moses.ini, text tables, and copies of the language models."""

import shutil
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ModelError, excerpt
from phrasebeam.base.files import atomic_directory, atomic_file
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.dense_feature import names_of
from phrasebeam.decoder.features.registry import OPTIONAL
from phrasebeam.decoder.features.reordering_type import N_ORIENTATIONS, Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.model import Model, open_model
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.moses.reordering_type import write_type
from phrasebeam.decoder.moses.sections import ALGORITHMS
from phrasebeam.decoder.moses.sparse import SparseColumn, weight_lines
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.phrase_table import open_reordering_table
from phrasebeam.decoder.tables.provenance import check_output
from phrasebeam.decoder.translate.translate_settings import TranslateSettings

HEADING = "# Moses model, exported by phrasebeam"
TABLE, REORDERING, SPARSE_WEIGHTS = "phrase-table.gz", "reordering-table.gz", "sparse-weights"
PAIRS_AT_ONCE = 1 << 15  # that are written at a time, those of a source phrase together
MOSES_ALGORITHMS = {name: number for number, name in ALGORITHMS.items()}
NO_LIMIT = 10**9  # for what Moses cannot leave unlimited
MOSES_NAMES = {
    "translation": "TranslationModel0",
    "reordering": "LexicalReordering0",
    "distortion": "Distortion0",
    "word_penalty": "WordPenalty0",
    "phrase_penalty": "PhrasePenalty0",
    "unknown_word_penalty": "UnknownWordPenalty0",
    "early_distortion": "Distortion0",  # with the switch [early-distortion-cost]
}


def export_moses(model: str | Path, output: str | Path) -> None:
    """Write the model directory `model` as a Moses model into the directory `output`; an earlier export is replaced.

    Limits of the search are those of search.yaml in the model, where there is one, or our defaults. Raises SmtError,
    also for numbers of the model that are wrong, and then leaves `output` as it was.
    """
    output = Path(output).resolve()
    check_output(output, "moses.ini", HEADING)
    opened = open_model(model)
    if wrong := next(findings(model, is_verified=False), None):
        raise ModelError(wrong)
    _check_words(Path(model), opened)
    for entry in opened.description.language_models:
        if entry.classes:
            raise ModelError(f"{Path(model) / entry.file}: a model over classes, which Moses has only with factors")
    if opened.description.reordering and opened.description.reordering.learned:
        raise ModelError(f"{model}: learned scores of orientations, which Moses' reordering tables have not")
    _check_weights(Path(model) / "weights.yaml", opened.weights)
    search_file = Path(model) / "search.yaml"
    search = load_config(search_file, TranslateSettings).search if search_file.exists() else SearchSettings()
    with atomic_directory(output) as directory:
        with stage("writing the phrase table"):
            _write_lines(_phrase_lines(opened), directory / TABLE)
        if opened.description.reordering:
            with stage("writing the reordering table"):
                _write_lines(_reordering_lines(Path(model), opened), directory / REORDERING)
        for i, entry in enumerate(opened.description.language_models):
            shutil.copyfile(Path(model) / entry.file, directory / _language_model(i))
        if opened.weights.pair_sparse is not None:
            _write("".join(weight_lines(opened, MOSES_NAMES["translation"])), directory / SPARSE_WEIGHTS)
        _write(_ini(opened, search), directory / "moses.ini")


def _language_model(number: int) -> str:
    return f"lm{number + 1}.bin" if number else "lm.bin"


def _check_words(directory: Path, model: Model) -> None:
    for side, vocabulary in (("source", model.source), ("target", model.target)):
        for number, word in enumerate(vocabulary.words, 1):
            if "|" in word:
                found = f"the word {excerpt(word)} has a |, which sets off factors in Moses"
                raise ModelError(f"{directory / f'{side}.vocab'}:{number}: {found}; train on escaped text (&#124;)")


def _check_weights(path: Path, weights: Weights) -> None:
    given = weights.model_dump()
    for name in names_of(OPTIONAL):
        if name in given and name not in MOSES_NAMES and name != "pair_sparse":
            raise ModelError(f"{path}: {name} is a feature that Moses does not have; remove its weight, and tune again")
    if weights.early_distortion is not None and weights.distortion != 0:
        message = f"distortion {weights.distortion} beside early_distortion, and Moses has the one or the other"
        raise ModelError(f"{path}: {message}; set distortion to 0, or remove early_distortion, and tune again")


def _pairs(model: Model) -> Iterator[tuple[slice, list[str], np.ndarray]]:
    """Pieces of K pairs of the table: their rows, 'source ||| target ||| ' of each, and int64[K] source phrases."""
    table = model.tables.phrases
    source_words, target_words = model.source.words, model.target.words
    first, n_sources = 0, len(table.source_offsets) - 1
    while first < n_sources:
        within = int(np.searchsorted(table.pair_offsets, table.pair_offsets[first] + PAIRS_AT_ONCE, "right")) - 1
        last = min(max(within, first + 1), n_sources)
        rows = slice(int(table.pair_offsets[first]), int(table.pair_offsets[last]))
        sources = _phrases(table.source_offsets[first : last + 1], table.source_words, source_words)
        targets = _phrases(table.target_offsets[rows.start : rows.stop + 1], table.target_words, target_words)
        sizes = np.diff(table.pair_offsets[first : last + 1])
        source_of = np.repeat(np.arange(last - first), sizes)
        texts = [f"{sources[i]} ||| {target} ||| " for i, target in zip(source_of.tolist(), targets)]
        yield rows, texts, source_of + first
        first = last


def _phrases(offsets: np.ndarray, ids: np.ndarray, words: list[str]) -> list[str]:
    """The K phrases ids[offsets[i]:offsets[i + 1]], of int64[K + 1] and int32[...], as text."""
    flat = [words[i] for i in ids[offsets[0] : offsets[-1]].tolist()]
    ends = (offsets - offsets[0]).tolist()
    return [" ".join(flat[begin:end]) for begin, end in pairwise(ends)]


def _phrase_lines(model: Model) -> Iterator[str]:
    table, column = model.tables.phrases, SparseColumn(model)
    for rows, texts, sources in _pairs(model):
        offsets = table.alignment_offsets[rows.start : rows.stop + 1]
        points = [f"{i}-{j}" for i, j in table.alignment_points[offsets[0] : offsets[-1]].tolist()]
        ends = (offsets - offsets[0]).tolist()
        columns = table.target_counts[rows], table.source_counts[sources], table.joint_counts[rows]
        counts = zip(*(column.tolist() for column in columns))
        count_texts = ["{} {} {}".format(*numbers) if any(numbers) else "" for numbers in counts]
        alignments = [" ".join(points[begin:end]) for begin, end in pairwise(ends)]
        parts = texts, probabilities(table.ln_scores[rows]), alignments, count_texts, column.texts(rows)
        for text, scores, alignment, count, sparse in zip(*parts):
            yield f"{text}{scores} ||| {alignment} ||| {count} ||| {sparse} |||\n"


def _reordering_lines(directory: Path, model: Model) -> Iterator[str]:
    ln_scores = open_reordering_table(directory / "reordering", len(model.tables.phrases.ln_scores)).ln_scores
    by_source = model.description.reordering is not None and model.description.reordering.condition == "f"
    for rows, texts, sources in _pairs(model):
        previous = -1
        for text, scores, source in zip(texts, probabilities(ln_scores[rows]), sources.tolist()):
            if not by_source:
                yield f"{text}{scores}\n"
            elif source != previous:
                yield f"{text.partition(' ||| ')[0]} ||| {scores}\n"
            previous = source


def probabilities(ln_scores: np.ndarray) -> list[str]:
    """Each row of `ln_scores` (float32[P, K]) as decimal probabilities, with enough digits to restore the ln."""
    values, value_of = np.unique(ln_scores, return_inverse=True)  # most occur again and again
    exact = np.exp(values.astype(np.float64))
    short = exact.astype(np.float32).astype(str)
    with np.errstate(divide="ignore"):
        is_same = np.log(short.astype(np.float64)).astype(np.float32) == values
    texts = np.where(is_same, short, exact.astype(str)).tolist()
    return [" ".join([texts[i] for i in row.tolist()]) for row in value_of.reshape(ln_scores.shape)]


def _write_lines(lines: Iterable[str], path: Path) -> None:
    with atomic_file(path) as file:
        file.writelines(line.encode("utf-8") for line in lines)


def _write(text: str, path: Path) -> None:
    with atomic_file(path) as file:
        file.write(text.encode("utf-8"))


def _ini(model: Model, search: SearchSettings) -> str:
    weights = model.weights.model_dump()
    has_sparse, has_early = weights.pop("pair_sparse", None) is not None, "early_distortion" in weights
    reordering = model.description.reordering
    if reordering is None:
        del weights["reordering"]
    elif reordering.collapse:  # which Moses reads otherwise, see columns_read: the same weight for all orientations
        n = N_ORIENTATIONS[reordering.kind]
        weights["reordering"] = [weight for weight in weights["reordering"] for _ in range(n)]
    if has_early:
        del weights["distortion"]
    named = {f"LM{i}": weight for i, weight in enumerate(weights.pop("language_model"))}
    named |= {MOSES_NAMES[name]: value for name, value in weights.items()}
    sections = {
        "input-factors": ["0"],
        "mapping": ["0 T 0"],
        "distortion-limit": [str(search.distortion_limit)],
        "search-algorithm": [MOSES_ALGORITHMS[search.algorithm]],
        "cube-pruning-pop-limit": [str(search.pop_limit or NO_LIMIT)],
        "stack": [str(search.stack)],
        "beam-threshold": [repr(search.beam_threshold)],
        "max-phrase-length": [str(search.max_phrase_length)],
        **({"early-distortion-cost": ["1"]} if has_early else {}),
        **({"weight-file": [SPARSE_WEIGHTS]} if has_sparse else {}),
        "feature": _features(model, search.table_limit),
        "weight": [f"{name}= {_decimals(value)}" for name, value in named.items()],
    }
    lines = [f"{HEADING}; paths are relative: run Moses in this folder, or write them in full", ""]
    for name, values in sections.items():
        lines += [f"[{name}]", *values, ""]
    return "\n".join(lines)


def _features(model: Model, table_limit: int) -> list[str]:
    """Lines of the section [feature]."""
    factors, n_scores = "input-factor=0 output-factor=0", model.tables.phrases.ln_scores.shape[1]
    table = f"name=TranslationModel0 num-features={n_scores} path={TABLE} {factors} table-limit={table_limit}"
    lines = ["UnknownWordPenalty", "WordPenalty", "PhrasePenalty", f"PhraseDictionaryMemory {table}"]
    if model.description.reordering:
        lines.append(_lexical(model.description.reordering.model_copy(update={"collapse": False}), factors))
    lines.append("Distortion")
    for i, one in enumerate(model.language_models):
        lines.append(f"KENLM name=LM{i} factor=0 path={_language_model(i)} order={one.model.order}")
    return lines


def _lexical(model: Reordering, factors: str) -> str:
    if model.condition == "f":
        factors = "input-factor=0"  # with an output factor Moses looks for target phrases in the table
    line = f"LexicalReordering name=LexicalReordering0 path={REORDERING} {factors}"
    line += f" num-features={model.n_weights} type={write_type(model)}"
    if model.ln_default:
        line += f" default-scores={probabilities(np.array([model.ln_default], np.float32))[0].replace(' ', ',')}"
    return line


def _decimals(value: float | list[float]) -> str:
    return " ".join(map(repr, value)) if isinstance(value, list) else repr(value)
