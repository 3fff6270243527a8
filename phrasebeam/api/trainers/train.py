"""train: the best model of a bitext, by the stages of a recipe."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Unpack

from pydantic import Field

from phrasebeam.api.arguments import (
    OR_PAIRS,
    File,
    Files,
    Force,
    MemoryBound,
    PairOptions,
    Settings,
    TargetIfApart,
    memory_bound,
    optional_path,
    paths,
)
from phrasebeam.api.config import CONFIGS
from phrasebeam.api.trainers import trainer_options as shared
from phrasebeam.api.trainers.normalizer import WordOptions, check_no_words, is_of_words, train_on_words
from phrasebeam.base.config import Threads, config_with_options
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, open_binary
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import Option, described
from phrasebeam.console.repeated_command import repeated_command
from phrasebeam.decoder.documents.file_formats import format_name
from phrasebeam.decoder.documents.sentence_pairs import FORMATS
from phrasebeam.decoder.normalization.normalizer_files import NormalizerDescription
from phrasebeam.training.bitext.pair_files import as_given, columns_given, reads_pairs
from phrasebeam.training.common.settings import ScoringSettings
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.recipe.recipe import Recipe, recipe_file
from phrasebeam.training.recipe.recipe_report import write_report
from phrasebeam.training.recipe.recipe_run import WORK, RecipeResult, run_recipe
from phrasebeam.training.recipe.stage import with_seeds
from phrasebeam.training.recipe_texts.recipe_data import Dictionary, RecipeFiles
from phrasebeam.training.report.run_files import find_training
from phrasebeam.training.report.training_report import training_report

MOST_SEEDS = 1_000_000


class RecipeOptions(shared.RawOptions, shared.TestOptions, PairOptions, WordOptions, total=False):
    """Inputs of a recipe besides its texts (such as a word alignment), and bounds that hold for all stages."""

    alignment: Annotated[
        File | None,
        Option("Use this word alignment (0-0 1-2 ...) instead of aligning the text.", unset="align the text"),
    ]
    lm_text: shared.LanguageModelText
    dictionary: Annotated[
        File | None,
        "Words or phrases with their translations, which the model learns in addition: TSV, TMX, XLIFF or PO.",
    ]
    leave_out_seen: Annotated[bool, "Leave out development and test sentences that also occur in the training data."]
    threads: Annotated[Threads | None, Option(section=ScoringSettings, unset="as in the recipe")]
    memory: MemoryBound
    force: Force


class _SentenceOptions(RecipeOptions, total=False):
    metric: MetricName | None
    dev_folds: int | None
    seed: int


@described()
def train(
    source: Annotated[
        File | None, f"Source sentences, one per line, tokenized or `raw`, plain, .gz or .zst; {OR_PAIRS}."
    ],
    target: TargetIfApart,
    dev_source: Annotated[
        File | None,
        f"Source sentences of a development set, to tune and to compare on; {OR_PAIRS}; or give `dev_folds`.",
    ],
    dev_reference: shared.ReferencesIfApart,
    output: Annotated[File, "Directory of the model; an unfinished run in it is continued."],
    *,
    recipe: Annotated[
        Settings,
        "quick, standard, best, small, normalize, or a YAML file as 'phrasebeam config recipe-standard' prints.",
    ] = "standard",
    metric: Annotated[MetricName | None, Option(section=Recipe)] = None,
    dev_folds: Annotated[int | None, Option(section=Recipe)] = None,
    seed: Annotated[
        int,
        Field(ge=1, le=MOST_SEEDS),
        "N adds N - 1 to all random seeds of the recipe, to repeat it with other seeds.",
    ] = 1,
    **options: Unpack[RecipeOptions],
) -> RecipeResult | NormalizerDescription:
    """Train the best model from two text files: run the stages of a recipe, and report the gain of each.

    If `output` has an unfinished run of another recipe, only the stages that changed, and those after them, run again.
    The recipe normalize trains a normalizer from word pairs; it needs only `pairs` and `output`.

    Returns the scores of each stage; recipe/report.md and report.html in `output` have details. For a normalizer,
    returns its description. Raises SmtError or OSError.

    >>> recipe = {"stages": [{"kind": "train-model"}, {"kind": "tune", "settings": {"iterations": 1}}]}
    >>> list(train("train.de", "train.en", "dev.de", "dev.en", "best", recipe=recipe).stages)
    ['train-model', 'tune']
    """
    given: dict[str, Any] = {
        "source": source,
        "target": target,
        "dev_source": dev_source,
        "dev_reference": dev_reference,
        "output": output,
        "recipe": recipe,
        "metric": metric,
        "dev_folds": dev_folds,
        "seed": seed,
        **options,
    }
    found = _recipe_given(recipe)
    if is_of_words(found):
        return train_on_words(found, given)
    check_no_words(given)
    called: Any = _train_on_sentences
    result: RecipeResult = called(**given | {"recipe": found, "given_recipe": recipe})
    return result


@reads_pairs(("source", "target"), ("dev_source", "dev_reference"), ("test_source", "test_reference"))
def _train_on_sentences(
    source: File,
    target: File | None,
    dev_source: File | None,
    dev_reference: Files | None,
    output: File,
    recipe: Settings,
    given_recipe: Settings,
    **options: Unpack[_SentenceOptions],
) -> RecipeResult:
    """Run a recipe; `given_recipe` is what the user gave, `options` are those of `train`.

    Raises SmtError or OSError.
    """
    n_bytes, threads = memory_option(options["memory"]), options["threads"]
    bounds = {"memory": n_bytes} | ({} if threads is None else {"threads": threads})
    texts = paths(options["lm_text"])
    named = config_with_options(recipe, Recipe, _settings(options)).by_metric().within(bounds)
    found = named.with_builds(
        lambda settings: shared.with_language_models(shared.build_settings(settings, options), texts, [])
    )
    if options["leave_out_seen"]:
        found = found.model_copy(update={"leave_out_seen": True})
    development = shared.optional_data("dev", dev_source, dev_reference)
    test = shared.optional_data("test", options["test_source"], options["test_reference"])
    training = shared.training_data(source, target, options["alignment"])
    files = RecipeFiles(training, development, test, _dictionary(options))
    with memory_bound(n_bytes):
        cores = threads or found.builds[0].settings.threads
        result = run_recipe(files, Path(output), with_seeds(found, options["seed"] - 1), cores, options["force"])
    given: dict[str, object] = {
        "source": source,
        "target": target,
        "dev_source": dev_source,
        "dev_reference": dev_reference,
    }
    given |= {"output": output, "recipe": given_recipe, **options}
    write_report(result, found, Path(output), as_given(repeated_command(train, given)))
    with memory_bound(n_bytes), atomic_file(Path(output) / WORK / "report.html") as file:
        file.write(training_report(find_training(Path(output))))
    return result


def _dictionary(options: Mapping[str, Any]) -> Dictionary | None:
    """The dictionary that the options of `train` name. Raises ConfigError or OSError."""
    if (path := optional_path(options["dictionary"])) is None:
        return None
    format_name(path, FORMATS)
    with open_binary(path):
        return Dictionary(path, columns_given(path, options))


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("metric", "dev_folds") if options[name] is not None}


def _recipe_given(given: Settings) -> Settings:
    """The recipe as given, but for a string the path of its file: a name means a recipe of phrasebeam.

    Raises ConfigError.
    """
    if isinstance(given, str):
        path = recipe_file(given, CONFIGS)
        if not path.exists():
            names = ", ".join(sorted(one.stem.removeprefix("recipe-") for one in CONFIGS.glob("recipe-*.yaml")))
            raise ConfigError(f"{given}: neither a file nor a recipe; expected a file, or one of {names}")
        return path
    return given
