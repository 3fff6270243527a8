"""Word alignment of two text files: by aligners trained on them, by saved aligners, or by a translation model."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_directory, output_file, read_lines, scratch_directory, write_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.adaptation.align_text import Points, TextAligner, paired, pharaoh
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Tokenization
from phrasebeam.lm.text.corpus import Words, split
from phrasebeam.training.aligned_text.gold_alignment import AlignmentErrors, GoldAlignment
from phrasebeam.training.aligned_text.lexicon import LexiconFormat, write_lexicons
from phrasebeam.training.aligned_text.saved_aligner import (
    AlignerDescription,
    open_aligner,
    raw_text_of,
    save_description,
)
from phrasebeam.training.bitext.parallel_text import Bitext, TextSide, read_bitext
from phrasebeam.training.model_building.preprocessing import preprocessed
from phrasebeam.training.word_alignment.alignment import KeptModels, ScoredAlignments, align_and_keep
from phrasebeam.training.word_alignment.alignment_settings import AlignmentConfig, Symmetrization


@dataclass(frozen=True)
class AlignmentTask:
    """Inputs and outputs of an alignment."""

    source: Path
    target: Path
    output: Path | None = None  # None: the lines are returned
    scores: Path | None = None
    lexicons: list[Path] = field(default_factory=list)
    lexicon_format: LexiconFormat = "moses"
    gold: GoldAlignment | None = None
    threads: int = 1

    @property
    def inputs(self) -> list[Path]:
        """The files that are read."""
        return [self.source, self.target, *([self.gold.path] if self.gold else [])]


class AlignedFiles(NamedTuple):
    """Counts of sentence pairs and links, and errors against manual alignments."""

    sentence_pairs: int
    links: int
    errors: AlignmentErrors | None  # None without manual alignments
    lines: list[str]  # the alignments in Pharaoh's format (0-0 1-2); empty if they were written to a file


def train_and_align(
    task: AlignmentTask, settings: AlignmentConfig, raw: RawTextSettings | None = None, save: Path | None = None
) -> AlignedFiles:
    """Train aligners on the text, align it, and write the outputs of the task.

    `raw`: how raw text becomes tokens (None: the text is tokenized); `save`: the directory to which the aligners are
    saved, if any. Raises SmtError or OSError, and then leaves all files and directories as they were.
    """
    with ExitStack() as stack:
        directory = stack.enter_context(atomic_directory(save) if save else scratch_directory())
        texts = stack.enter_context(_tokenized(task, raw, directory))
        with stage("reading the bitext"):
            bitext = read_bitext(texts[0], texts[1])
        _check_gold(task, bitext)
        kept = KeptModels(saved=directory if save else None, is_scored=task.scores is not None)
        found = align_and_keep(bitext.source, bitext.target, settings, task.threads, kept)
        if save:
            save_description(directory, bitext, AlignerDescription(alignment=settings, preprocessing=raw))
        return _written(task, bitext, found)


def _tokenized(
    task: AlignmentTask, raw: RawTextSettings | None, directory: Path
) -> AbstractContextManager[Sequence[Path]]:
    if raw is None:
        return nullcontext((task.source, task.target))
    return preprocessed((task.source, task.target), raw, directory, task.threads)


def align_by_saved(task: AlignmentTask, directory: Path, symmetrization: Symmetrization | None) -> AlignedFiles:
    """Align with the saved aligner in `directory`. Raises SmtError or OSError.

    `symmetrization`: None: that of the aligner.
    """
    description, vocabularies = open_aligner(directory)
    settings = description.alignment
    if symmetrization:
        settings = settings.model_copy(update={"symmetrization": symmetrization})
    with stage("reading the bitext"):
        source, target = map(TextSide, vocabularies, _line_words(description, directory))
        bitext = read_bitext(task.source, task.target, (source, target))
    _check_gold(task, bitext)
    kept = KeptModels(learned=directory, is_scored=task.scores is not None)
    return _written(task, bitext, align_and_keep(bitext.source, bitext.target, settings, task.threads, kept))


def _line_words(description: AlignerDescription, directory: Path) -> tuple[Words, Words]:
    """The functions that split lines of the source and the target into tokens."""
    if description.preprocessing is None:
        return split, split
    text = raw_text_of(directory)
    return lambda line: split(text.source.line(line)), lambda line: split(text.target.line(line))


def align_by_model(task: AlignmentTask, aligner: TextAligner, tokenization: Tokenization = TOKENIZED) -> AlignedFiles:
    """Align with the aligner of a translation model. `tokenization` makes tokens of the text, as in this model.

    Raises SmtError or OSError.
    """
    lengths: list[tuple[int, int]] = []
    source = map(tokenization.before, read_lines(task.source))
    target = map(tokenization.target, read_lines(task.target))

    def counted() -> Iterator[tuple[str, str]]:
        for pair in paired(source, target, (task.source, task.target)):
            lengths.append((len(split(pair[0])), len(split(pair[1]))))
            yield pair

    def checked(alignments: Iterable[Points]) -> Iterator[Points]:
        yield from alignments
        if task.gold:
            n_source, n_target = zip(*lengths) if lengths else ((), ())
            task.gold.check(n_source, n_target)

    with closing(aligner.align_all(counted(), task.threads)) as alignments:
        return _write_lines(task, checked(alignments))


def _check_gold(task: AlignmentTask, bitext: Bitext) -> None:
    if task.gold:
        n_source, n_target = (np.diff(corpus.offsets).tolist() for corpus in (bitext.source, bitext.target))
        task.gold.check(n_source, n_target)


def _written(task: AlignmentTask, bitext: Bitext, found: ScoredAlignments) -> AlignedFiles:
    """Write scores, lexicons, and last the alignments."""
    alignments = found.alignments
    if task.scores and found.scores is not None:
        write_lines(task.scores, (f"{score:.6f}" for score in found.scores.tolist()))
    if task.lexicons:
        with stage("writing lexicons"):
            write_lexicons(task.lexicons, task.lexicon_format, bitext, alignments)
    n_pairs = alignments.offsets.size - 1
    return _write_lines(task, (tuple(map(tuple, alignments.pair(i).tolist())) for i in range(n_pairs)))


def _write_lines(task: AlignmentTask, alignments: Iterable[Points]) -> AlignedFiles:
    """Write the alignments, one a line, or return them if there is no output file. Count pairs, links and errors."""
    lines, n_pairs, n_links = list[str](), 0, 0
    judged: dict[int, Points] = {}
    with (
        nullcontext(None) if task.output is None else output_file(task.output) as file,
        stage("aligning", unit="sentence pairs") as advance,
    ):
        for points in alignments:
            if file is None:
                lines.append(pharaoh(points))
            else:
                file.write(f"{pharaoh(points)}\n".encode("ascii"))
            if task.gold and n_pairs in task.gold.links:
                judged[n_pairs] = points
            n_pairs, n_links = n_pairs + 1, n_links + len(points)
            advance(1)
    return AlignedFiles(n_pairs, n_links, task.gold.errors(judged) if task.gold else None, lines)
