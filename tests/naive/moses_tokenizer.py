"""Moses' tokenizer, detokenizer and normalizer of punctuation, a statement for each of the scripts'."""

import re

import regex

APOSTROPHES = {  # pattern and replacement; A stands for letters, a for what is none, N and b for numbers and neither
    "right": ["a'a| ' ", "b'A| ' ", "A'a| ' ", "A'A| '", "N's| '"],
    "left": ["a'a| ' ", "a'A| ' ", "A'a| ' ", "A'A|' "],
    "glottal": ["a'a| ' ", "a'A| ' ", "A'a| ' "],
}
CLASSES = {"A": r"\p{Alphabetic}", "a": r"\P{Alphabetic}", "b": r"[^\p{Alphabetic}\p{N}]", "N": r"\p{N}", "s": "s"}
KINDS = {"en": "right", "fr": "left", "it": "left", "ga": "left", "ca": "left", "so": "glottal", "tdt": "glottal"}
SIGNS = {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;"}
SIGNS |= {"'": "&apos;", '"': "&quot;", "[": "&#91;", "]": "&#93;"}


def tokenize(text, language, prefixes):
    """The tokens of a line, escaped."""
    text = regex.sub(r"\p{White_Space}+", " ", f" {text} ")
    text = re.sub("[\0-\x1f]", "", text)
    text = re.sub(" +", " ", text)
    text = text.removeprefix(" ").removesuffix(" ")
    inside = {"fi": ":", "sv": ":", "ca": "\xc2\xb7"}.get(language, "")
    text = regex.sub(rf"([^\p{{Alphabetic}}\p{{Nd}}\s.'`,\-{inside}])", r" \1 ", text)
    lonely = {"fi": ":", "sv": ":", "tdt": "'", "ca": "\xc2\xb7"}.get(language)
    if lonely:
        text = regex.sub(rf"({lonely})(?=$|\P{{Ll}})", r" \1 ", text)
    text = re.sub(r"\.([.]+)", r" DOTMULTI\1", text)
    while "DOTMULTI." in text:
        text = re.sub(r"DOTMULTI\.([^.])", r"DOTDOTMULTI \1", text)
        text = text.replace("DOTMULTI.", "DOTDOTMULTI")
    text = regex.sub(r"(\P{N}),", r"\1 , ", text)
    text = regex.sub(r",(\P{N})", r" , \1", text)
    text = regex.sub(r"(\p{N}),$", r"\1 ,", text)
    text = split_apostrophes(text, language)
    text = split_periods(text, prefixes)
    text = re.sub(" +", " ", text).removeprefix(" ").removesuffix(" ")
    text = re.sub(r"\.' ?$", " . ' ", text)
    while "DOTDOTMULTI" in text:
        text = text.replace("DOTDOTMULTI", "DOTMULTI.")
    text = text.replace("DOTMULTI", ".")
    for sign, escape in SIGNS.items():
        text = text.replace(sign, escape)
    return [token for token in text.split(" ") if token]


def split_apostrophes(text, language):
    if language not in KINDS:
        return text.replace("'", " ' ")
    for rule in APOSTROPHES[KINDS[language]]:
        pattern, replacement = rule.split("|")
        before, after = (CLASSES[pattern[i]] for i in (0, 2))
        text = regex.sub(f"({before})'({after})", rf"\1{replacement}\2", text)
    return text


def split_periods(text, prefixes):
    words, result = text.rstrip(" ").split(" "), ""
    for i, word in enumerate(words):
        found = re.fullmatch(r"(\S+)\.", word)
        if found and not (i < len(words) - 1 and keeps(found[1], words[i + 1], prefixes)):
            word = found[1] + " ."
        result += word + " "
    return result


def keeps(start, following, prefixes):
    if ("." in start and regex.search(r"\p{Alphabetic}", start)) or prefixes.get(start) is False:
        return True
    if regex.match(r"\p{Lowercase}", following):
        return True
    return prefixes.get(start) is True and re.match("[0-9]", following)


def detokenize(text, language):
    """The text of tokens with spaces between them."""
    text = f" {text} ".replace(" @-@ ", "-")
    for escape, sign in [("&bar;", "|"), ("&#124;", "|"), ("&lt;", "<"), ("&gt;", ">"), ("&bra;", "["), ("&ket;", "]")]:
        text = text.replace(escape, sign)
    for escape, sign in [("&quot;", '"'), ("&apos;", "'"), ("&#91;", "["), ("&#93;", "]"), ("&amp;", "&")]:
        text = text.replace(escape, sign)
    words, text, space, counts, i = text.rstrip(" ").split(" "), "", " ", {"'": 0, '"': 0}, -1
    while (i := i + 1) < len(words):
        word, before, left = words[i], words[i - 1] if i else "", words[i + 1 :]
        if is_cjk(word[:1]):
            text += word if i and is_cjk(before[-1:]) and language != "ko" else space + word
            space = " "
        elif regex.search(r"^[\p{Sc}(\[{¿¡]+$", word):
            text, space = text + space + word, ""
        elif re.search(r"^[,.?!:;\\%}\])]+$", word):
            text, space = text + " " * (language == "fr" and word in list("?!:;\\%")) + word, " "
        elif (language == "en" and regex.search(r"^'\p{Alphabetic}", word) and alphanumeric(before[-1:])) or (
            language == "cs" and i > 1 and re.search("^[0-9]+ [.,] [0-9]+$", " ".join(words[i - 2 : i + 1]))
        ):
            text, space = text + word, " "
        elif language in ("fr", "it") and left and regex.search(r"\p{Alphabetic}'$", word) and alphabetic(left[0][:1]):
            text, space = text + space + word, ""
        elif language == "cs" and len(left) > 2 and alphabetic(word[-1:]) and is_compound(*left[:2]):
            text, space, i = text + space + word + left[0], "", i + 1
        elif re.search("^['\"„“`]+$", word):
            text, space = quote(text, space, word, before, language, counts)
        elif language == "fi" and before.endswith(":") and FINNISH.fullmatch(word):
            text, space = text + word.lower(), " "
        else:
            text, space = text + space + word, " "
    return re.sub(" +", " ", text).strip(" ")


def quote(text, space, word, before, language, counts):
    kind = '"' if re.search("^[„“”]+$", word) else word
    counts.setdefault(kind, 0)
    if language == "cs" and word == "„":
        counts[kind] = 0
    if language == "cs" and word == "“":
        counts[kind] = 1
    if counts[kind] % 2 == 0:
        if language == "en" and word == "'" and before.endswith("s"):
            return text + word, " "
        counts[kind] += 1
        return text + space + word, ""
    counts[kind] += 1
    return text + word, " "


def alphabetic(letter):
    return regex.match(r"\p{Alphabetic}", letter)


def alphanumeric(letter):
    return regex.match(r"[\p{Alphabetic}\p{Nd}]", letter)


def is_compound(dash, second):
    return dash in "-\u2013" and regex.search("(?i)^li$|^mail.*", second)


def is_cjk(letter):
    blocks = [(0x1100, 0x11FF), (0x2E80, 0xA4CF), (0xA840, 0xA87F), (0xAC00, 0xD7AF), (0xF900, 0xFAFF)]
    blocks += [(0xFE30, 0xFE4F), (0xFF65, 0xFFDC), (0x20000, 0x2FFFF)]
    return letter and any(first <= ord(letter) <= last for first, last in blocks)


CASES = ["ssa", "ssä", "sta", "stä", "hun", "hyn", "han", "hän", "hön", "un", "yn", "an", "än", "ön", "seen", "lla"]
CASES += ["llä", "lta", "ltä", "lle", "ksi", "kse", "tta", "ine"]
FINNISH = re.compile(
    f"(N|n|A|a|Ä|ä|{'|'.join(CASES)}|{'|'.join(case.capitalize() for case in CASES)})"
    "(ni|si|mme|nne|nsa)?(ko|kö|han|hän|pa|pä|kaan|kään|kin)?"
)


def normalize(line, language):
    """A line with ASCII punctuation, made of its bytes in UTF-8."""
    text = line.encode() + b"\n"
    for pattern, replacement in [*NORMALIZATION, *of_language(language)]:
        text = re.sub(pattern.encode(), replacement.encode(), text)
    return text.removesuffix(b"\n").decode()


def of_language(language):
    if language == "en":
        yield r'"([,.]+)', r'\1"'
    elif language not in ("cs", "cz"):
        yield ',"', '",'
        yield r'(\.+)"(\s*[^<])', r'"\1\2'
    yield "(\\d)\xa0(\\d)", r"\1,\2" if language in ("de", "es", "cz", "cs", "fr") else r"\1.\2"


NORMALIZATION = [
    *[("\r", ""), (r"\(", " ("), (r"\)", ") "), (" +", " "), (r"\) ([.!:?;,])", r")\1"), (r"\( ", "("), (r" \)", ")")],
    *[(r"(\d) %", r"\1%"), (" :", ":"), (" ;", ";"), ("`", "'"), ("''", ' " ')],
    *[("„", '"'), ("“", '"'), ("”", '"'), ("\u2013", "-"), ("—", " - "), (" +", " "), ("\u00b4", "'")],
    *[("([a-zA-Z])\u2018([a-zA-Z])", r"\1'\2"), ("([a-zA-Z])\u2019([a-zA-Z])", r"\1'\2"), ("\u2018", "'")],
    *[("\u201a", "'"), ("\u2019", '"'), ("''", '"'), ("\u00b4\u00b4", '"'), ("…", "...")],
    *[("\xa0«\xa0", ' "'), ("«\xa0", '"'), ("«", '"'), ("\xa0»\xa0", '" '), ("\xa0»", '"'), ("»", '"')],
    *[("\xa0%", "%"), ("nº\xa0", "nº "), ("\xa0:", ":"), ("\xa0ºC", " ºC"), ("\xa0cm", " cm"), ("\xa0\\?", "?")],
    *[("\xa0!", "!"), ("\xa0;", ";"), (",\xa0", ", "), (" +", " ")],
]
