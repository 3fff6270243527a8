"""align: word alignment of two text files, by aligners trained on them, by saved aligners, or by a model."""

from pathlib import Path
from typing import Annotated, Any, Unpack

from phrasebeam.api.arguments import (
    Config,
    File,
    Files,
    MemoryBound,
    PairOptions,
    RawOrTokens,
    TargetIfApart,
    memory_bound,
    optional_path,
    paths,
)
from phrasebeam.api.trainers.trainer_options import RawSource, TokenizerOptions
from phrasebeam.base.config import Threads
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.decoder.adaptation.align_text import HEURISTIC, TextAligner
from phrasebeam.decoder.extraction.symmetrization import HEURISTICS
from phrasebeam.decoder.input.raw_text_settings import raw_preprocessing
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.training.aligned_text.aligned_files import (
    AlignedFiles,
    AlignmentTask,
    align_by_model,
    align_by_saved,
    train_and_align,
)
from phrasebeam.training.aligned_text.gold_alignment import read_gold
from phrasebeam.training.aligned_text.lexicon import LexiconFormat
from phrasebeam.training.aligned_text.saved_aligner import check_saveable, is_saved_aligner
from phrasebeam.training.bitext.pair_files import reads_pairs
from phrasebeam.training.word_alignment.alignment_settings import Aligner, AlignmentConfig, Symmetrization

OF_RAW = ("source_language", "target_language", "source_tokenizer", "target_tokenizer")
OF_TRAINING = ("aligner", "seed", "config", *OF_RAW, "save", "force")
OF_ALIGNERS = ("scores", "lexicon")  # options for aligners that are trained here or were saved, not for models


class AlignOptions(TokenizerOptions, PairOptions, total=False):
    """The aligner, and the output files."""

    raw: RawOrTokens
    model: Annotated[
        File | None,
        Option(
            "Aligner to use: a directory that `save` wrote, or a translation model.",
            unset="train an aligner on the text",
        ),
    ]
    output: Annotated[
        File | None,
        Option("Output file for the alignments, 0-0 1-2 (Pharaoh's format); - for standard output.", unset="returned"),
    ]
    aligner: Annotated[Aligner | None, Option(section=AlignmentConfig)]
    heuristic: Annotated[Symmetrization | None, Option(setting="symmetrization")]
    seed: int | None
    save: Annotated[
        File | None, "Output directory for the trained aligners of both directions, to align more text later."
    ]
    scores: Annotated[
        File | None,
        "Output file for a score of each sentence pair: log probability per word, the mean of both "
        "directions; higher is better.",
    ]
    lexicon: Annotated[
        Files | None,
        "One or two output files for word translation probabilities: p(source | target) if the name ends in .e2f or "
        ".t2s (before .gz or .zst), else p(target | source).",
    ]
    lexicon_format: Annotated[LexiconFormat | None, Option("Format of `lexicon`.", unset="moses")]
    gold: Annotated[
        File | None,
        "Gold alignments in Pharaoh's format (0-0 1?2) or the NAACL format; prints the alignment error rate.",
    ]
    config: Config
    force: Annotated[bool, "Replace the aligner in `save`."]
    memory: MemoryBound


@described(AlignmentConfig)
@reads_pairs(("source", "target"))
def align(
    source: RawSource,
    target: TargetIfApart,
    *,
    threads: Annotated[Threads, "Number of threads, or of sentences that are processed at the same time."] = 2,
    **options: Unpack[AlignOptions],
) -> AlignedFiles:
    """Align the words of sentence pairs: in both directions, whose alignments are then combined.

    Aligners are trained on the text itself, unless a model is given. TextAligner aligns sentences by a translation
    model.

    Returns the numbers of sentence pairs and links, the alignments, and their error rate. Raises SmtError or OSError.

    >>> aligned = align("dev.de", "dev.en", save="aligner")
    >>> aligned.sentence_pairs, len(aligned.lines)
    (20, 20)
    >>> align("dev.de", "dev.en", model="model", output="dev.align").lines
    []
    """
    model, save = optional_path(options["model"]), optional_path(options["save"])
    by_model = model is not None and not is_saved_aligner(model)
    heuristic: Any = options["heuristic"] or HEURISTIC
    _check(options, model, by_model)
    settings = settings_of(align, AlignmentConfig, options)
    raw = raw_preprocessing({}, _of_raw(options)) if options["raw"] else None
    if save:
        check_saveable(save, options["force"])
    gold, output = options["gold"], optional_path(options["output"])
    with memory_bound(memory_option(options["memory"])):
        task = AlignmentTask(
            *(Path(source), paths(target)[0], output, optional_path(options["scores"]), paths(options["lexicon"])),
            options["lexicon_format"] or "moses",
            read_gold(Path(gold)) if gold else None,
            threads,
        )
        check_keeps_inputs([output, save, task.scores, *task.lexicons], [*task.inputs, *_files_of(model)])
        if model is None:
            return train_and_align(task, settings, raw, save)
        if by_model:
            tokenization = Tokenization.of_model(model, options["raw"])
            return align_by_model(task, TextAligner(open_model(model), heuristic), tokenization)
        return align_by_saved(task, model, options["heuristic"])


def _check(options: Any, model: Path | None, by_model: bool) -> None:
    """Raise ConfigError if options need or exclude each other."""
    if model is not None:
        kind = "a translation model" if by_model else "a saved aligner"
        for name in (*OF_TRAINING, *(OF_ALIGNERS if by_model else ("raw",))):
            if options[name] not in (None, False):
                use = "only for aligners" if name in OF_ALIGNERS else "only for training"
                raise ConfigError(f"{_option(name)} is {use}, and {model} is {kind}; leave out one of the two")
    if by_model and options["heuristic"] not in (None, *HEURISTICS):
        known = ", ".join(HEURISTICS)
        raise ConfigError(f"--heuristic {options['heuristic']} is only for aligners; with a translation model, {known}")
    given = list(_of_raw(options))
    if given and not options["raw"]:
        raise ConfigError(f"{_option(given[0])} is for raw text; give --raw, too")
    if options["lexicon_format"] and not options["lexicon"]:
        raise ConfigError("--lexicon-format needs --lexicon; give both, or leave it out")


def _of_raw(options: Any) -> dict[str, str]:
    """The options about raw text that are given."""
    return {name: options[name] for name in OF_RAW if options[name]}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _files_of(model: Path | None) -> list[Path]:
    if model is None:
        return []
    return list(model.iterdir()) if is_saved_aligner(model) else model_paths(model)
