"""train with the recipe of a normalizer, which learns from word pairs instead of a bitext."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

from phrasebeam.api.arguments import File, memory_bound, optional_path, paths
from phrasebeam.base.config import config_with_options, load_yaml
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import heading
from phrasebeam.decoder.normalization.normalizer_files import NormalizerDescription
from phrasebeam.training.normalization.normalizer_settings import NormalizerRecipe
from phrasebeam.training.normalization.train_normalizer import WordFiles, train_normalizer
from phrasebeam.training.recipe.stage import with_seeds

SECTION = "normalizer"  # in the file of a recipe
# Options of `train` that such a recipe accepts; the other options are about sentences.
KNOWN = "source", "target", "dev_source", "dev_reference", "output", "recipe", "seed", "threads", "memory", "force"
UNSET = (None, False, ())


@heading("Word pairs")
class WordOptions(TypedDict, total=False):
    """The training data of the recipe `normalize`."""

    pairs: Annotated[
        File | None,
        "Table for the recipe normalize: each line has a word, a tab and its form; an empty line ends a sentence.",
    ]
    dev_pairs: Annotated[File | None, "More pairs, in the same format, from which weights are learned in addition."]
    words: Annotated[File | None, "List of words in the standard spelling, as candidate forms."]


def is_of_words(recipe: object) -> bool:
    """Whether a recipe (a file, or its content) trains a normalizer. Raises ConfigError or OSError."""
    data = load_yaml(recipe) if isinstance(recipe, str | Path) else recipe
    return isinstance(data, NormalizerRecipe) or (isinstance(data, Mapping) and SECTION in data)


def check_no_words(given: Mapping[str, Any]) -> None:
    """Raise ConfigError if a recipe for sentences is given word pairs, or lacks an argument that it needs."""
    for name in WordOptions.__annotations__:
        if given[name] is not None:
            raise ConfigError(f"--{_option(name)} is for --recipe normalize; give --source and --target instead")
    if given["source"] is None:
        raise ConfigError("--source is missing; give a file of sentences")


def train_on_words(recipe: Any, given: Mapping[str, Any]) -> NormalizerDescription:
    """Train the normalizer that the options of `train` describe. Raises SmtError or OSError."""
    for name, value in given.items():
        if name not in (*KNOWN, *WordOptions.__annotations__) and value not in UNSET:
            raise ConfigError(f"--{_option(name)} has no effect on the recipe normalize; leave it out")
    n_bytes = memory_option(given["memory"])
    bounds = {"memory": n_bytes} | ({} if given["threads"] is None else {"threads": given["threads"]})
    settings = config_with_options(recipe, NormalizerRecipe, {SECTION: bounds}).normalizer
    files, output = _files(given), Path(given["output"])
    check_keeps_inputs([output], files.by_name.values())
    with memory_bound(n_bytes):
        return train_normalizer(files, output, with_seeds(settings, given["seed"] - 1), given["force"])


def _files(given: Mapping[str, Any]) -> WordFiles:
    pairs, forms = _two_or_one(given, "pairs", "source", "target")
    if pairs is None:
        raise ConfigError("--pairs is missing; give a file of words and their forms")
    development = _two_or_one(given, "dev_pairs", "dev_source", "dev_reference")
    return WordFiles(pairs, forms, *development, optional_path(given["words"]))


def _two_or_one(given: Mapping[str, Any], both: str, words: str, forms: str) -> tuple[Path | None, Path | None]:
    """A table of pairs or, instead, the files of words and of forms; a table may also be given as the words.

    Without forms the second path is None.
    """
    targets = paths(given[forms])
    if given[both] is not None and (given[words] is not None or targets):
        raise ConfigError(f"--{_option(both)} has words and forms; leave out --{_option(words)} and --{_option(forms)}")
    if len(targets) > 1:
        raise ConfigError(f"--{_option(forms)}: {len(targets)} files, expected one")
    if targets and given[words] is None:
        raise ConfigError(f"--{_option(words)} is missing; give the words of --{_option(forms)}")
    return optional_path(given[both] or given[words]), targets[0] if targets else None


def _option(name: str) -> str:
    return name.replace("_", "-")
