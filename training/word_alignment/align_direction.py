"""One direction of word alignment with the aligners of Thot, run as a separate process.

Thot holds Python's global interpreter lock, so that two directions in parallel need two processes. The process reads
the job from standard input (a line of JSON, then the arrays). It writes a byte to standard output after every pass, and
finally the links and scores. There are no temporary files, so none remain however the process ends.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

import numpy as np
from thot import alignment as thot
from thot.common import WordAlignmentMatrix

UNLINKED = -1  # source position of a target word that is aligned to no source word
DECODED_AT_ONCE = 1000  # sentence pairs whose alignment counts as one pass in progress
# Thot ends with a segmentation fault if it is asked for the training alignments of these models; so they align anew.
WITHOUT_TRAINING_LINKS = ("ibm2",)
CORPUS_FILES = ("src", "trg", "srctrgc", "aligns")  # Thot writes these with a model; to load it, they may be empty

MODELS: dict[str, Callable[..., thot.AlignmentModel]] = {
    "ibm1": thot.Ibm1AlignmentModel,
    "ibm2": thot.Ibm2AlignmentModel,
    "hmm": thot.HmmAlignmentModel,
    "ibm3": thot.Ibm3AlignmentModel,
    "ibm4": thot.Ibm4AlignmentModel,
    "fast_align": thot.FastAlignModel,
    "eflomal": thot.EflomalAlignmentModel,
}


class AlignmentJob(NamedTuple):
    """The work of one process."""

    stages: list[tuple[str, list[int]]]  # models, each initialised from the previous one, and their numbers of passes
    seed: int  # of eflomal
    samplers: int  # of eflomal
    n_pairs: int  # number of sentence pairs
    n_source: int  # number of source words
    n_target: int  # number of target words
    learned: str = ""  # beginning of the paths of an existing model, which is not trained; "": train a model
    saved: str = ""  # beginning of the paths to which the model is written; "": it is not written
    is_scored: bool = False  # whether the pairs get scores

    @property
    def aligns_anew(self) -> bool:
        """Whether the trained model finds the links, rather than training itself."""
        return bool(self.learned) or self.stages[-1][0] in WITHOUT_TRAINING_LINKS

    @property
    def n_passes(self) -> int:
        """Number of passes for progress: passes over the bitext of all models, and those of alignment afterwards."""
        decoded = -(-self.n_pairs // DECODED_AT_ONCE) if self.aligns_anew or self.is_scored else 0
        return sum(sum(passes) for _, passes in self.stages) + decoded


class DirectionAnswer(NamedTuple):
    """The result of a process."""

    links: list[list[int]]  # source position, or UNLINKED, of each target word of each pair
    ln_scores: list[float]  # ln p(target sentence, links | source sentence); empty unless pairs get scores


def answer_of(
    job: AlignmentJob, source: list[list[str]], target: list[list[str]], advance: Callable[[], object]
) -> DirectionAnswer:
    """Compute links and scores of the pairs; `advance` is called after every pass."""
    nonempty = [i for i in range(len(source)) if source[i] and target[i]]
    model = _learned(job) if job.learned else _trained(job, [(source[i], target[i]) for i in nonempty], advance)
    links, ln_scores = [[UNLINKED] * len(sentence) for sentence in target], [0.0] * len(source)
    if not job.aligns_anew:
        for n, i in enumerate(nonempty):
            links[i] = _positions(model.get_training_alignment(n)[1])
    if job.saved:
        _save(model, job.saved)
    if job.aligns_anew or job.is_scored:
        for i in range(len(source)):
            if source[i] and target[i]:
                ln_scores[i], matrix = model.get_best_alignment(source[i], target[i])
                # Thot estimates lengths from the training text, which is not saved with the model.
                ln_scores[i] -= model.sentence_length_log_prob(len(source[i]), len(target[i]))
                if job.aligns_anew:
                    links[i] = _positions(matrix)
            if i % DECODED_AT_ONCE == 0:
                advance()
    return DirectionAnswer(links, ln_scores if job.is_scored else [])


def _positions(matrix: WordAlignmentMatrix) -> list[int]:
    return [position - 1 for position in matrix.to_list()]


def _learned(job: AlignmentJob) -> thot.AlignmentModel:
    """Load the model of an earlier job."""
    model = MODELS[job.stages[-1][0]]()
    if isinstance(model, thot.EflomalAlignmentModel):
        model.seed = job.seed
    if not model.load(job.learned):
        raise OSError(f"{job.learned}: cannot be read")
    return model


def _save(model: thot.AlignmentModel, path: str) -> None:
    if not model.print(path):
        raise OSError(f"{path}: cannot be written")
    for name in CORPUS_FILES:
        open(f"{path}.{name}", "wb").close()


def _trained(
    job: AlignmentJob, pairs: list[tuple[list[str], list[str]]], advance: Callable[[], object]
) -> thot.AlignmentModel:
    model = MODELS[job.stages[0][0]]()
    for pair in pairs:
        model.add_sentence_pair(*pair)
    for k, (name, passes) in enumerate(job.stages):
        if k > 0:
            model = MODELS[name](model)  # gets the sentence pairs and the parameters of the previous model
        _train(model, job, passes, k == len(job.stages) - 1, advance)
    return model


def _train(
    model: thot.AlignmentModel, job: AlignmentJob, passes: list[int], is_last: bool, advance: Callable[[], object]
) -> None:
    if isinstance(model, thot.EflomalAlignmentModel):
        model.seed, model.num_samplers = job.seed, job.samplers
        model.set_iterations(*passes)
    model.emit_training_alignments = is_last and not job.aligns_anew
    model.start_training()
    for _ in range(sum(passes)):
        model.train()
        advance()
    model.end_training()


def main() -> None:
    """Read one job from standard input, and write its links and scores to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that output of libraries does not mix with the answer

    def advance() -> None:
        answer.write(b".")
        answer.flush()

    request = sys.stdin.buffer
    job = AlignmentJob(**json.loads(request.readline()))
    source, target = (_read_sentences(request, job.n_pairs, n_words) for n_words in (job.n_source, job.n_target))
    links, ln_scores = answer_of(job, source, target, advance)
    answer.write(np.array([link for sentence in links for link in sentence], np.int32).tobytes())
    answer.write(np.array(ln_scores, np.float64).tobytes())
    answer.close()


def _read_sentences(request: BinaryIO, n_sentences: int, n_words: int) -> list[list[str]]:
    """Read sentences: their offsets (int64), then word ids (int32)."""
    offsets = np.frombuffer(request.read(8 * (n_sentences + 1)), np.int64).tolist()
    # Ids instead of words, since some words, such as NULL, have a meaning in Thot; one string per id saves memory.
    ids = np.frombuffer(request.read(4 * n_words), np.int32)
    names = [str(i) for i in range(int(ids.max(initial=-1)) + 1)]
    words = [names[i] for i in ids.tolist()]
    return [words[offsets[i] : offsets[i + 1]] for i in range(n_sentences)]


if __name__ == "__main__":
    main()
