"""train and train_model: models of a bitext, by a recipe of all stages, and as they are counted."""

from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, Settings, check_range, memory_bound, optional_path, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import MOST_THREADS, config_with_options, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import DEFAULT_MEMORY, memory_option
from phrasebeam.decoder.input.raw_text_settings import raw_preprocessing
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.engine.current_engine import EngineName
from phrasebeam.engine.engine_options import chosen_engine
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.build import train_model as building
from phrasebeam.training.build.config import TrainModelConfig
from phrasebeam.training.recipe.recipe import Recipe, recipe_file
from phrasebeam.training.recipe.recipe_data import RecipeFiles
from phrasebeam.training.recipe.recipe_report import write_report
from phrasebeam.training.recipe.recipe_run import RecipeResult, run_recipe
from phrasebeam.training.recipe.stage import with_seeds

MOST_SEEDS = 1_000_000
CONFIGS = Path(__file__).parents[2] / "configs"


@checked
def train_model(
    source: File,
    target: File,
    output: File,
    *,
    config: Settings | None = None,
    raw: bool = False,
    source_language: str | None = None,
    target_language: str | None = None,
    alignment: File | None = None,
    lm_text: Files | None = None,
    lm_classes: Files | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    workers: int | None = None,
    force: bool = False,
) -> ModelDescription:
    """Build a model from parallel text: word alignment, phrase table, reordering model, language model.

    Args:
        source: Source sentences, tokenized or `raw`, one a line, plain, .gz or .zst.
        target: Their translations, line by line.
        output: Directory of the model.
        config: Settings, see TrainModelConfig; what is given beside them counts instead.
        raw: The text is raw: tokenize and truecase it, as RawText then does with what is to be translated.
        source_language: Of raw text: "de", "en" ...
        target_language: Of raw text.
        alignment: A word alignment (0-0 1-2 ...) to use as it is; None: the text is aligned.
        lm_text: Target-language text for further language models, one for each file.
        lm_classes: Word classes, as `cluster` writes them, for further language models over these.
        threads: Processor cores to use; the model does not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        workers: Processes that work at the same time; None: Ray's processors, or threads.
        force: Replace a model of other settings or text that is there.

    Returns what is said of it in its model.yaml. Raises SmtError or OSError, and then leaves `output` as it was.

    >>> train_model("train.de", "train.en", "new-model", config={"language_model": {"order": 3}}).sentence_pairs
    600
    """
    settings = config_with_options(config, TrainModelConfig, {"threads": threads, "memory": memory})
    settings = _with_language_models(settings, paths(lm_text), paths(lm_classes))
    if raw or source_language or target_language:
        settings = _raw_config(settings, raw, source_language, target_language)
    with memory_bound(settings.memory), chosen_engine(engine, address, workers):
        return building.train_model(source, target, output, settings, optional_path(alignment), force)


@checked
def train(
    source: File,
    target: File,
    dev_source: File,
    dev_reference: Files,
    output: File,
    *,
    recipe: Settings = "standard",
    seed: int = 1,
    alignment: File | None = None,
    raw: bool = False,
    source_language: str | None = None,
    target_language: str | None = None,
    test_source: File | None = None,
    test_reference: Files | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    force: bool = False,
) -> RecipeResult:
    """Make the best model of two text files by a recipe, and report what each of its stages brings.

    Args:
        source: Source sentences, tokenized or `raw`, one a line, plain, .gz or .zst.
        target: Their translations, line by line.
        dev_source: Other sentences, to tune on and to choose by.
        dev_reference: Their translations, one file for each set of them.
        output: Directory of the model; a run that was stopped there goes on. Of a changed recipe only what follows from
            the change is done again.
        recipe: "quick", "standard", "best", a YAML file, or what one would say.
        seed: N adds N - 1 to all seeds of the recipe, to repeat it with other ones.
        alignment: A word alignment (0-0 1-2 ...) to use as it is; None: the text is aligned.
        raw: The text is raw: tokenize and truecase it.
        source_language: Of raw text: "de", "en" ...
        target_language: Of raw text.
        test_source: Other sentences, whose scores are only reported.
        test_reference: Their translations.
        threads: Processor cores to use; results do not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        force: Replace a model that is there.

    Returns the scores of each stage; recipe/report.md in `output` tells more. Raises SmtError or OSError.

    >>> recipe = {"stages": [{"kind": "train-model"}, {"kind": "tune", "settings": {"iterations": 1}}]}
    >>> list(train("train.de", "train.en", "dev.de", "dev.en", "best", recipe=recipe).stages)
    ['train-model', 'tune']
    """
    if (test_source is None) != (not test_reference):
        raise ConfigError("--test-source and --test-reference need each other; give both")
    if threads is not None:
        check_range("threads", threads, 1, MOST_THREADS)
    bounds = {"threads": threads, "memory": memory_option(memory)}
    check_range("seed", seed, 1, MOST_SEEDS)
    found = _recipe(recipe).within({name: value for name, value in bounds.items() if value is not None})
    if raw or source_language or target_language:
        found = found.of_raw_text(lambda one: _raw_config(one, raw, source_language, target_language))
    development = BitextFiles(Path(dev_source), paths(dev_reference))
    test = BitextFiles(Path(test_source), paths(test_reference)) if test_source else None
    training = BitextFiles(Path(source), [Path(target)], optional_path(alignment))
    files = RecipeFiles(training, development, test)
    with memory_bound(bounds["memory"] or DEFAULT_MEMORY):
        cores = threads or found.builds[0].settings.threads
        result = run_recipe(files, Path(output), with_seeds(found, seed - 1), cores, force)
    write_report(result, found, Path(output), _command(files, output, recipe, seed))
    return result


def _recipe(given: Settings) -> Recipe:
    if isinstance(given, str):
        path = recipe_file(given, CONFIGS)
        if not path.exists():
            names = ", ".join(sorted(one.stem.removeprefix("recipe-") for one in CONFIGS.glob("recipe-*.yaml")))
            raise ConfigError(f"{given}: neither a file nor a recipe; expected a file, or one of {names}")
        given = path
    return config_with_options(given, Recipe, {})


def _command(files: RecipeFiles, output: File, recipe: Settings, seed: int) -> str:
    """The command that does the same."""
    training, references = files.training, " ".join(map(str, files.development.references))
    parts = [f"phrasebeam train --source {training.source} --target {training.target}"]
    parts += [f"--dev-source {files.development.source} --dev-reference {references}"]
    parts += [f"--alignment {training.alignment}"] if training.alignment else []
    if files.test:
        parts += [f"--test-source {files.test.source} --test-reference {' '.join(map(str, files.test.references))}"]
    named = recipe if isinstance(recipe, (str, Path)) else "RECIPE.yaml"
    chance = f" --seed {seed}" if seed > 1 else ""
    return " \\\n  ".join([*parts, f"--recipe {named}{chance} --output {output}"])


def _with_language_models(config: TrainModelConfig, texts: list[Path], classes: list[Path]) -> TrainModelConfig:
    """`config` with a further language model for each file of `texts` and for each file of word `classes`."""
    if not texts and not classes:
        return config
    options = config.model_dump(mode="json", exclude_unset=True)
    further = [{"text": [str(path)]} for path in texts] + [{"classes": str(path)} for path in classes]
    options["language_models"] = options.get("language_models", []) + further
    return parse_config(options, TrainModelConfig, "options")


def _raw_config(config: TrainModelConfig, raw: bool, source: str | None, target: str | None) -> TrainModelConfig:
    """`config` with preprocessing of raw text, for the languages `source` and `target` or, where None, its own."""
    if not (raw or config.preprocessing):
        raise ConfigError("--source-language and --target-language are of raw text; give --raw with them")
    section = config.preprocessing.model_dump() if config.preprocessing else {}
    return config.model_copy(update={"preprocessing": raw_preprocessing(section, source, target)})
