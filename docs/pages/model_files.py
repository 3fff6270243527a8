"""The page of the files of a model, from what is declared of them in the code."""

from collections.abc import Sequence

from docs.pages.markdown_table import markdown_table
from phrasebeam.decoder.model.description import MODEL_FORMAT, WITHOUT_DIGESTS
from phrasebeam.decoder.model.digests import SMALL
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, COUNTS, OTHER_FILES, ArrayFile

HEAD = """# Files of a model

`docs/pages/model_files.py` generates this page from the declarations in `decoder/tables/model_files.py`.

A model is a directory with the following files. Other files in it, such as the working directories of trainers
(`tuning/`, `maxforce/`, `ranking/`, `expected_bleu/`), are not part of the model.

## Arrays

Each array is an `.npy` file in C order, with numbers in the byte order of the machine. Letters in the column "Shape"
stand for these counts:

{counts}

{arrays}

`train-model` writes `word_counts/`. Imported models, and models of older versions, have none: for them idf and frequent
words are estimated from the counts of one-word phrase pairs.

## Other files

{others}

## Search settings

`search.yaml` has the sections `search`, `mbr`, `input` and `confidence` of a configuration of `translate`, with the
settings that differ from the defaults. All commands and `Decoder.load` use these settings; `--config` and options
override single settings. `import-moses` writes the file, and so does `tune` if its configuration has a section
`search`. A model that is made from another model inherits the file. `export-moses` writes the section `search` to
moses.ini.

## Checks

The format of `model.yaml` is `{format}`. Its key `files` has the size and the CRC-32 (digest) of every other file,
and its last line has those of all lines before it. Digests detect damage, not malice: whoever changes a file can change
its digest, too.

| When | What is checked |
|---|---|
| a model is opened | the sizes of all files, type and shape of all arrays |
| | the digests of `model.yaml`, of the vocabularies and of files of at most {small} KB |
| | the order of `operations/keys.npy` and `sparse/keys.npy` |
| a phrase pair is used | its indices and numbers |
| `phrasebeam check-model MODEL` | the digests of all files; every index and every number; whether tables agree |

You may edit `weights.yaml`, `search.yaml` and `README.md` at any time; commands use them as they are, but `check-model`
reports that they have changed. `phrasebeam check-model --accept MODEL` accepts changed files if their numbers are valid
and consistent, and writes their digests to `model.yaml`. If you edit another small file, commands refuse to open the
model until you do this.

A model that a trainer writes has copies of the files that did not change, with their digests. If the file system cannot
share blocks, files above 1 MB are hard links to the same file, which is then read-only.

Models of the format `{older}` have no digests. You can use them as before; `check-model` says that they have no
digests, and `--accept` writes them.
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
