"""The page of the files of a model, from what is declared of them in the code."""

from collections.abc import Sequence

from docs.pages.markdown_table import markdown_table
from phrasebeam.decoder.model.description import MODEL_FORMAT, WITHOUT_DIGESTS
from phrasebeam.decoder.model.digests import SMALL
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, COUNTS, OTHER_FILES, ArrayFile

HEAD = """# Files of a model

This page is written by `docs/pages/model_files.py` from the declarations in `decoder/tables/model_files.py`.

A model is a directory. What else lies in it, such as the work of trainers (`tuning/`, `maxforce/`, `ranking/`,
`expected_bleu/`), is no part of it.

## Arrays

Each is an `.npy` file in rows (C order), with numbers in the byte order of the machine. Letters in a shape are counts:

{counts}

{arrays}

`word_counts/` is in models that `train-model` made. Imported models, and those of older versions, have none: idf and
frequent words are then estimated from the counts of one-word phrase pairs.

## Other files

{others}

## How a model is searched

`search.yaml` has the sections `search`, `mbr`, `input` and `confidence` of a configuration of `translate`, each with
those settings that are not the defaults. All commands and `Decoder.load` search so; `--config` and options override
single settings. `import-moses` writes it, and `tune` where its settings have a search; models that are made of others
inherit it, and `export-moses` writes the section `search` to moses.ini.

## What is checked

`model.yaml` is of the format `{format}`. Its key `files` has the size and the CRC-32 of every other file, and
its last line those of all lines before it. They find damage, not malice: who changes a file can change its digest, too.

| When | What |
|---|---|
| a model is opened | the sizes of all files, type and shape of all arrays |
| | the digests of `model.yaml`, of the vocabularies and of files of at most {small} KB |
| | the order of `operations/keys.npy` and `sparse/keys.npy` |
| a phrase pair is used | its indices and numbers |
| `phrasebeam check-model MODEL` | the digests of all files; every index and every number; that tables agree |

`weights.yaml`, `search.yaml` and `README.md` may be edited at any time: they are used as they are, but `check-model`
reports that they have changed. `phrasebeam check-model --accept MODEL` takes the files as they are for right, if their
numbers are sound and agree, and writes their digests to `model.yaml`. After an edit of another small file no command
opens the model before that.

Models that trainers write have copies of the files that do not change, with their digests; where the file system cannot
share blocks, those above 1 MB are the same file on disk in both models, and read-only.

Models of the format `{older}` have no digests. They can be used as before; `check-model` says that there are none, and
`--accept` writes them.
"""


def page() -> str:
    """The whole text."""
    return HEAD.format(
        counts=markdown_table(("Count", "Number of"), ((f"{letter}", text) for letter, text in COUNTS.items())),
        arrays="\n\n".join(f"### `{folder}/`\n\n{_arrays(files)}" for folder, files in ARRAY_FILES.items()),
        others=markdown_table(("File", "Content"), ((f"`{name}`", text) for name, text in OTHER_FILES.items())),
        format=MODEL_FORMAT,
        older=WITHOUT_DIGESTS,
        small=SMALL >> 10,
    )


def _arrays(files: Sequence[ArrayFile]) -> str:
    head = ("File", "Type", "Shape", "Numbers", "Content")
    rows = ((f"`{f.name}.npy`", f"{f.array.dtype}", _shape(f), f"{f.values}", f.content) for f in files)
    return markdown_table(head, rows)


def _shape(file: ArrayFile) -> str:
    return " by ".join(map(str, file.array.shape))
