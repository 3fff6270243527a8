"""Options of translate, in groups; checks of which options need or exclude each other; the settings from options."""

import math
from pathlib import Path
from typing import Annotated, Any, TypedDict

from pydantic import Field

from phrasebeam.api.arguments import (
    Config,
    EngineOptions,
    File,
    Files,
    MemoryBound,
    PairOptions,
    RawOrTokens,
    optional_path,
    paths,
)
from phrasebeam.base.config import config_with_options
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.options import Option, heading
from phrasebeam.decoder.documents.file_formats import named_format
from phrasebeam.decoder.input.input_settings import InputFormat, Markup, Oov
from phrasebeam.decoder.input.sentence_input import LEAVE_ONE_OUT, LeaveOneOut
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.output.lattice_rendering import LatticeFormat
from phrasebeam.decoder.output.mbr import Gain, MbrSettings
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.decoder.translate.translate_settings import TranslateSettings, overridden, translate_settings

MOST_DERIVATIONS = 100_000  # of a sentence; each takes some kB of memory


@heading("Input")
class InputOptions(TypedDict, total=False):
    """Options of reading sentences."""

    input: Annotated[
        File | None,
        Option(
            "File of sentences, plain, .gz or .zst; or a document (TSV, PO or XLIFF) whose empty "
            "segments are translated.",
            unset="standard input",
        ),
    ]
    input_format: Annotated[InputFormat | None, Option(setting="input.format")]
    input_weight: Annotated[
        float | None,
        Option(
            "Weight of the feature input_score: the log scores of a lattice's arcs.",
            unset="input_score in the model's weights",
        ),
    ]
    markup: Annotated[Markup | None, Option(setting="input.markup")]
    oov: Annotated[Oov | None, Option(setting="input.oov")]
    prefix: Annotated[File | None, "File of prefixes: each translation begins with the corresponding line."]
    terms: Annotated[File | None, "Term base (CSV, TSV or TBX) with translations of terms, which are always used."]
    partial_word: Annotated[bool, "The last word of a prefix may be incomplete, unless a space follows it."]
    paragraphs: Annotated[
        bool, "Split each line of raw text into sentences, translate each sentence, and keep the white space."
    ]


@heading("Output")
class OutputOptions(TypedDict, total=False):
    """Where translations are written, and the further fields of a line."""

    output: Annotated[
        File | None,
        Option(
            "Output file for the translations, compressed if named .gz or .zst; - for standard output.",
            unset="returned",
        ),
    ]
    alignment: Annotated[bool, "Append the word alignment: 0-0 1-2."]
    segmentation: Annotated[bool, "After each phrase, write the positions of its source words: |3-4|."]
    scores: Annotated[bool, "Append ' ||| ', the feature values, ' ||| ' and the model score."]
    confidence: Annotated[
        bool,
        "Append ' ||| ' and the probability of each word; with a normalizer and one word per line, "
        "append a tab and the probability.",
    ]


@heading("N-best lists")
class NbestOptions(TypedDict, total=False):
    """Options of n-best lists."""

    nbest: Annotated[
        int | None, Field(ge=1, le=MOST_DERIVATIONS), "Number of derivations per sentence in `nbest_output`."
    ]
    nbest_output: Annotated[
        File | None,
        "Output file for n-best lists in Moses' format: 0 ||| text ||| features ||| score. With -, they"
        " are printed instead of translations.",
    ]
    distinct: Annotated[bool, "Write only the best derivation of each distinct translation to `nbest_output`."]
    moses_names: Annotated[bool, "Use the names and the order of features of Moses' n-best lists."]
    sparse_features: Annotated[
        bool,
        "Also write the value of each sparse feature, often thousands for each derivation; without this option, only "
        "the weighted sum of each group.",
    ]


@heading("Minimum Bayes risk")
class MbrOptions(TypedDict, total=False):
    """Choosing translations by expected BLEU or chrF++."""

    mbr: Annotated[
        bool | None,
        Option("Minimum Bayes risk: choose the translation with the largest expected gain.", unset="the model's"),
    ]
    mbr_size: Annotated[int | None, Option(setting="mbr.size")]
    mbr_scale: Annotated[float | None, Option(setting="mbr.scale")]
    mbr_gain: Annotated[Gain | None, Option(setting="mbr.gain")]


@heading("Lattices")
class LatticeOptions(TypedDict, total=False):
    """Options of lattice outputs."""

    lattice_output: Annotated[
        File | None,
        "Output file for the lattice of each sentence: all hypotheses that the search kept. With -, "
        "they are printed instead of translations.",
    ]
    lattice_format: Annotated[
        LatticeFormat | None,
        Option("osg: Moses' search graph; dot: a drawing for Graphviz.", unset="osg"),
    ]
    lattice_beam: Annotated[
        float | None, Field(ge=0), "Prune lattices to derivations that score at most this much below the best."
    ]


@heading("Search")
class SearchOptions(TypedDict, total=False):
    """Limits of the search."""

    algorithm: Annotated[Algorithm | None, Option(setting="search.algorithm")]
    pop_limit: Annotated[int | None, Option(setting="search.pop_limit")]
    stack: Annotated[int | None, Option(setting="search.stack")]
    beam_threshold: Annotated[float | None, Option(setting="search.beam_threshold")]
    no_future_cost: Annotated[bool, "Compare the hypotheses of a stack without future cost."]
    distortion_limit: Annotated[int | None, Option(setting="search.distortion_limit")]
    table_limit: Annotated[int | None, Option(setting="search.table_limit")]


@heading("Training data as input")
class TrainingInputOptions(TypedDict, total=False):
    """Options for input on which the model was trained."""

    leave_one_out: Annotated[LeaveOneOut | None, LEAVE_ONE_OUT]
    reference: Annotated[File | None, "File of reference translations of the sentences."]
    word_alignment: Annotated[
        File | None, "File of the word alignments of the sentences, 0-0 1-2, from which the model was trained."
    ]


@heading("Learning from confirmed translations")
class AdaptationOptions(TypedDict, total=False):
    """Confirmed translations and translation memories."""

    adapt: Annotated[
        File | None, "File of confirmed translations: the model learns each of them before it translates the next line."
    ]
    adapt_journal: Annotated[
        File | None,
        "File that stores the confirmed segments of this and earlier runs; without `adapt` only its segments are used.",
    ]
    tm: Annotated[
        Files | None,
        "Translation memories (TMX, TSV, PO, XLIFF): use translations of equal segments, and pieces of "
        "those of similar segments.",
    ]
    similarity: Annotated[float | None, Option(setting="adaptation.similarity")]


class TranslateOptions(
    EngineOptions,
    InputOptions,
    OutputOptions,
    NbestOptions,
    MbrOptions,
    LatticeOptions,
    SearchOptions,
    TrainingInputOptions,
    AdaptationOptions,
    PairOptions,
    total=False,
):
    """All groups above, and options that belong to none of them."""

    config: Config
    memory: MemoryBound
    raw: RawOrTokens


def check_arguments(model: Path, threads: int, given: TranslateOptions) -> None:
    """Raise ConfigError if arguments need or exclude each other."""
    nbest, has_output = given["nbest"], given["nbest_output"] is not None
    has_features = nbest is not None or given["scores"]
    training = [given["leave_one_out"] is None, given["reference"] is None, given["word_alignment"] is None]
    learns, is_training = is_adapted(given), not all(training)
    needs = {
        "--nbest and --nbest-output need each other, --distinct needs both; give them together": (
            (nbest is None) == has_output or (given["distinct"] and nbest is None)
        ),
        "--moses-names needs --nbest or --scores; give one": given["moses_names"] and not has_features,
        "--sparse-features needs --nbest or --scores; give one": given["sparse_features"] and not has_features,
        "--lattice-format and --lattice-beam need --lattice-output; give it as well": (
            given["lattice_output"] is None
            and (given["lattice_format"] is not None or given["lattice_beam"] is not None)
        ),
        f"--input-weight {given['input_weight']}: expected a finite number": (
            not math.isfinite(given["input_weight"] or 0.0)
        ),
        "--partial-word needs --prefix; give it as well": given["partial_word"] and given["prefix"] is None,
        "--leave-one-out, --reference and --word-alignment need each other; give all three": len({*training}) > 1,
    }
    _refuse(needs)
    config = given["config"] if isinstance(given["config"], str | Path) else None
    files = [given["input"], given["prefix"], given["reference"], given["word_alignment"], config]
    files += [given["adapt"], given["adapt_journal"], given["terms"], *paths(given["tm"]), *model_paths(model)]
    check_keeps_inputs([given["output"], given["nbest_output"], given["lattice_output"]], files)
    excluded = {
        "--adapt translates one line after the other; leave out --threads": (
            given["adapt"] is not None and threads > 1
        ),
        "--adapt, --adapt-journal and --tm work only in this process; leave out --engine": (
            learns and given["engine"] != "local"
        ),
        "--leave-one-out is for training data; leave out --adapt, --adapt-journal and --tm": learns and is_training,
        "--similarity needs --tm, --adapt or --adapt-journal; give one of them": (
            given["similarity"] is not None and not learns
        ),
    }
    _refuse(excluded)


def check_paragraphs(given: TranslateOptions, is_raw: bool) -> None:
    """Raise ConfigError if lines cannot consist of several sentences."""
    option = of_tokens(given)
    conflicts = {
        "--paragraphs is for plain text; leave it out for documents": is_document(optional_path(given["input"])),
        "--paragraphs is for raw text, which the model or --no-raw excludes; leave it out": not is_raw,
        f"{option} is for single sentences; leave it out, or --paragraphs": option != "",
    }
    _refuse(conflicts if given["paragraphs"] else {})


def _refuse(conflicts: dict[str, bool]) -> None:
    """Raise ConfigError with the first message whose condition holds."""
    for message, is_wrong in conflicts.items():
        if is_wrong:
            raise ConfigError(message)


def is_document(path: Path | None) -> bool:
    """Whether a file name is that of a format for translators; plain text is none."""
    return path is not None and named_format(path) is not None


def of_tokens(given: TranslateOptions) -> str:
    """The first given option that does not work for segments of documents, or ""."""
    names = "nbest", "lattice_output", "alignment", "segmentation", "scores", "confidence", "prefix", "leave_one_out"
    found = [name for name in (*names, "adapt") if given[name]]  # type: ignore[literal-required]
    found += ["markup"] if given["markup"] not in (None, "pass-through") else []
    found += ["input_format"] if given["input_format"] not in (None, "text") else []
    return f"--{found[0].replace('_', '-')}" if found else ""


def refused_by_normalizers(given: TranslateOptions) -> str:
    """The first given option that normalizers do not support, or ""."""
    known = "input", "output", "confidence", "memory", "engine", "address", "workers"
    found = [name for name, value in given.items() if name not in known and value not in (None, False)]
    return f"--{found[0].replace('_', '-')}" if found else ""


def is_adapted(given: AdaptationOptions) -> bool:
    """Whether confirmed translations or translation memories are used."""
    return any(given[name] is not None for name in ("adapt", "adapt_journal", "tm"))


def translate_settings_of(model: Path, options: TranslateOptions, given: dict[str, Any]) -> TranslateSettings:
    """The settings of the model, replaced by those of the configuration, and these by the settings in `given`."""
    risk = given.pop("mbr", {})
    if options["no_future_cost"]:
        given["search"] = {**given.get("search", {}), "future_cost": False}
    settings = config_with_options(translate_settings(model, options["config"]), TranslateSettings, given)
    return settings.model_copy(update={"mbr": _mbr(settings.mbr, options["mbr"], risk)})


def _mbr(section: MbrSettings | None, is_on: bool | None, given: dict[str, Any]) -> MbrSettings | None:
    if is_on is False or (section is None and not is_on):
        if given:
            raise ConfigError(
                "--mbr-size, --mbr-scale and --mbr-gain need --mbr, or 'mbr' in --config or the model; give one"
            )
        return None
    return overridden(section or MbrSettings(), given, "options of --mbr")
