"""Reader of Moses' configuration file, moses.ini (Koehn et al. 2007), for models that this decoder can use."""

import difflib
import math
import re
from pathlib import Path
from typing import NamedTuple, NoReturn

from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import LONGEST_EXCERPT, ConfigError, FormatError, excerpt
from phrasebeam.base.files import read_lines, real_path
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.moses_names import MosesFeature
from phrasebeam.decoder.moses.feature_lines import (
    FACTORS,
    FALSE,
    INPUT,
    LANGUAGE_MODELS,
    PHRASE_TABLE,
    REORDERING,
    STATEFUL,
    WORD_FEATURES,
    FeatureLine,
    check_paths,
    read_features,
)
from phrasebeam.decoder.moses.reordering import read_type
from phrasebeam.decoder.moses.sections import REFUSED_SECTIONS, SECTIONS, SWITCHES, Sections, Setting, Value
from phrasebeam.decoder.sparse.levels import LONGEST_LIST, WordLists
from phrasebeam.decoder.sparse.templates import Templates

NEEDED = "expected one; the decoder cannot work without it"
MISSING_WEIGHT = 1.0  # Moses' default for a feature without weights
TABLE_LIMIT = 20  # Moses' default
SINGLE = {
    "WordPenalty": "word_penalty",
    "PhrasePenalty": "phrase_penalty",
    "UnknownWordPenalty": "unknown_word_penalty",
}
BINARY = {".minphr": "processPhraseTableMin", ".binphr.idx": "processPhraseTable"}
BINARY_REORDERING = {".minlexr": "processLexicalTableMin", ".binlexr.idx": "processLexicalTable"}


class MosesTable(NamedTuple):
    """A text phrase table."""

    name: str  # prefix of the names of its sparse features
    path: Path
    n_scores: int
    limit: int  # number of target phrases that Moses considers for a source phrase; 0: all


class MosesModel(NamedTuple):
    """The model that a moses.ini describes."""

    tables: tuple[MosesTable, ...]  # alternatives, in the order of their weights
    reordering_tables: tuple[tuple[Path, Reordering], ...]  # all with the same orientations
    language_models: tuple[Path, ...]
    weights: Weights
    templates: Templates | None  # of the features of words
    sparse_weights: dict[str, float]  # by name, including the prefix
    names: tuple[MosesFeature, ...]  # in the order of Moses' n-best lists
    search: dict[str, Setting]  # search limits that the file sets, by the decoder's names
    left_out: tuple[str, ...]  # sections that do not change the model and are not used
    unweighted: tuple[str, ...]  # features without weights

    @property
    def reordering(self) -> Reordering | None:
        """The type of all reordering tables together; columns of tables after the first are like learned ones."""
        if not self.reordering_tables:
            return None
        types = [type_ for _, type_ in self.reordering_tables]
        condition = types[0].condition if len({type_.condition for type_ in types}) == 1 else "fe"
        return types[0].model_copy(update={"learned": len(types) - 1, "condition": condition})


def read_moses_ini(path: str | Path) -> MosesModel:
    """The model described by the moses.ini `path`; paths in it may be relative to its folder.

    Raises FormatError with the line if the file is malformed or needs features that the decoder lacks.
    """
    path = Path(path)
    if path.is_dir():
        what = "a model of phrasebeam, which need not be imported" if (path / "model.yaml").exists() else "a folder"
        raise ConfigError(f"{path}: {what}; give the moses.ini of a Moses model")
    return _Reader(path).read()


class _Reader:
    """The sections, weights and features of one moses.ini."""

    def __init__(self, path: Path):
        self.path = path
        self.sections = self._sections()
        self.weights = self._weights()
        self.features = read_features(self.sections.get("feature", []), self.refuse)
        self._check_weights()

    def read(self) -> MosesModel:
        """The model of the file. Raises FormatError, naming the line."""
        tables, lms = self._of_kind(PHRASE_TABLE), self._of_kind(*LANGUAGE_MODELS)
        for kind, found in ((PHRASE_TABLE, tables), ("KENLM", lms)):
            if not found:
                raise FormatError(self.path, f"no feature {kind}; {NEEDED}")
        self._check_factors()
        check_paths(self.sections.get("mapping", []), tables, self.refuse)
        reorderings = [(feature, self._reordering(feature)) for feature in self._of_kind(REORDERING)]
        self._check_reorderings(reorderings)
        limits = [self._table_limit(i, table) for i, table in enumerate(tables)]
        return MosesModel(
            tables=tuple(
                MosesTable(table.name, self._file(table), self._integer(table, "num-features", 1), limit)
                for table, limit in zip(tables, limits)
            ),
            reordering_tables=tuple((self._file(feature), type_) for feature, type_ in reorderings),
            language_models=tuple(self._file(lm) for lm in lms),
            weights=self._dense_weights([type_ for _, type_ in reorderings]),
            templates=self._templates(),
            sparse_weights=self._sparse_weights(),
            names=tuple(self._names([type_.n_weights for _, type_ in reorderings])),
            search=self._search(limits),
            left_out=tuple(name for name in self.sections if not SECTIONS[name] and not self._is_off(name)),
            unweighted=tuple(
                one.name
                for one in self.features
                if one.name not in self.weights and one.kind not in (*WORD_FEATURES, "UnknownWordPenalty")
            ),
        )

    def _of_kind(self, *kinds: str) -> list[FeatureLine]:
        return [feature for feature in self.features if feature.kind in kinds]

    def _sections(self) -> Sections:
        """The lines of every section; repeated sections are joined. Refused sections raise FormatError."""
        sections: Sections = {}
        headers: Sections = {}
        name = ""
        for number, line in enumerate(read_lines(self.path), 1):
            text = line.partition("#")[0].strip()  # strips all that split() treats as space
            if text.startswith("["):
                name, bracket, _ = text[1:].partition("]")
                self._check_section(name, bool(bracket), Value(text, number))
                sections.setdefault(name, [])
                headers.setdefault(name, []).append(Value(text, number))
            elif text and not name:
                self.refuse(Value(text, number), f"{excerpt(text)} before the first [section]; give a moses.ini")
            elif text:
                sections[name].append(Value(text, number))
        if not sections:
            raise FormatError(self.path, "no [section]; give a moses.ini")
        for name in SWITCHES & sections.keys():  # a header without a line switches it on
            sections[name] = sections[name] or [headers[name][0]]
        for name in sorted(REFUSED_SECTIONS.keys() & sections.keys()):
            values = sections.pop(name)
            if not values or any(value.text not in FALSE for value in values):
                self.refuse(headers[name][0], f"[{name}]: {REFUSED_SECTIONS[name]}")
        return {name: values for name, values in sections.items() if values or not SECTIONS.get(name, True)}

    def _is_off(self, name: str) -> bool:
        values = self.sections[name]
        return bool(values) and all(value.text in FALSE for value in values)

    def _check_section(self, name: str, is_closed: bool, value: Value) -> None:
        if not is_closed:
            self.refuse(value, f"{excerpt(value.text)}, expected ] after the section's name")
        if name not in SECTIONS and name not in REFUSED_SECTIONS:
            close = difflib.get_close_matches(name[:LONGEST_EXCERPT], SECTIONS, n=1)
            hint = f"did you mean [{close[0]}]?" if close else "remove it"
            self.refuse(value, f"[{name[:LONGEST_EXCERPT]}]: unknown section; {hint}")

    def _check_factors(self) -> None:
        for name in ("input-factors", "output-factors"):
            for value in self.sections.get(name, []):
                if value.text != "0":
                    self.refuse(value, f"[{name}] {value.text[:LONGEST_EXCERPT]}: {FACTORS}")

    def _weights(self) -> dict[str, tuple[list[float], Value]]:
        """For each name in [weight], its weights and their line."""
        weights: dict[str, tuple[list[float], Value]] = {}
        for value in self.sections.get("weight", []):
            first, *texts = value.text.split()
            name = first.removesuffix("=")
            if name == first or not texts:
                self.refuse(value, f"{excerpt(value.text)}, expected 'NAME= WEIGHT ...'")
            if name in weights:
                self.refuse(value, f"weights of {name[:LONGEST_EXCERPT]} a second time; remove one line")
            try:
                weights[name] = [float(text) for text in texts], value
            except ValueError:
                self.refuse(value, f"{excerpt(value.text)}, expected numbers after {first[:LONGEST_EXCERPT]}")
        return weights

    def _check_weights(self) -> None:
        names = sorted(feature.name for feature in self.features)
        for name, (_, value) in self.weights.items():
            if name not in names and not self._is_sparse(name):
                what = "sparse weights of what has none" if "_" in name else "no such feature"
                found = f"{name[:LONGEST_EXCERPT]}: {what}"
                self.refuse(value, f"{found}; remove the line (features: {', '.join(names)})")

    def _is_sparse(self, name: str) -> bool:
        """Whether `name` belongs to a sparse feature of a phrase table, or of words."""
        return any(name.startswith(f"{one.name}_") for one in self._of_kind(PHRASE_TABLE, *WORD_FEATURES))

    def _sparse_weights(self) -> dict[str, float]:
        """Weights of the sparse features by name, from [weight] and the files of [weight-file]."""
        weights = {name: values[0] for name, (values, _) in self.weights.items() if self._is_sparse(name)}
        for value in self.sections.get("weight-file", []):
            weights |= self._weight_file(self._find(value.text, value, "[weight-file]"))
        return weights

    def _weight_file(self, path: Path) -> dict[str, float]:
        """Weights by name, from lines 'NAME WEIGHT'."""
        weights = {}
        for number, line in enumerate(read_lines(path), 1):
            fields = line.split()
            if not fields or line.startswith("#"):  # as in Moses' FVector::load
                continue
            weight = _number(fields[-1])
            if len(fields) != 2 or not math.isfinite(weight):
                raise FormatError(path, f"{excerpt(line)}, expected 'NAME WEIGHT'", number)
            if not self._is_sparse(fields[0]):
                message = (
                    "of no feature in moses.ini that has sparse features here: those of phrase tables and of words"
                )
                raise FormatError(path, f"{excerpt(fields[0])}: {message}; remove it, and tune again", number)
            weights[fields[0]] = weight
        return weights

    def _dense_weights(self, types: list[Reordering]) -> Weights:
        tables = [(table, self._integer(table, "num-features", 1)) for table in self._of_kind(PHRASE_TABLE)]
        reorderings = zip(self._of_kind(REORDERING), types)
        weights = {
            "translation": [weight for table, n in tables for weight in self._weights_of(table, n)],
            "reordering": [weight for one, type_ in reorderings for weight in self._weights_of(one, type_.n_weights)],
            "language_model": [self._weights_of(lm, 1)[0] for lm in self._of_kind(*LANGUAGE_MODELS)],
            **self._distortion(),
            **{ours: self._weight_of(kind) for kind, ours in SINGLE.items()},
            **{WORD_FEATURES[one.kind][0]: 1.0 for one in self._of_kind(*WORD_FEATURES)},
        }
        for one in self._of_kind(INPUT):
            weights["input_score"] = self._weights_of(one, self._integer(one, "num-features", 1))
        return parse_config(weights, Weights, str(self.path))

    def _weights_of(self, feature: FeatureLine, expected: int) -> list[float]:
        """The `expected` number of weights of a feature; MISSING_WEIGHT if it has none. Refuses another number."""
        if feature.name not in self.weights:
            return [MISSING_WEIGHT] * expected
        weights, value = self.weights[feature.name]
        if len(weights) != expected:
            self.refuse(value, f"{len(weights)} weights of {feature.name}, expected {expected}")
        return weights

    def _weight_of(self, kind: str) -> float:
        """The only weight of the feature `kind`; 0 if the model does not have it."""
        found = self._of_kind(kind)
        return self._weights_of(found[0], 1)[0] if found else 0.0

    def _reordering(self, feature: FeatureLine) -> Reordering:
        if "type" not in feature.arguments:
            self.refuse(feature.value, "LexicalReordering without type=; expected such as wbe-msd-bidirectional-fe")
        type_, default_scores = feature.arguments["type"], feature.arguments.get("default-scores")
        try:
            return read_type(type_, default_scores)
        except ValueError as error:
            self.refuse(feature.value, f"LexicalReordering type={type_}: {error}")

    def _check_reorderings(self, found: list[tuple[FeatureLine, Reordering]]) -> None:
        """Refuse reordering models whose orientations differ from those of the first."""
        for feature, type_ in found[1:]:
            first, same = found[0][1], ("orientation", "kind", "direction")
            if any(getattr(type_, name) != getattr(first, name) for name in same) or type_.collapse or first.collapse:
                message = f"another type than {found[0][0].name}, or collapseff; the decoder takes several of one type"
                self.refuse(feature.value, f"{feature.name}: {message}; remove one, and tune again")
            if type_.ln_default:
                self.refuse(feature.value, f"{feature.name}: default-scores= of a second model; remove them")

    def _is_early(self) -> bool:
        """Whether [early-distortion-cost] replaces distortion."""
        flag = self.sections.get("early-distortion-cost", [])
        return bool(flag) and flag[0].text not in FALSE

    def _distortion(self) -> dict[str, float]:
        weight = self._weight_of("Distortion")
        return {"distortion": 0.0, "early_distortion": weight} if self._is_early() else {"distortion": weight}

    def _names(self, reordering_sizes: list[int]) -> list[MosesFeature]:
        """Moses' names of all features but the penalty of unknown words, in the order of its n-best lists."""
        sizes, first = iter(reordering_sizes), {"translation": 0, "reordering": 0, "language_model": 0}
        found = []
        for feature in self.features:
            size, kind = 1, feature.kind
            if kind == "UnknownWordPenalty":
                continue
            if kind in (PHRASE_TABLE, INPUT):
                ours = "translation" if kind == PHRASE_TABLE else "input_score"
                size = self._integer(feature, "num-features", 1)
            elif kind == REORDERING:
                ours, size = "reordering", next(sizes)
            elif kind in LANGUAGE_MODELS:
                ours = "language_model"
            elif kind == "Distortion":
                ours = "early_distortion" if self._is_early() else "distortion"
            else:
                ours = WORD_FEATURES[kind][0] if kind in WORD_FEATURES else SINGLE[kind]
            names = MosesFeature(
                name=feature.name, feature=ours, first=first.get(ours, 0), size=size, listed=feature.is_tuned
            )
            first[ours] = names.first + size
            found.append((kind not in STATEFUL, names))
        return [names for _, names in sorted(found, key=lambda one: one[0])]

    def _templates(self) -> Templates | None:
        """The features of words and their word lists."""
        features = self._of_kind(*WORD_FEATURES)
        lists = {
            name: self._word_list(feature, argument)
            for feature in features
            for argument, name in WORD_FEATURES[feature.kind][1].items()
            if argument in feature.arguments
        }
        groups = {WORD_FEATURES[feature.kind][0]: True for feature in features}
        return Templates(**groups, word_lists=WordLists.model_validate(lists)) if features else None

    def _word_list(self, feature: FeatureLine, argument: str) -> list[str]:
        path = self._find(feature.arguments[argument], feature.value, feature.kind)
        words = list(dict.fromkeys(read_lines(path)))
        if len(words) > LONGEST_LIST:
            raise FormatError(path, f"{len(words)} words, expected at most {LONGEST_LIST}; shorten the list")
        return words

    def _search(self, limits: list[int]) -> dict[str, Setting]:
        """Search limits that the file sets, by the decoder's names."""
        search: dict[str, Setting] = {}
        for name, (setting, convert) in ((n, entry) for n, entry in SECTIONS.items() if isinstance(entry, tuple)):
            if values := self.sections.get(name, []):
                try:
                    search[setting] = convert(values[0].text.split()[0])
                except ValueError as error:
                    self.refuse(values[0], f"[{name}] {values[0].text[:LONGEST_EXCERPT]}: {error}")
        return search | {"table_limit": sum(limits) if all(limits) else 0}

    def _table_limit(self, number: int, feature: FeatureLine) -> int:
        """The limit of the table `number`, whose line is `feature`."""
        if "table-limit" in feature.arguments:
            return self._integer(feature, "table-limit", 0)
        values = self.sections.get("ttable-limit", [])
        if not values:
            return TABLE_LIMIT
        value = values[min(number, len(values) - 1)]
        if not re.fullmatch("[0-9]{1,9}", value.text):
            self.refuse(value, f"[ttable-limit] {value.text[:LONGEST_EXCERPT]}: expected a whole number")
        return int(value.text)

    def _integer(self, feature: FeatureLine, key: str, least: int) -> int:
        text = feature.arguments.get(key, "1")
        if not re.fullmatch("[0-9]{1,9}", text) or int(text) < least:
            found = f"{feature.kind}: {key}={text[:LONGEST_EXCERPT]}"
            self.refuse(feature.value, f"{found}, expected a whole number from {least} up")
        return int(text)

    def _file(self, feature: FeatureLine) -> Path:
        """The file of the feature's path=, see _find."""
        if "path" not in feature.arguments:
            self.refuse(feature.value, f"{feature.kind} without path=")
        return self._find(feature.arguments["path"], feature.value, feature.kind)

    def _find(self, path: str, value: Value, what: str) -> Path:
        """The file `path` or `path`.gz, relative to the folder of the moses.ini or else to the working directory."""
        folders = self.path.parent, Path()
        found = [folder / name for folder in folders for name in (path, f"{path}.gz") if (folder / name).is_file()]
        for ending, tool in (BINARY_REORDERING if what == REORDERING else BINARY).items():
            if path.endswith(ending) or (not found and any((folder / (path + ending)).exists() for folder in folders)):
                name = path if path.endswith(ending) else path + ending
                given = f"{what}: {name[:LONGEST_EXCERPT]} is a binary table, which only Moses reads"
                self.refuse(value, f"{given}; give the text table that {tool} made it of")
        if not found:
            where = "" if Path(path).is_absolute() else f" in {real_path(self.path.parent)} or {Path.cwd()}"
            self.refuse(value, f"{what}: no file {path[:LONGEST_EXCERPT]}{where}; correct the path")
        return found[0]

    def refuse(self, value: Value, message: str) -> NoReturn:
        """Raise FormatError for the line of `value`."""
        raise FormatError(self.path, message, value.line)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
