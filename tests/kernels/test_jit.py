"""Kernels are compiled again when anything that they use changes, and only then; and each is compiled only once."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from phrasebeam.kernels import jit as kernels
from phrasebeam.kernels.compilation import sources
from phrasebeam.plugins.declarations import OwnMetric, PairFeature, Plugins
from tests import ROOT


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A function that writes modules of a project of their own, as {path: source}."""
    monkeypatch.setattr(sources, "PACKAGE", tmp_path / "phrasebeam")
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def write(files):
        for name, source in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        forget()
        return tmp_path

    yield write
    forget()


def forget():
    """Read all sources again."""
    for function in (sources._imports, sources._files_of, sources._text, sources._file_digest, sources._digest):
        function.cache_clear()


@pytest.mark.parametrize(
    ("source", "imported"),
    [
        ("from phrasebeam.lm.b import f", {"phrasebeam/lm/b.py", "phrasebeam/lm/c.py"}),
        ("import phrasebeam.lm.b as b", {"phrasebeam/lm/b.py", "phrasebeam/lm/c.py"}),
        ("from phrasebeam.lm import b", {"phrasebeam/lm/__init__.py", "phrasebeam/lm/b.py", "phrasebeam/lm/c.py"}),
        (
            "from phrasebeam.lm import (\n    c,  # why\n    d as e,\n)",
            {"phrasebeam/lm/__init__.py", "phrasebeam/lm/c.py", "phrasebeam/lm/d.py"},
        ),
        ("from phrasebeam.lm.c import (\n    g,\n)", {"phrasebeam/lm/c.py"}),
        ("def f():\n    from phrasebeam.lm.c import g\n", {"phrasebeam/lm/c.py"}),
        ("from phrasebeam.decoder.features.e import h", {"phrasebeam/decoder/features/e.py", "phrasebeam/lm/a.py"}),
        ("from phrasebeam.decoder.features import e", {"phrasebeam/decoder/features/e.py", "phrasebeam/lm/a.py"}),
        ("import numpy\nfrom elsewhere.b import f", set()),
    ],
)
def test_sources(project, source, imported):
    root = project(
        {
            "phrasebeam/lm/__init__.py": "",
            "phrasebeam/lm/a.py": source,
            "phrasebeam/lm/b.py": "from phrasebeam.lm.c import g",
            "phrasebeam/lm/c.py": "from phrasebeam.lm.b import f",
            "phrasebeam/lm/d.py": "",
            "phrasebeam/decoder/features/e.py": "import phrasebeam.lm.a",
        }
    )
    circle = (
        {"phrasebeam/lm/b.py", "phrasebeam/lm/c.py"}
        if imported & {"phrasebeam/lm/b.py", "phrasebeam/lm/c.py"}
        else set()
    )
    assert sources.sources_of(root / "phrasebeam/lm/a.py") == {
        root / name for name in {"phrasebeam/lm/a.py"} | imported | circle
    }


def test_cache_directory_follows_the_sources(project):
    files = {
        "phrasebeam/lm/a.py": "from phrasebeam.lm.b import f",
        "phrasebeam/lm/b.py": "ONE = 1",
        "phrasebeam/lm/c.py": "",
    }
    a = project(files) / "phrasebeam/lm/a.py"
    first = sources.cache_directory(a)
    project({"phrasebeam/lm/c.py": "# nobody imports this"})
    assert sources.cache_directory(a) == first
    project({"phrasebeam/lm/b.py": "ONE = 2"})
    assert sources.cache_directory(a) != first
    project(files)
    assert sources.cache_directory(a) == first


def test_cache_directory_follows_bounds_checks(project, monkeypatch):
    a = project({"phrasebeam/lm/a.py": ""}) / "phrasebeam/lm/a.py"
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    unchecked = sources.cache_directory(a)
    project({})
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert sources.cache_directory(a) != unchecked


def test_cache_directory_follows_features_of_plugins_and_their_order(project, monkeypatch, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"# {name}")
    root = project(
        {
            "phrasebeam/plugins/declarations.py": "",
            "phrasebeam/lm/a.py": "from phrasebeam.plugins.declarations import plugins",
            "phrasebeam/lm/b.py": "from phrasebeam.plugins import declarations",
        }
    )

    def directories(*names):
        features = {name: PairFeature(name, "", False, len, tmp_path / f"{name}.py") for name in names}
        monkeypatch.setattr(
            sources, "plugins", lambda: Plugins(features, {}, {}, {}, {}, {"m": OwnMetric("", False, max)})
        )
        forget()
        return [sources.cache_directory(root / f"phrasebeam/lm/{name}.py") for name in "ab"]

    found = [directories(), directories("one"), directories("one", "two"), directories("two", "one")]
    calls_them, does_not = zip(*found)
    assert len({*calls_them}) == 4 and len({*does_not}) == 1


@pytest.mark.parametrize(
    ("variables", "home"),
    [
        ({"PHRASEBEAM_CACHE": "ours", "XDG_CACHE_HOME": "theirs"}, "ours"),
        ({"XDG_CACHE_HOME": "theirs"}, "theirs/phrasebeam"),
        ({"PHRASEBEAM_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/phrasebeam"),
    ],
)
def test_cache_directory_follows_the_environment(project, monkeypatch, variables, home):
    a = project({"phrasebeam/lm/a.py": ""}) / "phrasebeam/lm/a.py"
    for name in ("PHRASEBEAM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert sources.cache_directory(a).parent == Path(home) / "kernels"


def run(script, directory, cache=None, **variables):
    # No .pyc: Python tells an edit by time and size, and these edits are quick and small.
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= variables | ({"PHRASEBEAM_CACHE": str(cache)} if cache else {})
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


OURS = sorted(sources.sources_of(ROOT / "phrasebeam/kernels/jit.py"))
KERNEL = "from phrasebeam.kernels.jit import kernel\n{imports}\n@kernel\ndef {name}(x):\n    return {value}\n"


@pytest.mark.needs_jit
def test_an_edited_callee_is_compiled_into_its_caller(project, tmp_path):
    caller = KERNEL.format(imports="from phrasebeam.lm.callee import g", name="f", value="10 * g(x)")
    callees = [KERNEL.format(imports="", name="g", value=f"x + {i}") for i in (1, 2)]
    ours = {path.relative_to(ROOT): path.read_text() for path in OURS}
    root = project({"phrasebeam/__init__.py": "", "phrasebeam/lm/caller.py": caller, **ours})
    script = "from phrasebeam.lm.caller import f; print(f(1), f.n_loaded)"
    for callee, expected in ((0, "20 0"), (0, "20 1"), (1, "30 0"), (0, "20 1")):
        project({"phrasebeam/lm/callee.py": callees[callee]})
        assert run(script, root, tmp_path / "cache") == expected


@pytest.mark.needs_jit
def test_a_callee_that_is_stored_is_compiled_into_an_edited_caller(project, tmp_path):
    callee = KERNEL.format(imports="", name="g", value="x + 1")
    ours = {path.relative_to(ROOT): path.read_text() for path in OURS}
    root = project({"phrasebeam/__init__.py": "", "phrasebeam/lm/callee.py": callee, **ours})
    script = "from phrasebeam.lm.caller import f, g; print(f(1), sum(g.dispatcher.stats.cache_hits.values()))"
    for factor, expected in ((10, "20 0"), (20, "40 1")):
        caller = KERNEL.format(imports="from phrasebeam.lm.callee import g", name="f", value=f"{factor} * g(x)")
        project({"phrasebeam/lm/caller.py": caller})
        assert run(script, root, tmp_path / "cache") == expected


EVERYTHING = """
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.held_out import filtered_table
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input, Prefix, Term
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS
from phrasebeam.decoder.sparse.levels import WordEdges
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.kernels.jit import Kernel
from phrasebeam.lm.language_model import LanguageModel
from tests.decoder.features.test_sparse_features import LEVELS, add_templates
from tests.decoder.models import random_toy

filtered_table.check_frequencies = lambda *_: None  # the toys have none


def force_all(decoder, unlimited):
    given = Input(["a", "b"], held_out=HeldOutPair(("s",), ()), tags=("N", "V"))
    forced = ForcedDecoder(Decoder.load(toy.directory, unlimited))
    for one in decoder, forced.decoder:
        forced.force(given, one.translate(given).text)


switches = dict.fromkeys((group.name for group in SPARSE_GROUPS if group.is_switch), True)
templates = Templates(levels=LEVELS, word_edges=WordEdges(budget=4), **switches)
for reordering in (Reordering(orientation="hier"), None):
    early = bool(reordering)
    toy = random_toy(Path(sys.argv[0] or "toy") / str(early), 7, most=3, reordering=reordering, early=early)
    decoder = Decoder.load(toy.directory, SearchSettings(table_limit=1))
    for line in ("a b c x", "", " ".join("abcd" * 10)):
        decoder.answer(line, Request(n=3, distinct=True, mbr=MbrSettings(), lattice=True))
    for algorithm, policy in (("stack", "exclusive"), ("cube", "inclusive"), ("stack", "constraint")):
        other = Decoder.load(toy.directory, SearchSettings(algorithm=algorithm))
        term = Term(0, 2, ("s", "new"), 0.5, ((0, 0),))
        given = Input("a b c x d".split(), (term,), policy, walls=(3,), zones=((2, 5),))
        for prefix in (Prefix(), Prefix(("t", "zz")), Prefix(("s", "n"), is_partial=True)):
            other.answer(replace(given, prefix=prefix), Request(n=3, lattice=True))
    force_all(decoder, SearchSettings(table_limit=0))
    add_templates(toy, templates, 1)
    for algorithm in ("stack", "cube"):
        sparse = Decoder.load(toy.directory, SearchSettings(algorithm=algorithm))
        sparse.answer("a|N b|N c|V x|A d|N", Request(n=3, sparse="names"))
    force_all(sparse, SearchSettings(table_limit=0))
LanguageModel.load(toy.directory / "lm.bin").full_scores(["s"], begin=False, end=False)
n_called = 0
for package in ("kernels", "lm", "decoder"):
    for path in sorted(Path("phrasebeam", package).rglob("*.py")):
        module = import_module(".".join(path.with_suffix("").parts))
        for name, value in vars(module).items():
            if isinstance(value, Kernel) and value.__module__ == module.__name__:
                n_called += len(value.versions) == 1
                if len(value.versions) > 1:
                    print(f"{module.__name__}.{name}:", *value.versions, sep="\\n  ")
print(n_called > 40)
"""


@pytest.mark.needs_jit
def test_kernels_for_kernels_are_refused_to_python():
    @kernels.inner_kernel
    def half(x):
        return x / 2

    @kernels.kernel
    def quarter(x):
        return half(half(x))

    assert quarter(2.0) == 0.5
    with pytest.raises(TypeError, match="half is for kernels only"):
        half(2.0)


@pytest.mark.needs_jit
def test_a_direct_call_checks_item_sizes():
    @kernels.kernel
    def total(values):
        found = 0.0
        for value in values:
            found += value
        return found

    direct = kernels.direct(total)
    assert [direct(np.arange(n, dtype=np.float64)) for n in (3, 4)] == [3, 6]
    for other in np.arange(3, dtype=np.float32), [1.0]:
        with pytest.raises(TypeError):
            direct(other)


@pytest.mark.needs_jit
def test_kernels_are_compiled_for_arguments_of_one_kind(tmp_path):
    """A second kind, such as int32 for int64, doubles the time of the first translation."""
    assert run(EVERYTHING.replace('sys.argv[0] or "toy"', repr(str(tmp_path))), ROOT) == "True"
