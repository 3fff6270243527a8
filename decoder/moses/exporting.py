"""Export of a model directory in Moses' formats: moses.ini, text tables, and copies of the language models."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import LONGEST_EXCERPT, ConfigError, ModelError, excerpt
from phrasebeam.base.files import atomic_directory, atomic_file, check_keeps_inputs, real_path
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.dense_feature import names_of
from phrasebeam.decoder.features.registry import OPTIONAL
from phrasebeam.decoder.features.reordering_type import N_ORIENTATIONS, Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.model.moses_names import MOSES_NAMES, MosesFeature
from phrasebeam.decoder.model.opened_model import Model, open_model
from phrasebeam.decoder.model.replacement import FORCE
from phrasebeam.decoder.moses.alternatives import table_of
from phrasebeam.decoder.moses.feature_lines import INPUT, WORD_FEATURES
from phrasebeam.decoder.moses.line_writer import TableLines, write_lines
from phrasebeam.decoder.moses.reordering import write_type
from phrasebeam.decoder.moses.score_texts import probabilities
from phrasebeam.decoder.moses.sections import ALGORITHMS
from phrasebeam.decoder.moses.sparse import OF_WORDS, SparseColumn, weight_lines
from phrasebeam.decoder.moses.tables import repeated_pairs
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.tables.phrase_table import PhraseTable, open_reordering_table
from phrasebeam.decoder.tables.provenance import check_output
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.lm.text.encoded_words import encode

HEADING = "# Moses model, exported by phrasebeam"
TABLE, REORDERING, LANGUAGE_MODEL = "phrase-table.gz", "reordering-table.gz", "lm.bin"
SPARSE_WEIGHTS, FACTORS = "sparse-weights", "input-factor=0 output-factor=0"
PAIRS_AT_ONCE = 1 << 15  # pairs that are written at a time; those of a source phrase stay together
MOSES_ALGORITHMS = {name: number for number, name in ALGORITHMS.items()}
NO_LIMIT = 10**9  # for limits that Moses cannot turn off
KINDS = {  # by our names of features
    "distortion": "Distortion",
    "early_distortion": "Distortion",  # with the switch [early-distortion-cost]
    "word_penalty": "WordPenalty",
    "phrase_penalty": "PhrasePenalty",
    "input_score": INPUT,
} | {group: kind for kind, (group, _) in WORD_FEATURES.items()}
KNOWN = (*MOSES_NAMES, "unknown_word_penalty")


def export_moses(model: str | Path, output: str | Path, is_forced: bool = False) -> None:
    """Write the model directory `model` as a Moses model into the directory `output`.

    An existing export is replaced if it is of the same model or `is_forced`.

    Limits of the search are those of search.yaml in the model or, if it has none, our defaults. Raises SmtError, also
    if the model contains wrong numbers; `output` is then left as it was.
    """
    output = real_path(output)
    check_output(output, "moses.ini", HEADING, "an export")
    check_keeps_inputs([output], [model])
    opened = open_model(model)
    if wrong := next(findings(model, is_verified=False), None):
        raise ModelError(wrong)
    _check_words(Path(model), opened)
    for entry in opened.description.language_models:
        if entry.classes:
            what = "a language model over word classes, which Moses has only with factors"
            raise ModelError(f"{Path(model) / entry.file}: {what}; train without it, as train-model does by default")
    _check_weights(Path(model) / "weights.yaml", opened.weights)
    search = ModelSearch.of(model).search
    if not search.future_cost:
        where = Path(model) / SEARCH
        raise ModelError(f"{where}: future_cost is false, and Moses always counts it; remove it, and tune again")
    names = opened.moses_names
    widths, reordering = [one.size for one in names if one.feature == "translation"], opened.description.reordering
    ini = _ini(opened, names, search)
    if not is_forced:
        _check_same(output / "moses.ini", ini)
    with atomic_directory(output) as directory:
        with stage("writing the phrase table"):
            for i in range(len(widths)):
                _write_lines(_phrase_lines(opened, widths, i), directory / _numbered(TABLE, i))
        if reordering:
            with stage("writing the reordering table"):
                for i in range(1 + reordering.learned):
                    lines = _reordering_lines(Path(model), opened, reordering, i)
                    _write_lines(lines, directory / _numbered(REORDERING, i), not _is_by_source(reordering, i))
        for i, entry in enumerate(opened.description.language_models):
            shutil.copyfile(Path(model) / entry.file, directory / _numbered(LANGUAGE_MODEL, i))
        for name, words in opened.templates.word_lists if opened.templates else ():
            if words is not None:
                _write("".join(f"{word}\n" for word in words), directory / f"words.{name}")
        if _has_sparse(opened):
            _write("".join(weight_lines(opened, Path(model))), directory / SPARSE_WEIGHTS)
        _write(ini, directory / "moses.ini")
        if output.exists() and not is_forced:
            _check_names(output, directory)


def _check_names(output: Path, directory: Path) -> None:
    """Raise ConfigError if `output` contains files that the new export in `directory` does not have."""
    if others := sorted({path.name for path in output.iterdir()} - {path.name for path in directory.iterdir()}):
        raise ConfigError(f"{output}: has {', '.join(others[:3])}, which is not part of the export; {FORCE}")


def _check_same(path: Path, text: str) -> None:
    """Raise ConfigError if there is a moses.ini at `path` with other content than `text`."""
    if path.exists():
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(len(text) + LONGEST_EXCERPT).splitlines()
        for old, new in zip_longest(lines, text.splitlines(), fillvalue=""):
            if old != new:
                found = f"an export of another model, or edited: {excerpt(old)} is now {excerpt(new)}"
                raise ConfigError(f"{path.parent}: {found}; {FORCE}")


def _numbered(name: str, number: int) -> str:
    """The name of the file with this `number`, counted from 0, among files of one kind."""
    stem, _, ending = name.partition(".")
    return f"{stem}{number + 1}.{ending}" if number else name


def _has_sparse(model: Model) -> bool:
    return any(getattr(model.weights, name) is not None for name in (*OF_WORDS, "pair_sparse"))


def _check_words(directory: Path, model: Model) -> None:
    for side, vocabulary in (("source", model.source), ("target", model.target)):
        for number, word in enumerate(vocabulary.words, 1):
            if "|" in word:
                found = f"the word {excerpt(word)} has a |, which sets off factors in Moses"
                raise ModelError(f"{directory / f'{side}.vocab'}:{number}: {found}; train on escaped text (&#124;)")


def _check_weights(path: Path, weights: Weights) -> None:
    given = weights.model_dump()
    for name in names_of(OPTIONAL):
        if name in given and name not in KNOWN:
            raise ModelError(f"{path}: {name} is a feature that Moses does not have; remove its weight, and tune again")
    if weights.early_distortion is not None and weights.distortion != 0:
        message = f"distortion {weights.distortion} together with early_distortion, but Moses has only one of the two"
        raise ModelError(f"{path}: {message}; set distortion to 0, or remove early_distortion, and tune again")


def _pieces(table: PhraseTable) -> Iterator[tuple[slice, np.ndarray]]:
    """Pieces of K pairs of the table, with source phrases kept whole: their rows, and int64[K] source phrases."""
    first, n_sources = 0, len(table.source_offsets) - 1
    while first < n_sources:
        within = int(np.searchsorted(table.pair_offsets, table.pair_offsets[first] + PAIRS_AT_ONCE, "right")) - 1
        last = min(max(within, first + 1), n_sources)
        sizes = np.diff(table.pair_offsets[first : last + 1])
        yield slice(*table.pair_offsets[[first, last]].tolist()), np.repeat(np.arange(first, last), sizes)
        first = last


def _phrase_lines(model: Model, widths: Sequence[int], number: int) -> Iterator[TableLines]:
    """The lines of the table `number` among the tables with these `widths`, which are numbers of scores."""
    table, column = model.tables.phrases, SparseColumn(model)
    columns_of_table = slice(sum(widths[:number]), sum(widths[: number + 1]))
    for rows, sources in _pieces(table):
        ln_scores = table.scores_of(rows)
        is_here = table_of(ln_scores, widths) == number
        scores, features = probabilities(ln_scores[:, columns_of_table]), column.texts(rows)
        words, first = (model.source.encoded, model.target.encoded), np.array([rows.start])
        yield TableLines(table, *words, first, sources, is_here, scores, features)


def _reordering_lines(directory: Path, model: Model, reordering: Reordering, layer: int) -> Iterator[TableLines]:
    """The lines of the table of estimated scores, or of the scores learned in the training `layer`, from 1."""
    table = model.tables.phrases
    ln_scores = open_reordering_table(directory / "reordering", table.n_pairs).ln_scores
    columns = slice(layer * reordering.n_columns, (layer + 1) * reordering.n_columns)
    for rows, sources in _pieces(table):
        if _is_by_source(reordering, layer):
            is_first = np.append(True, np.diff(sources) > 0)
        else:
            is_first = np.ones(sources.size, np.bool_)
            offsets = table.target_offsets[rows.start : rows.stop + 1]
            is_first[repeated_pairs(sources, offsets, table.target_words)[:, 0]] = False
        words, first = (model.source.encoded, model.target.encoded), np.array([rows.start])
        yield TableLines(table, *words, first, sources, is_first, probabilities(ln_scores[rows, columns]), encode([]))


def _is_by_source(reordering: Reordering, layer: int) -> bool:
    """Whether the table has scores of source phrases alone."""
    return reordering.condition == "f" and layer == 0


def _write_lines(pieces: Iterable[TableLines], path: Path, has_target: bool = True) -> None:
    out = np.empty(0, np.uint8)
    with atomic_file(path) as file:
        for lines in pieces:
            size = write_lines(lines, has_target, out)
            if size > out.size:
                out = np.empty(size, np.uint8)
                write_lines(lines, has_target, out)
            file.write(out[:size].data)


def _write(text: str, path: Path) -> None:
    with atomic_file(path) as file:
        file.write(text.encode("utf-8"))


def _ini(model: Model, names: Sequence[MosesFeature], search: SearchSettings) -> str:
    lines = list(_features(model, names, search.table_limit))
    sections = {
        "input-factors": ["0"],
        "mapping": [f"{i} T {i}" for i in range(sum(one.feature == "translation" for one in names))],
        "distortion-limit": [str(search.distortion_limit)],
        "search-algorithm": [MOSES_ALGORITHMS[search.algorithm]],
        "cube-pruning-pop-limit": [str(search.pop_limit or NO_LIMIT)],
        "stack": [str(search.stack)],
        "beam-threshold": [repr(search.beam_threshold)],
        "max-phrase-length": [str(search.max_phrase_length)],
        **({"early-distortion-cost": ["1"]} if model.weights.early_distortion is not None else {}),
        **({"weight-file": [SPARSE_WEIGHTS]} if _has_sparse(model) else {}),
        "feature": [feature for feature, _ in lines],
        "weight": [weights for _, weights in lines if weights],
    }
    made = f"# {model.description.signature}"
    text = [f"{HEADING}; paths are relative: run Moses in this folder, or write them in full", made, ""]
    for name, values in sections.items():
        text += [f"[{name}]", *values, ""]
    return "\n".join(text)


def _features(model: Model, names: Sequence[MosesFeature], table_limit: int) -> Iterator[tuple[str, str]]:
    """Lines of the section [feature], each with its line of [weight] or ""."""
    weights, numbers = model.weights.model_dump(), Counter[str]()
    yield "UnknownWordPenalty", f"UnknownWordPenalty0= {_decimals(weights['unknown_word_penalty'])}"
    for one in names:
        i, feature = numbers[one.feature], one.feature
        numbers[feature] += 1
        if feature == "pair_sparse":
            continue
        value = weights[feature]
        values = value[one.first : one.first + one.size] if isinstance(value, list) else [value]
        if feature == "translation":
            where = f"num-features={one.size} path={_numbered(TABLE, i)} {FACTORS}"
            line = f"PhraseDictionaryMemory name={one.name} {where} table-limit={table_limit}"
        elif feature == "reordering" and model.description.reordering:
            line, values = _lexical(model.description.reordering, one, i, values)
        elif feature == "language_model":
            order, path = model.language_models[i].model.order, _numbered(LANGUAGE_MODEL, i)
            line = f"KENLM name={one.name} factor=0 path={path} order={order}"
        else:
            line = KINDS[feature] + ("" if one.name == f"{KINDS[feature]}0" else f" name={one.name}")
            line += _word_arguments(model, feature)
            line += f" num-features={one.size} num-input-features={one.size}" if feature == "input_score" else ""
        line += "" if one.listed else " tuneable=false"
        yield line, "" if feature in OF_WORDS else f"{one.name}= {_decimals(values)}"


def _word_arguments(model: Model, group: str) -> str:
    """The arguments of a feature of words; "" for other features."""
    kind, lists = KINDS[group], model.templates.word_lists if model.templates else None
    arguments = {"WordTranslationFeature": f" {FACTORS} simple=1", "PhraseLengthFeature": ""}.get(kind, " factor=0")
    if kind not in WORD_FEATURES:
        return ""
    paths = WORD_FEATURES[kind][1]
    given = {key: name for key, name in paths.items() if lists is not None and getattr(lists, name) is not None}
    if given and len(given) < len(paths):
        raise ModelError(f"templates.yaml: word_lists has {', '.join(given.values())} only; Moses has both or neither")
    return arguments + "".join(f" {key}=words.{name}" for key, name in given.items())


def _lexical(model: Reordering, named: MosesFeature, layer: int, weights: list[float]) -> tuple[str, list[float]]:
    """The line of a reordering model and its weights; all models after the first have scores of pairs."""
    if model.collapse and layer == 0:  # Moses reads them otherwise, see columns_read: one for all orientations
        weights = [weight for weight in weights for _ in range(N_ORIENTATIONS[model.kind])]
    condition = model.condition if layer == 0 else "fe"
    factors = "input-factor=0" if condition == "f" else FACTORS  # with an output factor it would look up target phrases
    type_ = write_type(model.model_copy(update={"collapse": False, "condition": condition}))
    line = f"LexicalReordering name={named.name} path={_numbered(REORDERING, layer)} {factors}"
    line += f" num-features={model.n_columns} type={type_}"
    if model.ln_default and layer == 0:
        line += f" default-scores={','.join(probabilities(np.array([model.ln_default], np.float32)).rows()[0])}"
    return line, weights


def _decimals(value: float | list[float]) -> str:
    return " ".join(map(repr, value)) if isinstance(value, list) else repr(value)
