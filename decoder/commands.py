"""The command `translate`."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from decoder.config import Algorithm, Decoding, Markup, Oov, Reading, Search
from decoder.input import Input
from decoder.markup import read_all_markup
from decoder.rendering import render, render_nbest
from decoder.translation import Translation
from decoder.translator import Decoder
from lm.config import load_config, parse_config
from lm.errors import ConfigError
from lm.files import atomic_file, bad_utf8


def translate(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    threads: Annotated[int, typer.Option(min=1, help="Sentences translated at the same time.")] = 1,
    alignment: Annotated[bool, typer.Option("--alignment", help="Append the word alignment, 0-0 1-2.")] = False,
    segmentation: Annotated[
        bool, typer.Option("--segmentation", help="Follow each phrase with the source words it translates, |3-4|.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Append ' ||| ', the feature values, ' ||| ' and the model score.")
    ] = False,
    nbest: Annotated[int | None, typer.Option(min=1, help="Derivations of each sentence in --nbest-output.")] = None,
    nbest_output: Annotated[
        Path | None, typer.Option(help="File for n-best lists in Moses' format: 0 ||| text ||| features ||| score.")
    ] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Only the best derivation of each text in --nbest-output.")
    ] = False,
    config: Annotated[Path | None, typer.Option(help="YAML with the sections 'search', 'weights' and 'input'.")] = None,
    algorithm: Annotated[Algorithm | None, typer.Option(help="stack: try all; cube: cube pruning, faster.")] = None,
    pop_limit: Annotated[int | None, typer.Option(help="Hypotheses a stack that cube pruning tries; 0: all.")] = None,
    stack: Annotated[int | None, typer.Option(help="Hypotheses kept per number of covered words; 0: all.")] = None,
    beam_threshold: Annotated[
        float | None, typer.Option(help="Drop hypotheses worse than the best by this factor; 0: none.")
    ] = None,
    distortion_limit: Annotated[int | None, typer.Option(help="Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int | None, typer.Option(help="Target phrases per source phrase; 0: all.")] = None,
    markup: Annotated[
        Markup | None,
        typer.Option(help="Read <x translation=...>, <wall/> and <zone> in the input; how translations in it count."),
    ] = None,
    oov: Annotated[Oov | None, typer.Option(help="Unknown words: copy, drop if without digits, mark as UNK...")] = None,
) -> None:
    """Translate standard input to standard output, a sentence a line, tokenized as the training data were."""
    if (nbest is None) != (nbest_output is None) or (distinct and nbest is None):
        raise ConfigError("--nbest and --nbest-output need each other, --distinct needs both; give them together")
    decoding = load_config(config, Decoding) if config else Decoding()
    flags = {
        "algorithm": algorithm,
        "pop_limit": pop_limit,
        "stack": stack,
        "beam_threshold": beam_threshold,
        "distortion_limit": distortion_limit,
        "table_limit": table_limit,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    search = parse_config(decoding.search.model_dump() | given, Search, "search options")
    chosen = {name: value for name, value in (("markup", markup), ("oov", oov)) if value is not None}
    reading = parse_config(decoding.input.model_dump() | chosen, Reading, "input options")
    decoder = Decoder.load(model, search, decoding.weights, reading)
    with atomic_file(nbest_output) if nbest_output else nullcontext() as file:
        lists = _lists(decoder, _sentences(reading.markup), nbest, distinct, threads)
        for number, translations in enumerate(lists):
            line = render(translations[0], alignment, segmentation, scores)
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
            if file:
                file.write(render_nbest(number, translations, alignment, segmentation).encode("utf-8"))


def _lists(
    decoder: Decoder, sentences: Iterator[Input], nbest: int | None, distinct: bool, threads: int
) -> Iterator[list[Translation]]:
    if nbest is None:
        return ([translation] for translation in decoder.translate_all(sentences, threads))
    return decoder.nbest_all(sentences, nbest, distinct, threads)


def _sentences(markup: Markup) -> Iterator[Input]:
    return read_all_markup(_standard_input(), markup, "standard input")


def _standard_input() -> Iterator[str]:
    # A reader of its own: sys.stdin must not be locked by the thread that waits for a line when the process ends.
    with open(sys.stdin.fileno(), "rb", closefd=False) as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise bad_utf8("standard input", number, error) from None
