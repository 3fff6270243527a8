"""One direction of word alignment, by the aligners of Thot, in a process of its own.

Thot keeps Python's global lock, so that two directions at once need two processes. The job comes through standard
input (a line of JSON, then the arrays), one byte for every pass and then the links leave through standard output:
nothing is left behind, however the process ends.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

import numpy as np
from thot import alignment as thot

UNLINKED = -1  # in links: a target word that no source word explains

MODELS: dict[str, Callable[..., thot.AlignmentModel]] = {
    "ibm1": thot.Ibm1AlignmentModel,
    "hmm": thot.HmmAlignmentModel,
    "ibm3": thot.Ibm3AlignmentModel,
    "ibm4": thot.Ibm4AlignmentModel,
    "fast_align": thot.FastAlignModel,
    "eflomal": thot.EflomalAlignmentModel,
}


class Job(NamedTuple):
    """What one process does."""

    stages: list[tuple[str, list[int]]]  # models, each initialised from the one before, and their passes
    seed: int
    samplers: int
    n_pairs: int
    n_source: int  # words
    n_target: int

    @property
    def n_passes(self) -> int:
        """Passes over the bitext, of all models."""
        return sum(sum(passes) for _, passes in self.stages)


def length_limit(models: list[str]) -> int:
    """The longest sentence, in words, that all of `models` can align."""
    return min(MODELS[model]().max_sentence_length for model in models)


def links_of(
    job: Job, source: list[list[str]], target: list[list[str]], advance: Callable[[], object]
) -> list[list[int]]:
    """For each pair, for each target word, its source position or UNLINKED; `advance` is called after every pass."""
    used = [i for i in range(len(source)) if source[i] and target[i]]
    model = MODELS[job.stages[0][0]]()
    for i in used:
        model.add_sentence_pair(source[i], target[i])
    for k, (name, passes) in enumerate(job.stages):
        if k > 0:
            model = MODELS[name](model)  # which takes over the pairs, and what was learned of them
        _train(model, job, passes, k == len(job.stages) - 1, advance)
    links = [[UNLINKED] * len(sentence) for sentence in target]
    for n, i in enumerate(used):
        links[i] = [position - 1 for position in model.get_training_alignment(n)[1].to_list()]
    return links


def _train(model: thot.AlignmentModel, job: Job, passes: list[int], last: bool, advance: Callable[[], object]) -> None:
    if isinstance(model, thot.EflomalAlignmentModel):
        model.seed, model.num_samplers = job.seed, job.samplers
        model.set_iterations(*passes)
    model.emit_training_alignments = last
    model.start_training()
    for _ in range(sum(passes)):
        model.train()
        advance()
    model.end_training()


def main() -> None:
    """Serve one job."""
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)  # end silently with the parent, which has something to say
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the libraries print must not mix with the answer

    def advance() -> None:
        answer.write(b".")
        answer.flush()

    request = sys.stdin.buffer
    job = Job(**json.loads(request.readline()))
    source, target = (_read_sentences(request, job.n_pairs, n_words) for n_words in (job.n_source, job.n_target))
    links = links_of(job, source, target, advance)
    answer.write(np.array([link for sentence in links for link in sentence], np.int32).tobytes())
    answer.close()


def _read_sentences(request: BinaryIO, n_sentences: int, n_words: int) -> list[list[str]]:
    offsets = np.frombuffer(request.read(8 * (n_sentences + 1)), np.int64).tolist()
    # Ids stand for the words: Thot gives some words, such as NULL, a meaning of its own. One string an id, not a word.
    ids = np.frombuffer(request.read(4 * n_words), np.int32)
    names = [str(i) for i in range(int(ids.max(initial=-1)) + 1)]
    words = [names[i] for i in ids.tolist()]
    return [words[offsets[i] : offsets[i + 1]] for i in range(n_sentences)]


if __name__ == "__main__":
    main()
