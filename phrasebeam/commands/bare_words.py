"""Words without the name of an option, as in `translate MODEL INPUT`; and short names of options."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# For each command the options that its bare words give, in order; an option of several values takes all further words.
WORDS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("train", "train-model", "align"), ("source", "target")),
    **dict.fromkeys(("build-lm", "cluster"), ("text",)),
    **dict.fromkeys(("translate", "preprocess"), ("model", "input")),
    **dict.fromkeys(("serve", "explain", "export-moses", "tune", "forced-decode"), ("model",)),
    **dict.fromkeys(("train-maxforce", "train-ranking", "train-expected-bleu"), ("model",)),
    "join-features": ("model", "features"),
    "evaluate": ("hypothesis",),
    **dict.fromkeys(("demo", "demo-corpus"), ("output",)),
}
SHORT = {
    "config": "-c",
    "input": "-i",
    "model": "-m",
    "output": "-o",
    "reference": "-r",
    "source": "-s",
    "target": "-t",
}


def take_words(command: str, params: Iterable[Any], options: dict[str, Any], words: Sequence[str]) -> list[str]:
    """Give words to the options of a command that are not in `options`, as their values; return the remaining words."""
    is_list, rest = {param.name: getattr(param, "multiple", False) for param in params}, list(words)
    for name in WORDS.get(command, ()):
        if rest and name not in options:
            n_taken = len(rest) if is_list[name] else 1
            options[name] = rest[:n_taken] if is_list[name] else rest[0]
            del rest[:n_taken]
    return rest


def shown_words(command: str, params: Iterable[Any]) -> list[str]:
    """The bare words of a command as its usage line shows them."""
    is_list = {param.name: getattr(param, "multiple", False) for param in params}
    return [f"[{name.upper()}]{'...' * is_list[name]}" for name in WORDS.get(command, ())]
