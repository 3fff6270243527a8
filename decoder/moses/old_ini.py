"""Conversion of the format that moses.ini had before 2013 to the current one, as Moses does when it reads one."""

from pathlib import Path

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.moses.sections import Sections, Value

OLD_SECTIONS = {
    "ttable-file",
    "lmodel-file",
    "distortion-file",
    *("weight-t", "weight-l", "weight-d", "weight-lr", "weight-w", "weight-u", "weight-p", "weight-i"),
}
TABLES = {"0": "PhraseDictionaryMemory", "1": "PhraseDictionaryBinary", "2": "PhraseDictionaryOnDisk"}
TABLES |= {"12": "PhraseDictionaryCompact"}
LANGUAGE_MODELS = {"0": "SRILM", "1": "IRSTLM", "8": "KENLM", "9": "KENLM", "5": "RandLM"}
SINGLE = {"weight-w": "WordPenalty", "weight-u": "UnknownWordPenalty", "weight-p": "PhrasePenalty"}
SINGLE |= {"weight-i": "InputFeature"}


def modernize(sections: Sections, path: Path) -> Sections:
    """`sections` of the file `path`, with [feature] and [weight] in place of sections of the old format.

    Every line keeps the number of the line that it comes from. Raises FormatError, naming the line.
    """
    tables = [_phrase_table(i, value, path) for i, value in enumerate(sections.get("ttable-file", []))]
    reorderings = [_reordering(i, value, path) for i, value in enumerate(sections.get("distortion-file", []))]
    lms = [_language_model(i, value, path) for i, value in enumerate(sections.get("lmodel-file", []))]
    features = [Value("WordPenalty", 1), Value("UnknownWordPenalty", 1), Value("Distortion", 1)]
    features += [line for line, _ in (*tables, *reorderings)] + lms
    features += [Value("PhrasePenalty", value.line) for value in sections.get("weight-p", [])[:1]]
    inputs = sections.get("weight-i", [])
    features += [Value(f"InputFeature num-features={len(inputs)}", value.line) for value in inputs[:1]]
    distortion = sections.get("weight-d", [])
    weights = [
        _weights("Distortion0", distortion[:1]),
        *_shared_out("LexicalReordering", distortion[1:] + sections.get("weight-lr", []), [n for _, n in reorderings]),
        *_shared_out("TranslationModel", sections.get("weight-t", []), [n for _, n in tables]),
        *_shared_out("LM", sections.get("weight-l", []), [1] * len(lms)),
        *(_weights(f"{kind}0", sections.get(name, [])) for name, kind in SINGLE.items()),
    ]
    others = {name: values for name, values in sections.items() if name not in OLD_SECTIONS}
    return others | {"feature": features, "weight": [line for lines in weights for line in lines]}


def _weights(name: str, values: list[Value]) -> list[Value]:
    return [Value(f"{name}= {' '.join(value.text for value in values)}", values[0].line)] if values else []


def _shared_out(name: str, values: list[Value], sizes: list[int]) -> list[list[Value]]:
    """The weights of features of these `sizes`, the last of which gets all that are left."""
    lines = []
    for i, size in enumerate(sizes):
        own, values = (values, []) if i == len(sizes) - 1 else (values[:size], values[size:])
        lines.append(_weights(f"{name}{i}", own))
    return lines


def _phrase_table(number: int, value: Value, path: Path) -> tuple[Value, int]:
    """The line of the feature, and its number of scores."""
    words = value.text.split()
    if len(words) == 4:  # without KIND, from before there were several
        words.insert(0, "0")
    expected = "KIND INPUT-FACTOR OUTPUT-FACTOR SCORES PATH"
    kind, source, target, n_scores, file = _words(words, 5, value, path, "ttable-file", expected)
    factors = f"input-factor={source} output-factor={target}"
    name = f"name=TranslationModel{number}"
    line = f"{_kind(kind, TABLES)} {name} num-features={n_scores} path={file} {factors}"
    return Value(line, value.line), _count(n_scores)


def _reordering(number: int, value: Value, path: Path) -> tuple[Value, int]:
    """The line of the feature, and its number of scores."""
    expected = "FACTORS TYPE SCORES PATH"
    factors, type_, n_scores, file = _words(value.text.split(), 4, value, path, "distortion-file", expected)
    source, _, target = factors.partition("-")
    factors = f"input-factor={source} output-factor={target}"
    line = f"LexicalReordering name=LexicalReordering{number} type={type_} path={file} {factors}"
    return Value(line, value.line), _count(n_scores)


def _count(text: str) -> int:
    """The number in `text`; 0 where it is none, which is refused when features are read."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _language_model(number: int, value: Value, path: Path) -> Value:
    expected = "KIND FACTOR ORDER PATH"
    kind, factor, order, file = _words(value.text.split(), 4, value, path, "lmodel-file", expected)
    name = f"name=LM{number}"
    return Value(f"{_kind(kind, LANGUAGE_MODELS)} {name} factor={factor} order={order} path={file}", value.line)


def _kind(number: str, kinds: dict[str, str]) -> str:
    """The feature of implementation `number`, or a name that no feature has, for an error when features are read."""
    return kinds.get(number, f"implementation-{number}")


def _words(words: list[str], expected: int, value: Value, path: Path, section: str, format_: str) -> list[str]:
    if len(words) != expected:
        message = f"[{section}] {value.text}: {len(words)} words, expected {expected}: {format_}"
        raise FormatError(path, message, value.line)
    return words
