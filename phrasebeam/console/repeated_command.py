"""The command that does the same as a call of a function of the API."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from phrasebeam.base.options import options_of

WITHOUT_EFFECT = ("force",)  # options without effect on what is made
LINE_END = " \\\n  "


def repeated_command(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """The command with all options that differ from the defaults, one a line.

    Settings that were not given as a file are shown as NAME.yaml.

    >>> from phrasebeam import evaluate
    >>> print(repeated_command(evaluate, {"hypothesis": "my output", "reference": ["a", "b"], "lowercase": True}))
    phrasebeam evaluate \\
      --hypothesis 'my output' \\
      --reference a b \\
      --lowercase
    """
    parts = [f"phrasebeam {function.__name__.replace('_', '-')}"]
    for name, option in options_of(function).items():
        value = given.get(name, option.default)
        if name in WITHOUT_EFFECT or value is None or value == option.default:
            continue
        if option.is_bare:
            parts[0] += f" {_words(name, value)}"
            continue
        flag, words = name.replace("_", "-"), "" if isinstance(value, bool) else f" {_words(name, value)}"
        parts.append(f"--{'no-' if value is False else ''}{flag}{words}")
    return LINE_END.join(parts)


def _words(name: str, value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_words(name, one) for one in value)
    is_plain = isinstance(value, str | Path | int | float)
    return shlex.quote(str(value)) if is_plain else f"{name.upper()}.yaml"
