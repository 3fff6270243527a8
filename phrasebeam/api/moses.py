"""import_moses and export_moses: models in Moses' formats."""

from pathlib import Path

from phrasebeam.api.arguments import File, Memory, memory_bound
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.decoder.input.raw_text_settings import raw_preprocessing
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.moses import exporting, importing


@checked
def import_moses(
    ini: File,
    output: File,
    *,
    memory: Memory | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    truecaser_source: File | None = None,
    truecaser_target: File | None = None,
    lowercase: bool = False,
    force: bool = False,
) -> ModelDescription:
    """Convert a Moses model; search.yaml in the new one takes its limits of the search, by which Decoder searches.

    Args:
        ini: The model's moses.ini; paths in it may be relative to its folder.
        output: Directory for the model.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        source_language: Of raw text that is to be translated: "de", "en" ...
        target_language: Of raw text.
        truecaser_source: File of Moses' truecaser, if the text was truecased.
        truecaser_target: That of the target language.
        lowercase: The text was lowercased.
        force: Replace a model of other files that is there.

    Returns what is said of it in its model.yaml; `settings` tells what was left out. Raises SmtError or OSError, and
    then leaves `output` as it was.

    >>> export_moses("model", "moses")
    >>> import_moses("moses/moses.ini", "imported").settings["left_out"]
    []
    """
    n_bytes = memory_option(memory)
    truecasers = (truecaser_source, truecaser_target) if truecaser_source and truecaser_target else None
    if not truecasers and (truecaser_source or truecaser_target):
        raise ConfigError("--truecaser-source and --truecaser-target need each other; give both or neither")
    if truecasers and lowercase:
        raise ConfigError("text is either truecased or lowercased; leave out --lowercase or the truecasers")
    preprocessing = None
    if source_language or target_language or truecasers or lowercase:
        casing = "truecase" if truecasers else "lowercase" if lowercase else "keep"
        preprocessing = raw_preprocessing({"casing": casing}, source_language, target_language)
    with memory_bound(n_bytes):
        return importing.import_moses(ini, output, n_bytes, preprocessing, truecasers, force)


@checked
def export_moses(model: File, output: File, *, memory: Memory | None = None, force: bool = False) -> None:
    """Write a model in Moses' formats: moses.ini, text tables, and language models as KenLM binaries.

    Args:
        model: Model directory, as train_model or import_moses writes it.
        output: Directory for the Moses model.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        force: Replace an export of another model that is there.

    Raises SmtError, also for numbers of the model that are wrong, and then leaves `output` as it was.
    """
    with memory_bound(memory_option(memory)):
        exporting.export_moses(Path(model), Path(output), force)
