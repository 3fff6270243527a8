"""Stored kernels are loaded without numba, which is imported when something must be compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest

from phrasebeam.kernels.compilation import dispatchers, machine_code
from phrasebeam.kernels.compilation.numba_parts import SETTINGS_FILE, compiles, numba_settings
from phrasebeam.kernels.jit import kernel
from tests import ROOT
from tests.decoder.models import random_toy

pytestmark = pytest.mark.needs_jit

COMMAND = """
import sys
from phrasebeam.cli import main
status = main(sys.argv[1:])
print("with numba" if "numba" in sys.modules else "without numba")
"""


def run(script, *arguments, **variables):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "PYTHONPATH": str(ROOT)} | variables
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()


def test_commands_with_a_warm_cache_do_not_import_numba(tmp_path):
    model = random_toy(tmp_path / "toy", 7, most=3).directory
    text = tmp_path / "text"
    text.write_text("a b c x\n\nb d a a\n")
    output = tmp_path / "output"
    translate = "translate", "--model", model, "--input", text, "--output", output
    for command in (translate, (*translate, "--nbest", "3", "--nbest-output", tmp_path / "nbest")):
        run(COMMAND, *command)
        assert run(COMMAND, *command) == ["without numba"]
    evaluate = "evaluate", "--hypothesis", output, "--reference", output
    run(COMMAND, *evaluate)
    assert run(COMMAND, *evaluate)[-1] == "without numba"


def plus(x, y):
    return x + y


KERNELS = """
from phrasebeam.kernels.jit import kernel

@kernel
def half_of(values, n):
    total = 0.0
    for i in range(n):
        total += values[i]
    return total / 2

@kernel
def quarter(values):
    return half_of(values, values.size) / 2
"""
SCRIPT = """
import sys
import numpy as np
from kernels_of_test import half_of, quarter

print(half_of(np.arange(4.0), 4), half_of.n_loaded, "numba" in sys.modules)
print(quarter(np.arange(4.0)), quarter.n_loaded, "numba" in sys.modules)
print(half_of(np.arange(4), 4), half_of(np.arange(4.0), 2), half_of.n_loaded)
"""


def test_what_was_loaded_without_numba_is_compiled_into_other_kernels(tmp_path):
    variables = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PHRASEBEAM_CACHE": str(tmp_path / "cache")}
    (tmp_path / "kernels_of_test.py").write_text(KERNELS)
    assert run(SCRIPT, **variables) == ["3.0 0 True", "1.5 0 True", "3.0 0.5 0"]
    assert run(SCRIPT, **variables) == ["3.0 1 False", "1.5 1 False", "3.0 0.5 2"]
    for path in (tmp_path / "cache" / "kernels").glob("*/*quarter*"):
        path.unlink()
    assert run(SCRIPT, **variables) == ["3.0 1 False", "1.5 0 True", "3.0 0.5 2"]


def test_kernels_that_refer_to_what_only_numba_has_are_loaded_by_numba(tmp_path, monkeypatch):
    monkeypatch.setenv("PHRASEBEAM_CACHE", str(tmp_path))
    monkeypatch.setattr(dispatchers, "can_be_loaded", lambda names: False)
    assert kernel(plus)(1, 2) == 3
    second = kernel(plus)
    assert (second(1, 2), second.n_loaded, sum(second.dispatcher.stats.cache_hits.values())) == (3, 0, 1)


def test_machine_code_refers_to_what_numba_refers_it_to():
    from numba.core.base import _load_global_helpers
    from numba.core.externals import c_math_functions

    bound, added = {}, machine_code.binding.add_symbol
    try:
        machine_code.binding.add_symbol = bound.__setitem__
        _load_global_helpers.__wrapped__()
        c_math_functions._do_install(None)
    finally:
        machine_code.binding.add_symbol = added
    assert {name: machine_code._symbols().get(name) for name in bound} == bound
    assert machine_code.can_be_loaded([*bound, "llvm.exp.f64", "PyLong_FromLongLong", "log2"])
    for name in ("__svml_exp8", "NRT_incref", "no_such_function"):
        assert not machine_code.can_be_loaded([name])


def test_numba_knows_other_types(tmp_path, monkeypatch):
    monkeypatch.setenv("PHRASEBEAM_CACHE", str(tmp_path))
    assert kernel(plus)(1j, 2) == 2 + 1j
    for arguments in ([1, "2"], [np.zeros(2, ">i4"), 1]):
        with pytest.raises(Exception, match=r"(?i)unsupported|cannot|no implementation"):
            kernel(plus)(*arguments)


def test_settings_of_numba_are_known_without_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    usual = numba_settings()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert numba_settings() == usual
    monkeypatch.setenv("NUMBA_OPT", "0")
    assert numba_settings() != usual
    monkeypatch.delenv("NUMBA_OPT")
    (tmp_path / SETTINGS_FILE).write_text("opt: 0\n")
    assert numba_settings() != usual
    for value, expected in (("", True), ("0", True), ("1", False)):
        monkeypatch.setenv("NUMBA_DISABLE_JIT", value)
        assert compiles() == expected
