"""preprocess: tokenization and truecasing of raw text, as a model needs it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from phrasebeam.api.arguments import File, optional_path
from phrasebeam.base.files import check_keeps_inputs, output_file, read_input
from phrasebeam.base.options import Option, described
from phrasebeam.console.input_stage import stage_of_input
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.tables.model_files import ALIGNER

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText

Side = Literal["source", "target"]


@described()
def preprocess(
    model: Annotated[
        File, "Model directory of train-model --raw or import-moses, or aligner directory of align --save."
    ],
    side: Annotated[Side, "The language of the text: source or target."],
    *,
    input: Annotated[File | None, Option("File with raw text.", unset="standard input")] = None,
    output: Annotated[
        File | None, Option("Output file for the tokens; - for standard output.", unset="returned")
    ] = None,
) -> list[str]:
    """Tokenize and truecase raw text as the model needs it.

    Commands do this themselves if the model was trained on raw text; give them these tokens with --no-raw. RawText
    does the same for lines instead of files.

    Returns the tokenized lines, unless they were written to a file. Raises OSError, or SmtError, also if the model was
    trained on tokenized text.

    >>> preprocess("raw-model", "source", input="raw.dev.de", output="dev.tokens.de")
    []
    """
    check_keeps_inputs([output], [input, *model_paths(Path(model))])
    raw_text = _raw_text(Path(model))
    preprocessor = raw_text.source if side == "source" else raw_text.target
    source, destination = optional_path(input), optional_path(output)
    with stage_of_input("preprocessing", source, destination) as advance:
        if destination is None:
            return [preprocessor.line(line) for line in read_input(source)]
        with output_file(destination) as file:
            for line in read_input(source):
                file.write(preprocessor.line(line).encode("utf-8") + b"\n")
                if str(output) == "-":
                    file.flush()
                advance(1)
    return []


def _raw_text(model: Path) -> "RawText":
    # Imported here since it is slow: it compiles patterns of Unicode's tables.
    if (model / ALIGNER).is_file():
        from phrasebeam.training.aligned_text.saved_aligner import raw_text_of

        return raw_text_of(model)
    from phrasebeam.decoder.raw_text.preprocessing import RawText

    return RawText.load(model)
