"""Printed results of the demo's commands, of `config` and of `warm-up`."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from phrasebeam.commands.derived_command import CommandCall, tell
from phrasebeam.console.tables import print_table

if TYPE_CHECKING:
    from phrasebeam.training.demo.demo import DemoResult


def demo(result: "DemoResult", call: CommandCall) -> None:
    """Prints some translations, their BLEU, and how to translate more."""
    for example in result.examples:
        phrases = example.translation.phrases
        print(f"source     {' '.join(f'[{p.source}]' for p in sorted(phrases, key=lambda p: p.source_span))}")
        print(f"output     {' '.join(f'[{p.target}]' for p in phrases)}")
        print(f"reference  {example.reference}\n")
    print(f"BLEU {result.bleu:.1f} on {result.corpus.test_source} (BLEU|{result.signature})")
    print(f"Try: echo '{result.examples[0].source}' | {called_here()} translate --model {result.model}")


def called_here() -> str:
    """The command to call phrasebeam in this environment: its name, or its path if it is not in $PATH."""
    installed = Path(sys.executable).parent / "phrasebeam"
    found = shutil.which("phrasebeam")
    if found and Path(found).parent == installed.parent:
        return "phrasebeam"
    if not installed.exists():
        return f"{sys.executable} -m phrasebeam"
    return os.path.join(".", os.path.relpath(installed)) if installed.is_relative_to(Path.cwd()) else str(installed)


def demo_corpus(files: tuple[Path, Path], call: CommandCall) -> None:
    """Prints the names of the two files."""
    tell(f"{call.given['sentences']} sentence pairs in {files[0]} and {files[1]}")


def config(found: str | dict[str, str], call: CommandCall) -> None:
    """Example: run phrasebeam config tune > my-tune.yaml, edit the file, and give --config my-tune.yaml to tune."""
    if isinstance(found, str):
        sys.stdout.write(found)
    else:
        print_table([["name", "settings"], *map(list, found.items())])


def warm_up(result: None, call: CommandCall) -> None:
    """Prints how long it took."""
    tell(f"the kernels of all commands are compiled: {call.seconds:.0f} s")
