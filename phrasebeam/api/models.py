"""What is done with whole models: check_model, explain, join_features, report; align, by what a model has learned."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, NamedTuple, Unpack

from pydantic import Field

from phrasebeam.api.arguments import (
    AtOnce,
    File,
    Force,
    MemoryBound,
    Model,
    PairOptions,
    SourceOrPairs,
    TargetIfApart,
    memory_bound,
    paths,
)
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, check_keeps_inputs, read_lines
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import Option, described
from phrasebeam.base.progress import stage
from phrasebeam.decoder.adaptation.align_text import HEURISTIC, Heuristic, TextAligner, paired, pharaoh
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.explain import Explanation, fired, heaviest
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.pair_files import reads_pairs
from phrasebeam.training.joining import joined_model
from phrasebeam.training.report.run_files import find_training
from phrasebeam.training.report.training_report import training_report


class Explained(NamedTuple):
    """Sparse features of a model, or those that fired in a translation."""

    features: list[Explanation]  # those that matter most first
    translation: Translation | None = None  # of the source sentence that was given
    n_fired: int = 0  # features that fired in it


@described()
def check_model(
    model: Annotated[File, Option("Model directory, as train-model or import-moses writes it.", is_bare=True)],
    *,
    accept: Annotated[bool, "Take changed files as right: write their digests to model.yaml."] = False,
    memory: MemoryBound = None,
) -> list[str]:
    """Read all of a model and report what is damaged: a line each of file, position, value, what was expected.

    Returns nothing where the model is sound. Raises SmtError where it cannot be opened.

    >>> check_model("model")
    []
    """
    with memory_bound(memory_option(memory)):
        found = list(findings(model, is_verified=not accept))
        if accept and not found:
            accept_files(Path(model))
        return found


@described()
def explain(
    model: Annotated[File, "Model directory with sparse features."],
    *,
    top: Annotated[int, Field(ge=1, le=MOST_COUNTED), "Number of features of each group, or of the translation."] = 50,
    source: Annotated[str | None, "A tokenized sentence: show what fired in its translation instead."] = None,
) -> Explained:
    """List the heaviest sparse features of a model by group, or those that fired in a translation.

    Raises ConfigError where the model has no sparse features, SmtError where it cannot be opened.

    >>> explained = explain("model-with-features", top=3, source="der hund schläft .")
    >>> len(explained.features)
    3
    """
    decoder = Decoder.load(model)
    if not decoder.tables.sparse.active.any():
        raise ConfigError(f"{model}: no sparse features to explain; train-maxforce learns some")
    if source is None:
        return Explained(list(heaviest(decoder, Path(model), top)))
    translation, found = fired(decoder, source)
    return Explained(found[:top], translation, len(found))


@described()
def join_features(
    model: Annotated[File, "Model directory, as train-expected-bleu writes it, say."],
    features: Annotated[
        File, "Model whose sparse features it gets, of train-maxforce, train-ranking or tune with method online."
    ],
    output: Annotated[File, "Directory of the model with both."],
    *,
    force: Force = False,
) -> None:
    """Give a model the sparse features of another: what two trainings learned, to be tuned together.

    Raises SmtError, see phrasebeam.training.joining.

    >>> join_features("model", "model-with-features", "both")
    >>> explain("both", top=1).features == explain("model-with-features", top=1).features
    True
    """
    joined_model.join_features(Path(model), Path(features), Path(output), force)


@described()
def report(
    run: Annotated[
        File, Option("What tune, train or a train- command wrote to its output, be it done or not.", is_bare=True)
    ],
    output: Annotated[File, "File for the page, .html."],
    *,
    memory: MemoryBound = None,
) -> None:
    """Tell of a training as one page: curves, settings, weights, translations that changed.

    The page needs no other file and no server.

    Raises SmtError or OSError.

    >>> report("model-with-features", "report.html")
    """
    with memory_bound(memory_option(memory)):
        page = training_report(find_training(Path(run)))
        with atomic_file(Path(output)) as file:
            file.write(page)


@described()
@reads_pairs(("source", "target"))
def align(
    model: Model,
    source: SourceOrPairs,
    target: TargetIfApart,
    output: Annotated[File, "File for the word alignments, 0-0 1-2 (Pharaoh's format)."],
    *,
    heuristic: Annotated[Heuristic, "How the alignments of both directions are combined."] = HEURISTIC,
    threads: AtOnce = 1,
    memory: MemoryBound = None,
    **columns: Unpack[PairOptions],
) -> tuple[int, int]:
    """Align the words of new sentence pairs by what a model has learned, in both directions, which are combined.

    TextAligner does so with sentences in place of files.

    Returns how many sentence pairs and links there are. Raises SmtError or OSError.

    >>> n_pairs, n_links = align("model", "dev.de", "dev.en", "dev.align")
    >>> n_pairs
    20
    """
    sides = Path(source), paths(target)[0]
    check_keeps_inputs([output], [*sides, *model_paths(Path(model))])
    with memory_bound(memory_option(memory)):
        aligner = TextAligner(open_model(model), heuristic)
        pairs = paired(read_lines(sides[0]), read_lines(sides[1]), sides)
        n_pairs = n_points = 0
        with (
            atomic_file(Path(output)) as file,
            stage("aligning", unit="sentence pairs") as advance,
            closing(aligner.align_all(pairs, threads)) as alignments,
        ):
            for points in alignments:
                file.write((pharaoh(points) + "\n").encode("ascii"))
                n_pairs, n_points = n_pairs + 1, n_points + len(points)
                advance(1)
    return n_pairs, n_points
