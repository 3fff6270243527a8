"""align: word alignment of new text by a trained model."""

from pathlib import Path

from phrasebeam.api.arguments import File, check_range
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.adaptation.align_text import HEURISTIC, Heuristic, TextAligner, paired, pharaoh
from phrasebeam.decoder.model.model import open_model


def align(
    model: File, source: File, target: File, output: File, *, heuristic: Heuristic = HEURISTIC, threads: int = 1
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

    Returns how many sentence pairs and links there are. Raises SmtError or OSError.

    >>> align("model", "test.de", "test.en", "test.align")  # doctest: +SKIP
    (50, 312)
    """
    check_range("threads", threads, 1, MOST_THREADS)
    aligner = TextAligner(open_model(model), heuristic)
    pairs = paired(read_lines(Path(source)), read_lines(Path(target)), (source, target))
    n_pairs = n_points = 0
    with atomic_file(Path(output)) as file, stage("aligning", unit="sentence pairs") as advance:
        for points in aligner.align_all(pairs, threads):
            file.write((pharaoh(points) + "\n").encode("ascii"))
            n_pairs, n_points = n_pairs + 1, n_points + len(points)
            advance(1)
    return n_pairs, n_points
