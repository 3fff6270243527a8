"""import_moses and export_moses: models in Moses' formats."""

from pathlib import Path
from typing import Annotated, Literal, Unpack

from phrasebeam.api.arguments import File, Force, LanguageOptions, MemoryBound, Model, RawOrTokens, memory_bound
from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import Option, described
from phrasebeam.decoder.input.raw_text_settings import TextLanguages, raw_preprocessing
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.moses import exporting, importing
from phrasebeam.decoder.tables.score_codes import EXACT, ScoreSettings


class ImportOptions(LanguageOptions, total=False):
    """Options about the raw text of the Moses model, and about what the import may use and replace."""

    raw: RawOrTokens
    memory: MemoryBound
    truecaser_source: Annotated[
        File | None, "Moses' truecasing model of the source language, if the text was truecased."
    ]
    truecaser_target: Annotated[File | None, "Moses' truecasing model of the target language."]
    score_bits: Annotated[Literal[8, 32] | None, Option(section=ScoreSettings)]
    lowercase: Annotated[bool, "The training text was lowercased; raw text will be lowercased, too."]
    force: Force


@described()
def import_moses(
    ini: Annotated[File, Option("The model's moses.ini; paths in it may be relative to its folder.", is_bare=True)],
    output: Annotated[File, "Output directory for the model."],
    **options: Unpack[ImportOptions],
) -> ModelDescription:
    """Convert a Moses model; its search limits go to search.yaml of the new model.

    Returns the description in model.yaml; its `settings` list the sections that were left out. Raises SmtError or
    OSError, and then leaves `output` unchanged.

    >>> export_moses("model", "moses")
    >>> import_moses("moses/moses.ini", "imported").settings["left_out"]
    []
    """
    n_bytes, lowercase = memory_option(options["memory"]), options["lowercase"]
    source_language, target_language = options["source_language"], options["target_language"]
    truecaser_source, truecaser_target = options["truecaser_source"], options["truecaser_target"]
    truecasers = (truecaser_source, truecaser_target) if truecaser_source and truecaser_target else None
    if not truecasers and (truecaser_source or truecaser_target):
        raise ConfigError("--truecaser-source and --truecaser-target need each other; give both or neither")
    if truecasers and lowercase:
        raise ConfigError("text is either truecased or lowercased; leave out --lowercase or the truecasers")
    preprocessing, known = None, None
    if options["raw"] is False:
        if truecasers or lowercase:
            raise ConfigError("--no-raw is for tokens, but truecasers and --lowercase are for raw text; leave out one")
        given = {"source_language": source_language, "target_language": target_language}
        known = parse_config({name: one for name, one in given.items() if one}, TextLanguages, "options")
    elif options["raw"] or source_language or target_language or truecasers or lowercase:
        casing = "truecase" if truecasers else "lowercase" if lowercase else "keep"
        languages = {"source_language": source_language, "target_language": target_language}
        preprocessing = raw_preprocessing({"casing": casing}, {name: one for name, one in languages.items() if one})
    force, score_bits = options["force"], options["score_bits"] or EXACT
    with memory_bound(n_bytes):
        return importing.import_moses(ini, output, n_bytes, preprocessing, truecasers, force, known, score_bits)


@described()
def export_moses(
    model: Model,
    output: Annotated[File, "Output directory for the Moses model."],
    *,
    memory: MemoryBound = None,
    force: Force = False,
) -> None:
    """Write a model in Moses' formats: moses.ini, text tables, and language models as KenLM binaries.

    Raises SmtError, also for wrong numbers in the model, and then leaves `output` unchanged.
    """
    with memory_bound(memory_option(memory)):
        exporting.export_moses(Path(model), Path(output), force)
