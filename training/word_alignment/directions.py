"""Runs directions of word alignment in parallel, each in a separate process (align_direction.py)."""

import json
import subprocess
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from phrasebeam.base.errors import SmtError
from phrasebeam.base.progress import Advance
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.process.children import module_command, start
from phrasebeam.training.word_alignment.align_direction import AlignmentJob


class AlignmentDirection(NamedTuple):
    """One direction of alignment, which links each word of `target` to at most one word of `source`."""

    job: AlignmentJob
    source: Corpus  # N sentences
    target: Corpus  # N sentences


class AlignedDirection(NamedTuple):
    """The result of one direction for N sentence pairs."""

    links: np.ndarray  # int32[target words], position of the linked word in the source sentence, or UNLINKED (-1)
    ln_scores: np.ndarray  # float64[N], ln p(target sentence, links | source sentence); empty unless asked for


def run_directions(
    directions: list[AlignmentDirection], processes: int, cores: int, advance: Advance
) -> list[AlignedDirection]:
    """Run all directions, and return their results.

    Runs `processes` at a time with `cores` threads each. Raises SmtError if one of them fails. All are killed if one
    fails, or after an interrupt.
    """
    running: list[subprocess.Popen[bytes]] = []
    with ThreadPoolExecutor(processes) as pool:
        try:
            futures = [pool.submit(_run, direction, cores, running, advance) for direction in directions]
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.kill()


def _run(
    direction: AlignmentDirection, cores: int, running: list[subprocess.Popen[bytes]], advance: Advance
) -> AlignedDirection:
    module = "phrasebeam.training.word_alignment.align_direction"
    command, environment = module_command(module, OMP_NUM_THREADS=str(cores))
    with start(command, environment) as process:
        running.append(process)
        request, answer = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        with suppress(BrokenPipeError), request:  # if the process has failed, its status is reported below
            for chunk in _request(direction):
                request.write(chunk)
        for _ in range(direction.job.n_passes):
            if answer.read(1):
                advance(1)
        found = answer.read()
        status = process.wait()
    job, n_bytes = direction.job, 4 * direction.target.tokens.size
    if status != 0 or len(found) != n_bytes + (8 * job.n_pairs if job.is_scored else 0):
        mend = "if memory ran out, give it fewer sentence pairs"
        if job.learned:
            mend = f"{Path(job.learned).parent} may be damaged: save it again"
        raise SmtError(f"a word aligner ended with status {status}; {mend}")
    return AlignedDirection(np.frombuffer(found[:n_bytes], np.int32), np.frombuffer(found[n_bytes:], np.float64))


def _request(direction: AlignmentDirection) -> list[bytes]:
    """The input of the process, in chunks."""
    chunks = [json.dumps(direction.job._asdict()).encode("ascii") + b"\n"]
    for corpus in (direction.source, direction.target):
        chunks += [corpus.offsets.astype(np.int64).tobytes(), corpus.tokens.astype(np.int32).tobytes()]
    return chunks
