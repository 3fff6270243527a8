"""Reader of Moses' configuration file, moses.ini (Koehn et al. 2007), for models that this decoder can use."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import LONGEST_EXCERPT, FormatError, excerpt
from phrasebeam.base.files import read_lines, real_path
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.moses.old_ini import OLD_SECTIONS, modernize
from phrasebeam.decoder.moses.reordering_type import read_type
from phrasebeam.decoder.moses.sections import REFUSED_SECTIONS, SECTIONS, SWITCHES, Sections, Setting, Value
from phrasebeam.decoder.moses.sparse import read_weight_file

COMMON_KEYS = ("name", "num-features", "tuneable", "tuneable-components", "verbosity")
KEYS = {  # by feature that the decoder has, the arguments that it may have
    "UnknownWordPenalty": (),
    "WordPenalty": (),
    "PhrasePenalty": (),
    "Distortion": (),
    "PhraseDictionaryMemory": ("path", "input-factor", "output-factor", "table-limit"),
    "LexicalReordering": ("path", "type", "default-scores", "input-factor", "output-factor"),
    "KENLM": ("path", "factor", "order", "lazyken", "load"),
    "SRILM": ("path", "factor", "order"),
}
LANGUAGE_MODELS = ("KENLM", "SRILM")
NEEDED = "expected one; the decoder cannot work without it"
TEXT_TABLE = "only text tables can be read; write PhraseDictionaryMemory with path= the table as text (or .gz)"
ARPA = "write KENLM with path= the model as ARPA"
REMEDIES = {
    **dict.fromkeys(("PhraseDictionaryBinary", "PhraseDictionaryOnDisk", "PhraseDictionaryCompact"), TEXT_TABLE),
    **dict.fromkeys(("ProbingPT", "PhraseDictionaryFuzzyMatch", "Mmsapt"), TEXT_TABLE),
    **dict.fromkeys(("IRSTLM", "RandLM", "DALM", "BilingualLM", "InMemoryPerSentenceOnDemandLM"), ARPA),
}
REMOVE = "the decoder does not have this feature; remove its line and its weights, and tune again"
FACTORS = "the decoder knows factor 0 alone; train the model without factors"
OFF = ("0", "false")
MISSING_WEIGHT = 1.0  # Moses' default for a feature without weights


class Feature(NamedTuple):
    """One line of the section [feature]."""

    kind: str  # such as KENLM
    name: str  # to which weights refer, such as LM0
    arguments: Mapping[str, str]  # KEY=VALUE, name= included
    value: Value  # the line itself


class MosesModel(NamedTuple):
    """The model that a moses.ini describes."""

    phrase_table: Path
    reordering_table: Path | None
    reordering: Reordering | None
    language_models: tuple[Path, ...]
    n_scores: int  # columns of the phrase table
    table_name: str  # prefix of the names of its sparse features
    weights: Weights
    sparse_weights: dict[str, float]  # by name, prefix included
    search: dict[str, Setting]  # limits of the search that it sets, by the decoder's names
    left_out: tuple[str, ...]  # sections that do not change the model and are not used


def read_moses_ini(path: str | Path) -> MosesModel:
    """The model that the moses.ini `path` describes; paths in it may be relative to its folder.

    Raises FormatError, naming the line, where the file is malformed or needs what the decoder does not have.
    """
    return _Reader(Path(path)).read()


class _Reader:
    """The sections, weights and features of one moses.ini."""

    def __init__(self, path: Path):
        self.path = path
        self.sections = self._sections()
        if old := OLD_SECTIONS & self.sections.keys():
            if new := {"feature", "weight"} & self.sections.keys():
                value = self.sections[min(new)][0]
                self.refuse(value, f"[{min(new)}] beside [{min(old)}] of the old format; keep one format")
            self.sections = modernize(self.sections, self.path)
        self.weights = self._weights()
        self.language_models: list[Feature] = []
        self.features: dict[str, Feature] = {}
        self._read_features()

    def read(self) -> MosesModel:
        """The model of the file. Raises FormatError, naming the line."""
        self._check_factors()
        phrases, reordering = self._required("PhraseDictionaryMemory"), self.features.get("LexicalReordering")
        lms = self.language_models or [self._required("KENLM")]
        kind = self._reordering(reordering) if reordering else None
        n_scores = self._integer(phrases, "num-features", 1)
        weights = {
            "translation": self._weights_of(phrases, n_scores),
            "reordering": self._weights_of(reordering, kind.n_weights) if reordering and kind else [],
            "language_model": [weight for lm in lms for weight in self._weights_of(lm, 1)],
            **self._distortion(),
            "word_penalty": self._weight_of("WordPenalty"),
            "phrase_penalty": self._weight_of("PhrasePenalty"),
            "unknown_word_penalty": self._weight_of("UnknownWordPenalty"),
        }
        return MosesModel(
            phrase_table=self._file(phrases),
            reordering_table=self._file(reordering) if reordering else None,
            reordering=kind,
            language_models=tuple(self._file(lm) for lm in lms),
            n_scores=n_scores,
            table_name=phrases.name,
            weights=parse_config(weights, Weights, str(self.path)),
            sparse_weights=self._sparse_weights(),
            search=self._search(phrases),
            left_out=tuple(name for name in self.sections if not SECTIONS[name]),
        )

    def _sections(self) -> Sections:
        """The lines of every section; those of a repeated section are joined. Refused sections raise FormatError."""
        sections: Sections = {}
        headers: Sections = {}
        name = ""
        for number, line in enumerate(read_lines(self.path), 1):
            text = line.partition("#")[0].strip()  # of all that split() takes for space
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
            if not values or any(value.text not in OFF for value in values):
                self.refuse(headers[name][0], f"[{name}]: {REFUSED_SECTIONS[name]}")
        return {name: values for name, values in sections.items() if values or not SECTIONS.get(name, True)}

    def _check_section(self, name: str, is_closed: bool, value: Value) -> None:
        if not is_closed:
            self.refuse(value, f"{excerpt(value.text)}, expected ] after the section's name")
        if name not in SECTIONS and name not in OLD_SECTIONS and name not in REFUSED_SECTIONS:
            close = difflib.get_close_matches(name[:LONGEST_EXCERPT], [*SECTIONS, *OLD_SECTIONS], n=1)
            hint = f"did you mean [{close[0]}]?" if close else "remove it"
            self.refuse(value, f"[{name[:LONGEST_EXCERPT]}]: unknown section; {hint}")

    def _check_factors(self) -> None:
        for name, allowed in (("input-factors", ["0"]), ("output-factors", ["0"])):
            for value in self.sections.get(name, []):
                if value.text not in allowed:
                    self.refuse(value, f"[{name}] {value.text[:LONGEST_EXCERPT]}: {FACTORS}")
        mapping = self.sections.get("mapping", [])
        names = {"0", *(feature.name for feature in self.features.values())}
        for i, value in enumerate(mapping):
            words = value.text.split()
            if i > 0 or words[-1] not in names or words[:-1] not in (["0", "T"], ["T"], ["0"]):
                found = f"[mapping] {value.text[:LONGEST_EXCERPT]}"
                self.refuse(value, f"{found}: expected '0 T 0' alone; the decoder has one phrase table")

    def _read_features(self) -> None:
        """Fill in self.features by kind, and self.language_models."""
        features = self.features
        for value in self.sections.get("feature", []):
            kind, *fields = value.text.split()
            self._check_kind(kind, value)
            arguments: dict[str, str] = {}
            for field in fields:
                key, equals, text = field.partition("=")
                if not equals or key in arguments:
                    self.refuse(value, f"{kind}: {excerpt(field)}, expected every key once, as KEY=VALUE")
                if key not in COMMON_KEYS + KEYS[kind]:
                    known = ", ".join(COMMON_KEYS + KEYS[kind])
                    self.refuse(value, f"{kind}: the decoder does not know {excerpt(key)}; remove it (known: {known})")
                arguments[key] = text
            for key in ("factor", "input-factor", "output-factor"):
                if arguments.get(key, "0") != "0":
                    self.refuse(value, f"{kind}: {key}={arguments[key][:LONGEST_EXCERPT]}; {FACTORS}")
            if kind in LANGUAGE_MODELS:
                number = sum(feature.kind == kind for feature in self.language_models)
                self.language_models.append(Feature(kind, arguments.get("name", f"{kind}{number}"), arguments, value))
                continue
            if kind in features:
                message = f"a second {kind} ({features[kind].name} is one); the decoder takes one"
                self.refuse(value, f"{message}; remove this line and its weights, and tune again")
            features[kind] = Feature(kind, arguments.get("name", f"{kind}0"), arguments, value)
        self._check_weights({feature.name for feature in [*features.values(), *self.language_models]})

    def _check_kind(self, kind: str, value: Value) -> None:
        if kind not in KEYS:
            self.refuse(value, f"{kind[:LONGEST_EXCERPT]}: {REMEDIES.get(kind, REMOVE)}")

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

    def _check_weights(self, names: set[str]) -> None:
        for name, (_, value) in self.weights.items():
            if name not in names and not self._is_sparse(name):
                what = "sparse weights of what is no phrase table" if "_" in name else "no such feature"
                found = f"{name[:LONGEST_EXCERPT]}: {what}"
                self.refuse(value, f"{found}; remove the line (features: {', '.join(sorted(names))})")

    def _is_sparse(self, name: str) -> bool:
        """Whether `name` is that of a sparse feature of the phrase table."""
        table = self.features.get("PhraseDictionaryMemory")
        return table is not None and name.startswith(f"{table.name}_")

    def _sparse_weights(self) -> dict[str, float]:
        """Weights of the phrase table's sparse features, by name, from [weight] and the files of [weight-file]."""
        weights = {name: values[0] for name, (values, _) in self.weights.items() if self._is_sparse(name)}
        for value in self.sections.get("weight-file", []):
            weights |= read_weight_file(self._find(value.text, value, "[weight-file]"), self._is_sparse)
        return weights

    def _weights_of(self, feature: Feature, expected: int) -> list[float]:
        """The weights of a feature, of which it must have as many as `expected`; MISSING_WEIGHT if it has none."""
        if feature.name not in self.weights:
            return [MISSING_WEIGHT] * expected
        weights, value = self.weights[feature.name]
        if len(weights) != expected:
            self.refuse(value, f"{len(weights)} weights of {feature.name}, expected {expected}")
        return weights

    def _weight_of(self, kind: str) -> float:
        """The one weight of the feature `kind`; 0 where the model does not have it."""
        return self._weights_of(self.features[kind], 1)[0] if kind in self.features else 0.0

    def _required(self, kind: str) -> Feature:
        if kind not in self.features:
            raise FormatError(self.path, f"no feature {kind}; {NEEDED}")
        return self.features[kind]

    def _reordering(self, feature: Feature) -> Reordering:
        if "type" not in feature.arguments:
            self.refuse(feature.value, "LexicalReordering without type=; expected such as wbe-msd-bidirectional-fe")
        type_, default_scores = feature.arguments["type"], feature.arguments.get("default-scores")
        try:
            return read_type(type_, default_scores)
        except ValueError as error:
            self.refuse(feature.value, f"LexicalReordering type={type_}: {error}")

    def _distortion(self) -> dict[str, float]:
        """The weight of distortion or, with [early-distortion-cost], of the feature that replaces it in Moses."""
        weight = self._weight_of("Distortion")
        flag = self.sections.get("early-distortion-cost", [])
        if flag and flag[0].text not in OFF:
            return {"distortion": 0.0, "early_distortion": weight}
        return {"distortion": weight}

    def _search(self, phrases: Feature) -> dict[str, Setting]:
        """Limits of the search that the file sets, by the decoder's names."""
        search: dict[str, Setting] = {}
        for name, (setting, convert) in ((n, entry) for n, entry in SECTIONS.items() if isinstance(entry, tuple)):
            if values := self.sections.get(name, []):
                try:
                    search[setting] = convert(values[0].text.split()[0])
                except ValueError as error:
                    self.refuse(values[0], f"[{name}] {values[0].text[:LONGEST_EXCERPT]}: {error}")
        if "table-limit" in phrases.arguments:
            search["table_limit"] = self._integer(phrases, "table-limit", 0)
        return search

    def _integer(self, feature: Feature, key: str, least: int) -> int:
        text = feature.arguments.get(key, "1")
        if not re.fullmatch("[0-9]{1,9}", text) or int(text) < least:
            found = f"{feature.kind}: {key}={text[:LONGEST_EXCERPT]}"
            self.refuse(feature.value, f"{found}, expected a whole number from {least} up")
        return int(text)

    def _file(self, feature: Feature) -> Path:
        """The file of the feature's path=, see _find."""
        if "path" not in feature.arguments:
            self.refuse(feature.value, f"{feature.kind} without path=")
        return self._find(feature.arguments["path"], feature.value, feature.kind)

    def _find(self, path: str, value: Value, what: str) -> Path:
        """The file `path` or `path`.gz, relative to the folder of the moses.ini or else to the working directory."""
        names = path, f"{path}.gz"
        candidates = [folder / name for folder in (self.path.parent, Path()) for name in names]
        found = [candidate for candidate in candidates if candidate.is_file()]
        if not found:
            where = "" if Path(path).is_absolute() else f" in {real_path(self.path.parent)} or {Path.cwd()}"
            self.refuse(value, f"{what}: no file {path[:LONGEST_EXCERPT]}{where}; correct the path")
        return found[0]

    def refuse(self, value: Value, message: str) -> NoReturn:
        """Raise FormatError for the line of `value`."""
        raise FormatError(self.path, message, value.line)
