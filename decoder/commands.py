"""The command `translate`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from decoder.config import Decoding, Search
from decoder.translation import Translation
from decoder.translator import Decoder
from lm.config import load_config, parse_config
from lm.files import bad_utf8


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
    config: Annotated[Path | None, typer.Option(help="YAML with the sections 'search' and 'weights'.")] = None,
    stack: Annotated[int | None, typer.Option(help="Hypotheses kept per number of covered words; 0: all.")] = None,
    beam_threshold: Annotated[
        float | None, typer.Option(help="Drop hypotheses worse than the best by this factor; 0: none.")
    ] = None,
    distortion_limit: Annotated[int | None, typer.Option(help="Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int | None, typer.Option(help="Target phrases per source phrase; 0: all.")] = None,
) -> None:
    """Translate standard input to standard output, a sentence a line, tokenized as the training data were."""
    decoding = load_config(config, Decoding) if config else Decoding()
    flags = {
        "stack": stack,
        "beam_threshold": beam_threshold,
        "distortion_limit": distortion_limit,
        "table_limit": table_limit,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    search = parse_config(decoding.search.model_dump() | given, Search, "search options")
    decoder = Decoder.load(model, search, decoding.weights)
    for translation in decoder.translate_all(_standard_input(), threads):
        line = render(translation, alignment, segmentation, scores)
        sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()


def render(translation: Translation, alignment: bool, segmentation: bool, scores: bool) -> str:
    """One line: the text, with segmentation if asked for, then fields set off by ' ||| '."""
    fields = [translation.text]
    if segmentation:
        fields = [" ".join(f"{p.target} |{p.source_span[0]}-{p.source_span[1] - 1}|" for p in translation.phrases)]
    if scores:
        values = {name: value if isinstance(value, list) else [value] for name, value in translation.features.items()}
        fields.append(" ".join(f"{name}= " + " ".join(f"{v:.6g}" for v in value) for name, value in values.items()))
        fields.append(f"{translation.score:.6f}")
    if alignment:
        fields.append(" ".join(f"{i}-{j}" for i, j in translation.alignment))
    return " ||| ".join(fields)


def _standard_input() -> Iterator[str]:
    # A reader of its own: sys.stdin must not be locked by the thread that waits for a line when the process ends.
    with open(sys.stdin.fileno(), "rb", closefd=False) as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise bad_utf8("standard input", number, error) from None
