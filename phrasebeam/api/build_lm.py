"""build_lm: an n-gram language model estimated from text."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from phrasebeam.api.arguments import File, Files, MemoryBound, Text, memory_bound, optional_path, paths
from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import Option, described
from phrasebeam.base.progress import stage
from phrasebeam.lm.estimate import MIN_ORDER, estimate
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.lm.probing_writer import ARPA_SUFFIXES, write_model
from phrasebeam.process.compression import SUFFIXES as COMPRESSED

LONGEST_COUNT = 10  # digits of a count


@described()
def build_lm(
    text: Text,
    output: Annotated[
        Files, "Output file: ARPA if it is named .arpa (.gz, .zst), else KenLM's binary format; one or more files."
    ],
    *,
    order: Annotated[
        int,
        Field(ge=MIN_ORDER, le=MAX_ORDER),
        "Length of the longest n-grams; KenLM's own programs support up to 6 by default.",
    ] = 4,
    prune: Annotated[
        str | Sequence[int],
        "Prune n-grams whose count is at most this number, one number for each length as in lmplz --prune; the last "
        "holds for all longer ones. '0 0 1' prunes n-grams of 3 or more words that occur once.",
    ] = "0",
    memory: MemoryBound = None,
    scratch: Annotated[File | None, Option("Directory for temporary files.", unset="$TMPDIR")] = None,
) -> None:
    """Estimate a language model with interpolated modified Kneser-Ney smoothing, as KenLM's lmplz does.

    Raises FormatError for text that is not UTF-8 or too short, ConfigError and OSError.

    >>> build_lm("train.en", ["train.arpa", "train.bin"], order=3)
    >>> LanguageModel.load("train.bin").order
    3
    """
    files = paths(output)
    for path in files:
        if path.name.endswith(COMPRESSED) and not path.name.endswith(ARPA_SUFFIXES):
            raise ConfigError(
                f"{path}: only ARPA can be compressed; name it .arpa{path.suffix}, or leave out the suffix"
            )
    check_keeps_inputs(files, paths(text))
    n_bytes = memory_option(memory)
    with memory_bound(n_bytes):
        model = estimate(paths(text), order, n_bytes, optional_path(scratch), prune=_counts(prune))
        for path in files:
            with stage(f"writing {path}"):
                write_model(model, path, n_bytes)


def _counts(prune: str | Sequence[int]) -> list[int]:
    words = prune.split() if isinstance(prune, str) else [str(count) for count in prune]
    if not words or not all(word.isascii() and word.isdigit() and len(word) < LONGEST_COUNT for word in words):
        raise ConfigError(f"--prune: found {excerpt(prune)}, expected counts such as '0 0 1'")
    return [int(word) for word in words]
