"""README.md of a model, for people: how it was made, from which data, its quality, its use; no program reads it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from phrasebeam.base.errors import printable
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.model.description import ModelDescription, save_description
from phrasebeam.decoder.tables.model_files import README
from phrasebeam.decoder.tables.provenance import DataSize, Stage

TEXT = """# A translation model of phrasebeam

{sentence_pairs:,} sentence pairs, {source_words:,} source and {target_words:,} target words,
phrases of up to {max_source_phrase_length} words, {n_language_models} of order {language_model_order}.
{scores}
## Use

In the folder that has this one, which is called MODEL here:

    phrasebeam translate --model MODEL{raw} < FILE

{input}
`weights.yaml` and `search.yaml` may be edited. `phrasebeam check-model MODEL` tells whether all files are whole.

## How it was made

{stages}
"""
RAW = "Input and output are raw text; without `--raw`, they are as `phrasebeam preprocess` makes them."
TOKENIZED = "Input and output are tokenized, a sentence a line, like the training data."


def save_model(description: ModelDescription, directory: Path, known: Mapping[str, str] = {}) -> ModelDescription:
    """Write README.md, and then model.yaml as save_description does."""
    with atomic_file(directory / README) as file:
        file.write(readme(description).encode("utf-8"))
    return save_description(description, directory, known)


def readme(description: ModelDescription) -> str:
    """The text for a model; it depends only on the description."""
    n, loss = len(description.language_models), description.score_loss
    return TEXT.format(
        **description.model_dump(include=set(ModelDescription.model_fields) - {"stages"}),
        n_language_models="a language model" if n == 1 else f"{n} language models, the first",
        scores=f"Scores of phrase pairs have 8 bits: by column, ln scores differ by at most {loss}.\n" if loss else "",
        raw=" --raw" if description.preprocessing else "",
        input=RAW if description.preprocessing else TOKENIZED,
        stages="\n".join(line for i, stage in enumerate(description.stages, 1) for line in _lines(i, stage)),
    )


def _lines(number: int, stage: Stage) -> Iterator[str]:
    yield f"{number}. `{stage.command}` (version {stage.version})"
    settings = [f"`{printable(f'{name}: {value}').replace('`', '')}`" for name, value in _flat(stage.settings)]
    yield f"   - settings: {', '.join(settings) or 'the defaults'}"
    yield from (f"   - {_plain(_size(data))}" for data in stage.data)
    if stage.gain:
        yield f"   - {_plain(stage.gain)}"


def _flat(settings: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _size(data: DataSize) -> str:
    if data.sentences is None:
        return f"{data.name}: {data.file}"
    return f"{data.name}: {data.file}, {data.sentences:,} sentences, {data.words or 0:,} words"


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_<>[]" else c for c in printable(text))
