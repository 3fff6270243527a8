"""The rules of the house catch what they are there for."""

from pathlib import Path

import pytest

from tests.check_house import breaches, circles, helps, packaged, slow_to_compile


def complaints(path, source):
    return [complaint for _, complaint in breaches(Path(path), source)]


@pytest.mark.parametrize(
    ("path", "source", "word"),
    [
        ("lm/x.py", "from numba import njit\n@njit\ndef f(): pass", "njit"),
        ("tests/x.py", "import numba\nnumba.njit(print)", "njit"),
        ("decoder/x.py", "import numpy\nnumpy.load('a', allow_pickle=True)", "allow_pickle"),
        ("tests/x.py", "import yaml\nyaml.load('a')", "safe_load"),
        ("lm/x.py", "import yaml\nyaml.safe_load('a')", "load_yaml"),
        ("lm/utils.py", "", "name a file"),
        ("lm/x.py", "assert 1", "assert"),
        ("training/model_building/x.py", "print(1)", "print"),
        ("lm/x.py", "import sys\nsys.exit(1)", "sys.exit"),
        ("lm/x.py", "from phrasebeam.decoder.model.opened_model import Model", "one way"),
        ("decoder/search/x.py", "from phrasebeam.decoder.forced.forced_states import y", "one way"),
        ("decoder/search/x.py", "import decoder.search", "phrasebeam.decoder"),
        (
            "lm/x.py",
            'from phrasebeam.kernels.jit import kernel\n@kernel\ndef f(a, b: int):\n    """Add `c`."""',
            "type of a",
        ),
        ("training/tuning/x.py", "def f():\n" + "    x = 1\n" * 41, "41 lines"),
        ("decoder/x.py", "import phrasebeam.training.demo.demo", "one way"),
        ("training/demo/x.py", "from phrasebeam.cli import main", "one way"),
        ("lm/x.py", "from tests.naive import ngrams", "tests"),
        ("lm/build_lm_command.py", "import typer", "typer"),
        ("phrasebeam/api/x.py", "from phrasebeam.commands.demo import demo", "one way"),
        ("phrasebeam/api/x.py", "print(1)", "print"),
        ("phrasebeam/commands/x.py", "import typer\ntyper.Option(show_default='10')", "show_default"),
        ("tests/x.py", "\n" * 401, "split"),
        ("lm/x.py", "import fcntl", "every system"),
        ("phrasebeam/process/x.py", "from resource import getrlimit", "every system"),
        ("phrasebeam/base/x.py", "import os\nos.register_at_fork(before=print)", "every system"),
        ("phrasebeam/base/x.py", "import os\nopen(f'/proc/{os.getpid()}/status')", "every system"),
        ("decoder/x.py", "import os\nos.open('a', os.O_RDONLY | os.O_NOFOLLOW)", "every system"),
        ("server/x.py", "import signal\nsignal.signal(signal.SIGHUP, print)", "every system"),
        ("lm/x.py", 'def f():\n    """Of all words."""', "begins with Of"),
        ("tests/x.py", '"""As others."""', "begins with As"),
        ("lm/x.py", 'def word_counts(words: Words) -> Counts:\n    """The counts of words."""', "says no more"),
    ],
)
def test_breaches_are_found(path, source, word):
    assert any(word in complaint for complaint in complaints(path, source))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("tests/kernels/test_indices.py", "import numba\nnumba.njit(print)"),
        ("phrasebeam/commands/building.py", "import sys\nimport typer\nprint(1)\nsys.exit(1)"),
        ("phrasebeam/cli.py", "import sys\nfrom phrasebeam.training.demo.demo import run_demo\nsys.exit(1)"),
        (
            "training/x.py",
            "from phrasebeam.base.errors import SmtError\nfrom phrasebeam.decoder.model.opened_model import Model",
        ),
        ("tests/x.py", "assert 1\nprint(1)\nimport phrasebeam\nimport fcntl"),
        ("phrasebeam/system/x.py", "import fcntl\nimport os\nos.fork()\nopen('/proc/self/status')"),
        ("server/x.py", "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)"),
    ],
)
def test_what_is_allowed_is_not(path, source):
    assert not complaints(path, source)


def test_helps_of_options_are_found():
    source = 'def f(a: Annotated[int, "One."], b: Annotated[int | None, Option("Two.", unset="3")] = None): pass'
    assert [*helps(source)] == ["One.", "Two."]


def test_the_wheel_brings_one_package():
    table = '[tool.setuptools]\npackages.find.include = ["phrasebeam*"{more}]\n{modules}'
    assert not list(packaged(table.format(more="", modules="")))
    assert len(list(packaged(table.format(more=', "lm*"', modules='py-modules = ["decoder"]')))) == 2


@pytest.mark.parametrize(
    "back",
    [
        "from phrasebeam.lm.a import x",
        "from phrasebeam.lm import a",
        "import phrasebeam.lm.a",
        "def f():\n    from phrasebeam.lm.a import x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from phrasebeam.lm.a import X",
    ],
)
def test_circles_are_found(back):
    files = {"a": "from phrasebeam.lm.b import x", "b": "from phrasebeam.lm.c import x", "c": back}
    files |= {"d": "from phrasebeam.lm.a import x", "__init__": ""}
    (complaint,) = circles({Path(f"lm/{name}.py"): source for name, source in files.items()})
    assert complaint.startswith("lm/a.py, lm/b.py, lm/c.py: ")


def test_files_that_import_one_way_make_no_circle():
    files = {"a": "from phrasebeam.lm.b import x\nimport phrasebeam.lm.c", "b": "import phrasebeam.lm.c", "c": ""}
    assert not list(circles({Path(f"lm/{name}.py"): source for name, source in files.items()}))


@pytest.mark.parametrize(
    ("comment", "seconds", "n_complaints"),
    [
        ("", "2.99", 0),
        ("", "3.01", 1),
        ("# Fast.\n", "3.01", 1),
        ("# Compiles for seconds: it\n# is long.\n", "3.01", 0),
    ],
)
def test_kernels_that_take_long_to_compile_say_why(comment, seconds, n_complaints):
    table = f"kernel,seconds\nlm.a.f,{seconds}\nlm.a.g,0.10\n"
    sources = {"phrasebeam.lm.a": f"{comment}@inner_kernel\ndef f(x): pass\n"}
    assert len(list(slow_to_compile(table, sources))) == n_complaints
