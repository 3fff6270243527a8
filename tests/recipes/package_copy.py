"""A copy of the package in which a recipe of ARCHITECTURE.md is followed: at most two files are looked into.

Nothing is compiled there: the data are small, and other kernels would take longer to compile than to run uncompiled.
"""

import os
import shutil
import subprocess
import sys

import yaml

from tests import ROOT

MOST_FILES = 2
PERCEPTRON = {
    "templates": {"rule_id": True},
    "rates": {"rule_id": 1.0},
    "iterations": 1,
    "sentences": 10,
    "threads": 1,
    "search": {"stack": 5, "max_phrase_length": 1},
}


class Copy:
    """A copy of the package in which additions are tried."""

    def __init__(self, folder):
        self.folder, self.touched = folder, set()
        for name in ("phrasebeam", "lm", "decoder", "training", "server", "configs"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)

    def write(self, name, text):
        """A new file."""
        (self.folder / name).write_text(text)
        self.touched.add(name)

    def replace(self, name, old, new):
        """Change a place of a file that occurs once."""
        text = (self.folder / name).read_text()
        assert text.count(old) == 1, (name, old, text.count(old))
        (self.folder / name).write_text(text.replace(old, new))
        self.touched.add(name)

    def list(self, name, old, new):
        """Name the new thing in a list, which is no place that one has to look into."""
        touched = {*self.touched}
        self.replace(name, old, new)
        self.touched = touched

    def append(self, name, text):
        """Add to the end of a file."""
        self.write(name, (self.folder / name).read_text() + text)

    def run(self, *arguments, text=""):
        """What the command prints, given `text` on standard input."""
        return self.python("-m", "phrasebeam", *map(str, arguments), text=text)

    def python(self, *arguments, text=""):
        """What Python prints."""
        assert len(self.touched) <= MOST_FILES
        variables = os.environ | {"PYTHONPATH": str(self.folder), "NUMBA_DISABLE_JIT": "1"}
        command = [sys.executable, "-P", *arguments]
        done = subprocess.run(
            command, env=variables, cwd=self.folder, capture_output=True, text=True, check=False, input=text
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def training(data, command, output, settings):
    """The arguments of a trainer."""
    config = output.parent / "settings.yaml"
    config.write_text(yaml.safe_dump(settings))
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "few.source", "dev-reference": "few.target", "model": "model"}
    given = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    return [command, *given, "--output", output, "--config", config]


def tuned(copy, data, output, settings):
    """The arguments of tune, with settings; one iteration."""
    config = output.parent / "tune.yaml"
    config.write_text(yaml.safe_dump({"iterations": 1, "nbest": 5, "mira_batch": {"epochs": 2}} | settings))
    dev = ("--source", data / "few.source", "--reference", data / "few.target")
    return copy.run("tune", "--model", data / "model", *dev, "--config", config, "--output", output)
