"""What is done with whole models: check_model, explain, join_features, report; align, by what a model has learned."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from phrasebeam.api.arguments import File, Memory, check_range, memory_bound
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import MOST_COUNTED, MOST_THREADS
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, check_keeps_inputs, read_lines
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.progress import stage
from phrasebeam.decoder.adaptation.align_text import HEURISTIC, Heuristic, TextAligner, paired, pharaoh
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.explain import Explanation, fired, heaviest
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.joining import joined_model
from phrasebeam.training.report.run_files import find_training
from phrasebeam.training.report.training_report import training_report


class Explained(NamedTuple):
    """Sparse features of a model, or those that fired in a translation."""

    features: list[Explanation]  # those that matter most first
    translation: Translation | None = None  # of the source sentence that was given
    n_fired: int = 0  # features that fired in it


@checked
def check_model(model: File, *, accept: bool = False, memory: Memory | None = None) -> list[str]:
    """Read all of a model and say what is damaged: a line each of file, position, value, what was expected.

    Args:
        model: Model directory, as train_model writes it.
        accept: Take changed files as right: their digests are written to model.yaml where nothing is damaged.
        memory: Bytes that may be held in memory, such as "2G" (the default).

    Returns nothing where the model is sound. Raises SmtError where it cannot be opened.

    >>> check_model("model")
    []
    """
    with memory_bound(memory_option(memory)):
        found = list(findings(model, is_verified=not accept))
        if accept and not found:
            accept_files(Path(model))
        return found


@checked
def explain(model: File, *, top: int = 50, source: str | None = None) -> Explained:
    """The heaviest sparse features of a model by group, or those that fired in a translation.

    Args:
        model: Model directory with sparse features.
        top: Features of each group, or of the translation.
        source: A tokenized sentence: what fired in its translation instead.

    Raises ConfigError where the model has no sparse features, SmtError where it cannot be opened.

    >>> explained = explain("model-with-features", top=3, source="der hund schläft .")
    >>> len(explained.features)
    3
    """
    check_range("top", top, 1, MOST_COUNTED)
    decoder = Decoder.load(model)
    if not decoder.tables.sparse.active.any():
        raise ConfigError(f"{model}: no sparse features to explain; train-maxforce learns some")
    if source is None:
        return Explained(list(heaviest(decoder, Path(model), top)))
    translation, found = fired(decoder, source)
    return Explained(found[:top], translation, len(found))


@checked
def join_features(model: File, features: File, output: File, *, force: bool = False) -> None:
    """Give a model the sparse features of another: what two trainings learned, to be tuned together.

    Args:
        model: Model directory, as train_expected_bleu writes it, say.
        features: The one whose sparse features it gets, of train_maxforce, train_ranking or tune with method online.
        output: Directory of the model with both.
        force: Replace the model that is there.

    Raises SmtError, see phrasebeam.training.joining.

    >>> join_features("model", "model-with-features", "both")
    >>> explain("both", top=1).features == explain("model-with-features", top=1).features
    True
    """
    joined_model.join_features(Path(model), Path(features), Path(output), force)


@checked
def report(run: File, output: File, *, memory: Memory | None = None) -> None:
    """Tell of a training as one page of HTML, which needs no other file and no server.

    Args:
        run: What tune, train or a train_ function wrote to its output, be the training done or not.
        output: File for the page.
        memory: Bytes that may be held in memory, such as "2G" (the default).

    It has the curves of all iterations, settings, weights, the heaviest sparse features, and the translations of the
    development set that changed from iteration to iteration. Raises SmtError or OSError.

    >>> report("model-with-features", "report.html")
    """
    with memory_bound(memory_option(memory)):
        page = training_report(find_training(Path(run)))
        with atomic_file(Path(output)) as file:
            file.write(page)


@checked
def align(
    model: File,
    source: File,
    target: File,
    output: File,
    *,
    heuristic: Heuristic = HEURISTIC,
    threads: int = 1,
    memory: Memory | None = None,
) -> tuple[int, int]:
    """Align the words of new sentence pairs by what a model has learned, in both directions, which are combined.

    TextAligner does so with sentences in place of files.

    Args:
        model: Model directory, as train_model writes it.
        source: Source sentences, tokenized, one a line.
        target: Their translations, line by line.
        output: File for the word alignments, 0-0 1-2 (Pharaoh's format).
        heuristic: How the alignments of both directions are combined.
        threads: Sentence pairs aligned at the same time.
        memory: Bytes that may be held in memory, such as "2G" (the default).

    Returns how many sentence pairs and links there are. Raises SmtError or OSError.

    >>> n_pairs, n_links = align("model", "dev.de", "dev.en", "dev.align")
    >>> n_pairs
    20
    """
    check_range("threads", threads, 1, MOST_THREADS)
    check_keeps_inputs([output], [source, target, *model_paths(Path(model))])
    with memory_bound(memory_option(memory)):
        aligner = TextAligner(open_model(model), heuristic)
        pairs = paired(read_lines(Path(source)), read_lines(Path(target)), (source, target))
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
