"""Damage to YAML files: values of other types and sizes, keys lost and added, text that parsers stumble over."""

import copy
from random import Random

import yaml

from tests.robustness.byte_mutations import Mutation

VALUES = [
    *(None, True, False, "", "x", " ", [], {}, [[]], [None], {"a": 1}, {1: 2}, 0, 1, -1, 2, 0.5, -0.5, 1e308, 10**9),
    *(float("nan"), float("inf"), -float("inf"), 2**31, 2**61, -(2**63), 2**64, "9" * 50, "nan", "1e400", "2G", "-1G"),
    *(
        "9" * 400 + "G",
        "../x",
        "/etc/passwd",
        "/dev/zero",
        "model.yaml",
        "\0",
        "a" * 100_000,
        [1] * 10_000,
        "é\u202e\n",
    ),
]
# Written in place of a value.
TOKENS = [
    *(
        "!!int a",
        "!!float x",
        "!!bool 3",
        "!!null x",
        "!!binary a",
        "!!timestamp x",
        "!!set x",
        "!!omap x",
        "!!pairs [1]",
    ),
    *(
        "2001-01-01",
        "2001-99-99",
        "2001-01-01 99:99:99",
        "9" * 5000,
        "0x" + "f" * 5000,
        "0b2",
        "1:99:99",
        "190:20:30.15",
    ),
    *(
        "[" * 5000,
        "{" * 5000,
        "[" * 900 + "]" * 900,
        "&a [*a]",
        "*a",
        "&a *a",
        "'",
        '"',
        '"\\x"',
        '"\\ud800"',
        "|",
        ">",
        "? x",
    ),
    *(
        "%YAML 9.9",
        "---",
        "...",
        "- - - x",
        "\t",
        "\0",
        "\x85",
        "\ufeff",
        "@",
        "`",
        "<<: *x",
        "=",
        "!!python/object:os.system x",
    ),
    *(
        "!x y",
        "!!map {a: 1, a: 2}",
        "{<<: [1]}",
        "{<<: {a: 1}}",
        "{[1]: 2}",
        "{{}: 2}",
        "? [x] : y",
        ".nan",
        "-.inf",
        "1e999",
    ),
]
BOMB = ["&a [x, x, x, x, x, x, x, x, x]", *(f"&{b} [{f'*{a}, ' * 9}]" for a, b in zip("abcdefgh", "bcdefghi"))]
DOCUMENTS = [b"[]", b"- a\n", b"x", b"3", b"null", b"--- a\n--- b\n", b"{}", b"? a\n", b"\0", b"a: b: c"]


def change_value(rng: Random, data: bytes) -> bytes:
    return _changed(rng, data, lambda owner, key: owner.__setitem__(key, copy.deepcopy(rng.choice(VALUES))))


def scale_number(rng: Random, data: bytes) -> bytes:
    """A number becomes another of its type: perhaps a legal edit."""

    def scale(owner, key):
        if isinstance(owner[key], int | float) and not isinstance(owner[key], bool):
            owner[key] = rng.choice([owner[key] * 2, owner[key] + 1, -owner[key], owner[key] - 1, owner[key] / 3])

    return _changed(rng, data, scale)


def drop_key(rng: Random, data: bytes) -> bytes:
    return _changed(rng, data, lambda owner, key: owner.__delitem__(key))


def repeat_value(rng: Random, data: bytes) -> bytes:
    def repeat(owner, key):
        if isinstance(owner[key], list):
            owner[key] = owner[key] * rng.choice([2, 1000])
        elif isinstance(owner[key], str):
            owner[key] = [owner[key]]

    return _changed(rng, data, repeat)


def move_value(rng: Random, data: bytes) -> bytes:
    """The value of one key becomes that of another."""
    values = [owner[key] for owner, key in _places(_parsed(data))]
    return _changed(rng, data, lambda owner, key: owner.__setitem__(key, copy.deepcopy(rng.choice(values or [0]))))


def add_key(rng: Random, data: bytes) -> bytes:
    key = rng.choice(["x", "", "é", 1, None, 1.5, True, "__class__", "model_config", "a" * 1000])
    return yaml.safe_dump({**_mapping(data), key: rng.choice(VALUES)}, allow_unicode=True, sort_keys=False).encode()


def nasty_token(rng: Random, data: bytes) -> bytes:
    lines = data.decode("utf-8").split("\n")
    places = [i for i, line in enumerate(lines) if ":" in line]
    if not places:
        return data
    i = rng.choice(places)
    lines[i] = f"{lines[i].partition(':')[0]}: {rng.choice(TOKENS)}"
    return "\n".join(lines).encode()


def bomb(rng: Random, data: bytes) -> bytes:
    """Nine to the power of nine elements by reference, as the value of a key of the file or beside its keys."""
    anchors = "".join(f"{chr(97 + i)}: {line}\n" for i, line in enumerate(BOMB))
    return data + f"\n{anchors}{_key(rng, data)}: *i\n".encode()


def bomb_alone(rng: Random, data: bytes) -> bytes:
    return f"{_key(rng, data)}:\n".encode() + "".join(f"- {line}\n" for line in BOMB).encode()


def _key(rng, data):
    return rng.choice([*(key for key in _mapping(data) if isinstance(key, str)), "unknown"])


def other_document(rng: Random, data: bytes) -> bytes:
    return rng.choice([*DOCUMENTS, data + b"---\n" + data])


def repeat_key(rng: Random, data: bytes) -> bytes:
    lines = [line for line in data.split(b"\n") if b":" in line]
    return data + b"\n" + rng.choice(lines or [b""]) + b"\n"


def _parsed(data):
    return yaml.safe_load(data)


def _mapping(data):
    parsed = _parsed(data)
    return parsed if isinstance(parsed, dict) else {}


def _changed(rng, data, change):
    parsed = _parsed(data)
    places = list(_places(parsed))
    if places:
        change(*rng.choice(places))
    return yaml.safe_dump(parsed, allow_unicode=True, sort_keys=False).encode("utf-8", "surrogatepass")


def _places(node):
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


YAML: list[Mutation] = [
    *(change_value, change_value, change_value, scale_number, scale_number, drop_key, repeat_value, move_value),
    *(add_key, nasty_token, nasty_token, nasty_token, bomb, bomb_alone, other_document, repeat_key),
]
