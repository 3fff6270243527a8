"""The command `translate`."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from decoder.config import Algorithm, Decoding, Search
from decoder.rendering import render, render_nbest
from decoder.standard_input import standard_input
from decoder.translation import Translation
from decoder.translator import Decoder
from lm.config import load_config, parse_config
from lm.errors import ConfigError
from lm.files import atomic_file

if TYPE_CHECKING:
    from decoder.raw_text import RawText


def translate(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    raw: Annotated[
        bool, typer.Option("--raw", help="Raw text in and out; --nbest-output stays tokenized, as the model has it.")
    ] = False,
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
    config: Annotated[Path | None, typer.Option(help="YAML with the sections 'search' and 'weights'.")] = None,
    algorithm: Annotated[Algorithm | None, typer.Option(help="stack: try all; cube: cube pruning, faster.")] = None,
    pop_limit: Annotated[int | None, typer.Option(help="Hypotheses a stack that cube pruning tries; 0: all.")] = None,
    stack: Annotated[int | None, typer.Option(help="Hypotheses kept per number of covered words; 0: all.")] = None,
    beam_threshold: Annotated[
        float | None, typer.Option(help="Drop hypotheses worse than the best by this factor; 0: none.")
    ] = None,
    distortion_limit: Annotated[int | None, typer.Option(help="Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int | None, typer.Option(help="Target phrases per source phrase; 0: all.")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory, such as 2G, beyond which pages of the model's files are let go of.")
    ] = None,
) -> None:
    """Translate standard input to standard output, a sentence a line, tokenized as the training data were, or --raw."""
    if (nbest is None) != (nbest_output is None) or (distinct and nbest is None):
        raise ConfigError("--nbest and --nbest-output need each other, --distinct needs both; give them together")
    if raw and (alignment or segmentation or scores):
        raise ConfigError("--alignment, --segmentation and --scores are of tokens; leave out --raw, or leave out them")
    decoding = load_config(config, Decoding) if config else Decoding()
    if memory is not None:
        decoding = parse_config(decoding.model_dump() | {"memory": memory}, Decoding, "options")
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
    decoder = Decoder.load(model, search, decoding.weights, decoding.memory)
    raw_text = _raw_text(model) if raw else None
    with atomic_file(nbest_output) if nbest_output else nullcontext() as file:
        # Before in the thread that reads, after in this one: both while other threads search.
        lines = map(raw_text.before, standard_input()) if raw_text else standard_input()
        lists = _lists(decoder, lines, nbest, distinct, threads)
        for number, translations in enumerate(lists):
            first = translations[0]
            line = raw_text.after(first.text) if raw_text else render(first, alignment, segmentation, scores)
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
            if file:
                file.write(render_nbest(number, translations, alignment, segmentation).encode("utf-8"))


def _raw_text(model: Path) -> "RawText":
    from decoder.raw_text import RawText  # slow: compiles the tables of Unicode that sacremoses needs

    return RawText.load(model)


def _lists(
    decoder: Decoder, lines: Iterator[str], nbest: int | None, distinct: bool, threads: int
) -> Iterator[list[Translation]]:
    if nbest is None:
        return ([translation] for translation in decoder.translate_all(lines, threads))
    return decoder.nbest_all(lines, nbest, distinct, threads)
