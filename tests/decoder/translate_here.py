"""`translate` as people run it, but in this process, which has imports and kernels: on standard streams of its own."""

import tempfile
from pathlib import Path

from tests.robustness.isolated import Command, run_here


def translate_here(model, text, *options):
    """(exit status, lines of standard output, standard error) of translating `text` (bytes)."""
    with tempfile.NamedTemporaryFile() as source:
        source.write(text)
        source.flush()
        end = run_here([Command(("translate", "--model", str(model), *map(str, options)), source.name)], Path.cwd())
    assert not end.output or end.output.endswith(b"\n")
    return end.status, end.output.decode("utf-8").split("\n")[:-1], end.errors
