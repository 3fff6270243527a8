"""Arguments are of the types of their parameters, or a line names the parameter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from phrasebeam.base.checked_arguments import check_fields, checked
from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError


class Limits(Section):
    """A section."""

    size: int = 1


@checked
def work(
    file: str | Path,
    *,
    files: str | Sequence[str | Path] = (),
    limits: Limits | None = None,
    n: int = 1,
    kind: Literal["a", "b"] = "a",
    by_name: Mapping[str, Sequence[str]] | None = None,
    span: tuple[int, int] = (0, 1),
    **more: float,
) -> object:
    """What was given."""
    return limits


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"file": None}, "work: file is None, expected a string or a Path"),
        ({"files": ["a", 3]}, r"work: files is \['a', 3\], expected a string or a list, each item a string or a Path"),
        ({"files": (one for one in "ab")}, "work: files is <generator"),
        ({"limits": {"sise": 2}}, "work: limits: sise: unknown key; did you mean size"),
        ({"limits": 5}, "work: limits is 5, expected Limits, a dictionary of its settings or None"),
        ({"n": "3"}, "work: n is '3', expected a whole number"),
        ({"n": True}, "work: n is True, expected a whole number"),
        ({"kind": "c"}, "work: kind is 'c', expected 'a' or 'b'"),
        ({"by_name": [["a"]]}, "work: by_name is "),
        ({"by_name": {"a": "b"}}, "work: by_name is .*expected a dictionary, each value a list, each item a string"),
        ({"span": (1, 2, 3)}, r"work: span is \(1, 2, 3\), expected \(a whole number, a whole number\)"),
    ],
)
def test_what_does_not_fit(options, complaint):
    with pytest.raises(ConfigError, match=complaint):
        work(**{"file": "x"} | options)


def test_what_fits():
    assert work(Path("x"), files=["a", Path("b")], n=3, kind="b", by_name={"a": ["b"]}, span=[1, 2], other=1.0) is None
    assert work("x", limits={"size": 2}) == work("x", limits=Limits(size=2)) == Limits(size=2)
    with pytest.raises(TypeError, match=r"unexpected keyword argument|missing"):
        work()


def test_fields_of_dataclasses():
    @dataclass(frozen=True)
    class Wanted:
        n: int | None = None
        limits: Limits | None = None

        def __post_init__(self):
            check_fields(self)

    assert Wanted(1, {"size": 3}).limits == Limits(size=3)
    with pytest.raises(ConfigError, match="Wanted: n is 'x', expected a whole number or None"):
        Wanted("x")


def test_sections_raise_errors_of_users():
    with pytest.raises(ConfigError, match="Limits: sise: unknown key; did you mean size"):
        Limits(sise=2)
