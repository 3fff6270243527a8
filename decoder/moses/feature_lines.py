"""The lines of the section [feature] of a moses.ini: the features that the decoder supports, and their arguments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, NoReturn

from phrasebeam.base.errors import LONGEST_EXCERPT, excerpt
from phrasebeam.decoder.moses.sections import Value

COMMON_KEYS = ("name", "num-features", "tuneable", "tuneable-components", "verbosity", "filterable")
FACTOR_KEYS = ("factor", "input-factor", "output-factor")
CONTEXT_KEYS = ("source-context", "target-context", "domain-trigger", "ignore-punctuation")
KEYS: dict[str, tuple[str, ...]] = {  # the allowed arguments of each supported feature
    "UnknownWordPenalty": (),
    "WordPenalty": (),
    "PhrasePenalty": (),
    "Distortion": (),
    "PhraseDictionaryMemory": ("path", "input-factor", "output-factor", "table-limit"),
    "LexicalReordering": ("path", "type", "default-scores", "input-factor", "output-factor"),
    "KENLM": ("path", "factor", "order", "lazyken", "load"),
    "SRILM": ("path", "factor", "order"),
    "TargetWordInsertionFeature": ("path", "factor"),
    "SourceWordDeletionFeature": ("path", "factor"),
    "WordTranslationFeature": (
        *("simple", "source-path", "target-path", "input-factor", "output-factor", "texttype"),
        *CONTEXT_KEYS,
    ),
    "PhraseLengthFeature": (),
    "InputFeature": ("num-input-features", "real-word-count"),
}
INPUT = "InputFeature"  # scores of the arcs of lattices and confusion networks
PHRASE_TABLE, REORDERING, LANGUAGE_MODELS = "PhraseDictionaryMemory", "LexicalReordering", ("KENLM", "SRILM")
SEVERAL = (PHRASE_TABLE, REORDERING, *LANGUAGE_MODELS)  # a model may have several of these
STATEFUL = (REORDERING, "Distortion", *LANGUAGE_MODELS)  # Moses lists these first
# Moses' features of words: our group of sparse features, and our lists of words by Moses' argument
WORD_FEATURES: dict[str, tuple[str, dict[str, str]]] = {
    "TargetWordInsertionFeature": ("inserted_words", {"path": "inserted"}),
    "SourceWordDeletionFeature": ("deleted_words", {"path": "deleted"}),
    "WordTranslationFeature": ("word_pairs", {"source-path": "pair_source", "target-path": "pair_target"}),
    "PhraseLengthFeature": ("phrase_lengths", {}),
}


def _binary(tool: str) -> str:
    table = f"give the text table that {tool} made it of: PhraseDictionaryMemory with path= that table (or .gz)"
    return f"a binary table, which only Moses reads; {table}"


PAIRS = "the decoder does not have features of phrase pairs by name; remove its line and its weights, and tune again"
REMEDIES = {
    "PhraseDictionaryCompact": _binary("processPhraseTableMin"),
    "PhraseDictionaryBinary": _binary("processPhraseTable"),
    "PhraseDictionaryOnDisk": _binary("CreateOnDiskPt"),
    "ProbingPT": _binary("CreateProbingPT2 or binarize4moses2.perl"),
    **dict.fromkeys(
        ("Mmsapt", "PhraseDictionaryBitextSampling", "PhraseDictionaryFuzzyMatch"),
        "a table made of the bitext while it is read; train-model makes a model of the same bitext",
    ),
    **dict.fromkeys(
        ("PhraseDictionaryMultiModel", "PhraseDictionaryMultiModelCounts", "PhraseDictionaryGroup"),
        "the decoder does not mix tables; give one [mapping] path to each, or mix them into one text table",
    ),
    **dict.fromkeys(
        ("IRSTLM", "RandLM", "DALM", "BilingualLM", "InMemoryPerSentenceOnDemandLM"),
        "write KENLM with path= the model as ARPA",
    ),
    "PhrasePairFeature": PAIRS,
    "OpSequenceModel": "this one cannot be read, but train-model makes one of a bitext (operations in its --config); "
    "remove its line and its weights, and tune again",
}
REMOVE = "the decoder does not have this feature; remove its line and its weights, and tune again"
FACTORS = "the decoder knows only factor 0; train the model without factors"
FALSE, TRUE = ("0", "false", "f", "no", "n"), ("1", "true", "t", "yes", "y")
Refuse = Callable[[Value, str], NoReturn]


class FeatureLine(NamedTuple):
    """One line of the section [feature]."""

    kind: str  # such as KENLM
    name: str  # weights refer to this name, such as LM0
    arguments: Mapping[str, str]  # KEY=VALUE, name= included
    value: Value  # the line itself

    @property
    def is_tuned(self) -> bool:
        """Whether Moses tunes the feature, and shows it in n-best lists."""
        return self.arguments.get("tuneable", "true").lower() not in FALSE


def read_features(values: Iterable[Value], refuse: Refuse) -> list[FeatureLine]:
    """The features of the lines `values`; `refuse` raises FormatError with a line and what is wrong with it."""
    features: list[FeatureLine] = []
    unnamed = dict.fromkeys(KEYS, 0)
    for value in values:
        kind, *fields = value.text.split()
        if kind not in KEYS:
            refuse(value, f"{kind[:LONGEST_EXCERPT]}: {REMEDIES.get(kind, REMOVE)}")
        arguments = _arguments(kind, fields, value, refuse)
        name = arguments.get("name", f"{kind}{unnamed[kind]}")
        unnamed[kind] += "name" not in arguments  # as Moses counts
        for other in features:
            if other.kind == kind and kind not in SEVERAL:
                found = f"a second {kind} ({other.name} is one); the decoder takes one"
                refuse(value, f"{found}; remove this line and its weights, and tune again")
            if other.name == name:
                refuse(value, f"{name[:LONGEST_EXCERPT]} is the name of two features; give each its own name=")
        features.append(FeatureLine(kind, name, arguments, value))
    return features


def check_paths(mapping: Iterable[Value], tables: Sequence[FeatureLine], refuse: Refuse) -> None:
    """Refuse lines of [mapping] other than decoding paths of one table each, and several tables without paths."""
    paths: dict[str, str] = {}  # the table of each path, by number of the path
    names = {str(i): one.name for i, one in enumerate(tables)} | {one.name: one.name for one in tables}
    for value in mapping:
        match value.text.split():
            case ["T", table]:
                number = "0"
            case [number, "T", table] | [number, table]:
                pass
            case _:
                number = table = ""
        found = f"[mapping] {value.text[:LONGEST_EXCERPT]}"
        if table not in names:
            refuse(value, f"{found}: expected PATH T TABLE, such as '0 T 0'; the decoder has no other steps")
        if number in paths or names[table] in paths.values():
            refuse(value, f"{found}: expected one table to each path, '0 T 0', '1 T 1'; correct the line")
        paths[number] = names[table]
    for one in tables if len(tables) > 1 else ():
        if one.name not in paths.values():
            expected = "expected '0 T 0', '1 T 1' and so on, a line for each table"
            refuse(one.value, f"{one.name[:LONGEST_EXCERPT]}: in no path of [mapping]; {expected}")


def _arguments(kind: str, fields: Iterable[str], value: Value, refuse: Refuse) -> dict[str, str]:
    arguments: dict[str, str] = {}
    for field in fields:
        key, equals, text = field.partition("=")
        if not equals or key in arguments:
            refuse(value, f"{kind}: {excerpt(field)}, expected every key once, as KEY=VALUE")
        if key not in COMMON_KEYS + KEYS[kind]:
            known = ", ".join(COMMON_KEYS + KEYS[kind])
            refuse(value, f"{kind}: the decoder does not know {excerpt(key)}; remove it (known: {known})")
        arguments[key] = text
    for key in FACTOR_KEYS:
        if arguments.get(key, "0") != "0":
            refuse(value, f"{kind}: {key}={arguments[key][:LONGEST_EXCERPT]}; {FACTORS}")
    if kind == "WordTranslationFeature":
        _check_word_translation(arguments, value, refuse)
    if kind == INPUT:
        _check_input(arguments, value, refuse)
    return arguments


def _check_input(arguments: dict[str, str], value: Value, refuse: Refuse) -> None:
    """Refuse Moses' count of words, and store the number of scores as num-features; Moses has two names for it."""
    if arguments.get("real-word-count", "0") != "0":
        refuse(value, f"{INPUT}: real-word-count=; the decoder does not count words; remove it and its weight")
    given = {arguments[key] for key in ("num-features", "num-input-features") if key in arguments}
    if len(given) > 1:
        refuse(value, f"{INPUT}: num-features= and num-input-features= differ; make them the same")
    arguments["num-features"] = next(iter(given), "1")


def _check_word_translation(arguments: Mapping[str, str], value: Value, refuse: Refuse) -> None:
    """Refuse all variants except pairs of aligned words."""
    for key in ("simple", *CONTEXT_KEYS):
        allowed = TRUE if key == "simple" else FALSE
        if (text := arguments.get(key, allowed[0])).lower() not in allowed:
            found = f"WordTranslationFeature: {key}={text[:LONGEST_EXCERPT]}"
            refuse(value, f"{found}; the decoder has only pairs of aligned words; write simple=1 only, and tune again")
    if ("source-path" in arguments) != ("target-path" in arguments):
        refuse(value, "WordTranslationFeature: source-path and target-path need each other; give both or neither")
