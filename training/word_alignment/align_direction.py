"""One direction of word alignment with the aligners of Thot, run as a separate process.

Thot holds Python's global interpreter lock, so that two directions in parallel need two processes. The job is read from
standard input (a line of JSON, then the arrays); a byte after every pass and finally the links are written to standard
output. There are no temporary files, so none remain however the process ends.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

import numpy as np
from thot import alignment as thot

UNLINKED = -1  # source position of a target word that is aligned to no source word

MODELS: dict[str, Callable[..., thot.AlignmentModel]] = {
    "ibm1": thot.Ibm1AlignmentModel,
    "hmm": thot.HmmAlignmentModel,
    "ibm3": thot.Ibm3AlignmentModel,
    "ibm4": thot.Ibm4AlignmentModel,
    "fast_align": thot.FastAlignModel,
    "eflomal": thot.EflomalAlignmentModel,
}


class AlignmentJob(NamedTuple):
    """The work of one process."""

    stages: list[tuple[str, list[int]]]  # models, each initialised from the previous one, and their passes
    seed: int  # of eflomal
    samplers: int  # of eflomal
    n_pairs: int  # sentence pairs
    n_source: int  # source words
    n_target: int  # target words

    @property
    def n_passes(self) -> int:
        """Passes over the bitext of all models together."""
        return sum(sum(passes) for _, passes in self.stages)


def links_of(
    job: AlignmentJob, source: list[list[str]], target: list[list[str]], advance: Callable[[], object]
) -> list[list[int]]:
    """Source position, or UNLINKED, of each target word of each pair; `advance` is called after every pass."""
    nonempty = [i for i in range(len(source)) if source[i] and target[i]]
    model = MODELS[job.stages[0][0]]()
    for i in nonempty:
        model.add_sentence_pair(source[i], target[i])
    for k, (name, passes) in enumerate(job.stages):
        if k > 0:
            model = MODELS[name](model)  # takes over the sentence pairs and the learned parameters
        _train(model, job, passes, k == len(job.stages) - 1, advance)
    links = [[UNLINKED] * len(sentence) for sentence in target]
    for n, i in enumerate(nonempty):
        links[i] = [position - 1 for position in model.get_training_alignment(n)[1].to_list()]
    return links


def _train(
    model: thot.AlignmentModel, job: AlignmentJob, passes: list[int], is_last: bool, advance: Callable[[], object]
) -> None:
    if isinstance(model, thot.EflomalAlignmentModel):
        model.seed, model.num_samplers = job.seed, job.samplers
        model.set_iterations(*passes)
    model.emit_training_alignments = is_last
    model.start_training()
    for _ in range(sum(passes)):
        model.train()
        advance()
    model.end_training()


def main() -> None:
    """Read one job from standard input, and write its links to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the answer

    def advance() -> None:
        answer.write(b".")
        answer.flush()

    request = sys.stdin.buffer
    job = AlignmentJob(**json.loads(request.readline()))
    source, target = (_read_sentences(request, job.n_pairs, n_words) for n_words in (job.n_source, job.n_target))
    links = links_of(job, source, target, advance)
    answer.write(np.array([link for sentence in links for link in sentence], np.int32).tobytes())
    answer.close()


def _read_sentences(request: BinaryIO, n_sentences: int, n_words: int) -> list[list[str]]:
    """Sentences from their offsets (int64) and word ids (int32)."""
    offsets = np.frombuffer(request.read(8 * (n_sentences + 1)), np.int64).tolist()
    # Ids instead of words, since some words, such as NULL, have a meaning in Thot; one string per id saves memory.
    ids = np.frombuffer(request.read(4 * n_words), np.int32)
    names = [str(i) for i in range(int(ids.max(initial=-1)) + 1)]
    words = [names[i] for i in ids.tolist()]
    return [words[offsets[i] : offsets[i + 1]] for i in range(n_sentences)]


if __name__ == "__main__":
    main()
