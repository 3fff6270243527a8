"""The commands `demo` and `demo-corpus`."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

import phrasebeam
from phrasebeam.api import demo_corpus as corpus
from phrasebeam.base.command_line import Force
from phrasebeam.base.config import MOST_COUNTED, config_with_options
from phrasebeam.base.progress import show_progress
from phrasebeam.training.build.config import TrainModelConfig
from phrasebeam.training.demo.demo_corpus import NOISE

DEMO_CONFIG = Path(phrasebeam.__file__).parent / "configs" / "demo.yaml"


def demo(
    output: Annotated[Path, typer.Option(help="Directory for the corpus, the model and the translations.")] = Path(
        "demo"
    ),
    sentences: Annotated[int, typer.Option(min=1, max=1_000_000, help="Sentence pairs to train on.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, max=MOST_COUNTED, help="Of the corpus.")] = 1,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML, as for train-model.")] = None,
    force: Force = False,
) -> None:
    """Train on the embedded German-English corpus, translate sentences that it does not hold, and score them."""
    from phrasebeam.training.demo.demo import run_demo

    show_progress()
    result = run_demo(output, sentences, seed, config_with_options(config or DEMO_CONFIG, TrainModelConfig, {}), force)
    for example in result.examples:
        phrases = example.translation.phrases
        print(f"source     {' '.join(f'[{p.source}]' for p in sorted(phrases, key=lambda p: p.source_span))}")
        print(f"output     {' '.join(f'[{p.target}]' for p in phrases)}")
        print(f"reference  {example.reference}\n")
    print(f"BLEU {result.bleu:.1f} on {result.corpus.test_source} (BLEU|{result.signature})")
    print(f"Try: echo '{result.examples[0].source}' | {called_here()} translate --model {result.model}")


def called_here() -> str:
    """What calls phrasebeam from here: its name alone, or where it is installed if no $PATH leads there."""
    installed = Path(sys.executable).parent / "phrasebeam"
    found = shutil.which("phrasebeam")
    if found and Path(found).parent == installed.parent:
        return "phrasebeam"
    if not installed.exists():
        return f"{sys.executable} -m phrasebeam"
    return os.path.join(".", os.path.relpath(installed)) if installed.is_relative_to(Path.cwd()) else str(installed)


def demo_corpus(
    output: Annotated[Path, typer.Option(help="Prefix of the two files, to which .de and .en are added.")],
    sentences: Annotated[int, typer.Option(min=0, max=MOST_COUNTED, help="Sentence pairs.")] = 5000,
    seed: Annotated[
        int,
        typer.Option(min=0, max=MOST_COUNTED, help="The first pairs of a seed are the same for any number of pairs."),
    ] = 1,
    noise: Annotated[float, typer.Option(min=0, max=1, help="Share of damaged pairs.")] = NOISE,
) -> None:
    """Write the embedded German-English corpus: tokenized, lowercased, with some noise, as long as you like."""
    source, target = corpus.demo_corpus(output, sentences=sentences, seed=seed, noise=noise)
    print(f"{sentences} sentence pairs in {source} and {target}")
