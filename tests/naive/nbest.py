"""N-best lists of text, read line by line with Python's own methods."""

import math
import re

NUMBER = re.compile("[0-9]{1,9}")
BLANKS = re.compile(r"[ \t\r\n\v\f]+")


def read_nbest(text):
    """(sentence, text, {name: values}, score) of each line, and the message for the first that is wrong, or None."""
    entries, last = [], 0
    for number, line in enumerate(text.split("\n")[: -1 if text.endswith("\n") else None], 1):
        fields = [field.strip(" \t") for field in line.rstrip("\r").split("|||")]
        try:
            if len(fields) < 4:
                raise ValueError(f"{len(fields)} fields, expected number ||| text ||| features ||| score")
            if not NUMBER.fullmatch(fields[0]):
                raise ValueError("the sentence")
            features, score = features_of(fields[2]), value_of("the score", fields[3])
            sentence = int(fields[0])
            if not last <= sentence <= last + (number > 1):
                raise ValueError(f"sentence {sentence}, expected {'0' if number == 1 else f'{last} or {last + 1}'}")
        except ValueError as error:
            return entries, f"{number}: {error}"
        last = sentence
        entries.append((sentence, fields[1], features, score))
    return entries, None


def features_of(field):
    """The values of each feature."""
    features, values = {}, None
    for token in BLANKS.split(field):
        if not token:
            continue
        name, value = (token[:-1], "") if token.endswith(("=", ":")) else (token.rpartition("=")[0] or None, token)
        if name is not None and value:
            value = token.rpartition("=")[2]
        if name is not None:
            if name in features:
                raise ValueError("the feature")
            values = features[name] = []
        if values is None:
            raise ValueError("the value")
        if value:
            values.append(value_of("a feature", value))
    return features


def value_of(what, text):
    """A number up to 1e30."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1e30:
        raise ValueError(what)
    return value
