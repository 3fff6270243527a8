"""The command `translate`."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from decoder.config import Algorithm, Decoding, Search
from decoder.prefix import Prefix
from decoder.rendering import render, render_nbest
from decoder.translation import Translation
from decoder.translator import Decoder
from lm.config import load_config, parse_config
from lm.errors import ConfigError
from lm.files import atomic_file, bad_utf8, read_lines


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
    prefix: Annotated[
        Path | None, typer.Option(help="File of what translations must begin with, a tokenized line for each sentence.")
    ] = None,
    partial_word: Annotated[
        bool,
        typer.Option("--partial-word", help="The last word of a prefix may be unfinished, unless space follows it."),
    ] = False,
    config: Annotated[Path | None, typer.Option(help="YAML with the sections 'search' and 'weights'.")] = None,
    algorithm: Annotated[Algorithm | None, typer.Option(help="stack: try all; cube: cube pruning, faster.")] = None,
    pop_limit: Annotated[int | None, typer.Option(help="Hypotheses a stack that cube pruning tries; 0: all.")] = None,
    stack: Annotated[int | None, typer.Option(help="Hypotheses kept per number of covered words; 0: all.")] = None,
    beam_threshold: Annotated[
        float | None, typer.Option(help="Drop hypotheses worse than the best by this factor; 0: none.")
    ] = None,
    distortion_limit: Annotated[int | None, typer.Option(help="Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int | None, typer.Option(help="Target phrases per source phrase; 0: all.")] = None,
) -> None:
    """Translate standard input to standard output, a sentence a line, tokenized as the training data were."""
    if (nbest is None) != (nbest_output is None) or (distinct and nbest is None):
        raise ConfigError("--nbest and --nbest-output need each other, --distinct needs both; give them together")
    if partial_word and prefix is None:
        raise ConfigError("--partial-word needs --prefix; give it as well")
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
    decoder = Decoder.load(model, search, decoding.weights)
    with atomic_file(nbest_output) if nbest_output else nullcontext() as file:
        prefixes = (Prefix.read(line, partial_word) for line in read_lines(prefix)) if prefix else None
        lists = _lists(decoder, nbest, distinct, threads, prefixes)
        for number, translations in enumerate(lists):
            line = render(translations[0], alignment, segmentation, scores)
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
            if file:
                file.write(render_nbest(number, translations, alignment, segmentation).encode("utf-8"))


def _lists(
    decoder: Decoder, nbest: int | None, distinct: bool, threads: int, prefixes: Iterable[Prefix] | None
) -> Iterator[list[Translation]]:
    lines = _standard_input()
    if nbest is None:
        return ([translation] for translation in decoder.translate_all(lines, threads, prefixes))
    return decoder.nbest_all(lines, nbest, distinct, threads, prefixes)


def _standard_input() -> Iterator[str]:
    # A reader of its own: sys.stdin must not be locked by the thread that waits for a line when the process ends.
    with open(sys.stdin.fileno(), "rb", closefd=False) as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise bad_utf8("standard input", number, error) from None
