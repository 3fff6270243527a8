"""Preprocessing of raw training text, as by Moses' scripts: normalize, tokenize, and truecase or lowercase it."""

import json
import os
import queue
import subprocess
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path

from phrasebeam.base.errors import SmtError, renamed_in_errors
from phrasebeam.base.files import read_lines
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.progress import stage
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.raw_text.sentence_case import SentenceCase
from phrasebeam.decoder.raw_text.truecaser import Truecaser, save_truecaser, truecaser_paths
from phrasebeam.decoder.tokenizers.registry import learn_tokenizers
from phrasebeam.process.children import module_command, start
from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.training.model_building.tokenize_lines import Batch, LineTokenizer, TokenizerJob

BATCH = 1000  # lines


@contextmanager
def preprocessed(raw: Sequence[Path], settings: RawTextSettings, directory: Path, threads: int) -> Iterator[list[Path]]:
    """Preprocess the files `raw` line by line into temporary files, which are deleted when the context ends.

    The first file is the source side. Truecasers are trained on the first two, and saved in `directory`. A FormatError
    raised within the context names the raw files. Raises ConfigError for languages without a tokenizer, FormatError or
    OSError if files cannot be read, SmtError if one of `threads` processes dies.
    """
    scratch = directory / "preprocessed"
    # The temporary files have the names of the raw files, which progress shows; since these may be equal, each file is
    # in a numbered folder.
    outputs = [scratch / str(i) / path.name for i, path in enumerate(raw)]
    with stage("learning to tokenize"):
        learned = learn_tokenizers(settings, (read_lines(raw[0]), read_lines(raw[1])), directory)
    truecasers = list(truecaser_paths(directory)) if settings.casing == "truecase" else []
    for i, path in enumerate(raw):
        outputs[i].parent.mkdir(parents=True)
        side = min(i, 1)
        case = SentenceCase.of(settings.sides[side])
        job = TokenizerJob(settings.model_dump(), side, str(learned[side]), is_counted=i < len(truecasers))
        counts = _tokenize(path, outputs[i], job, case, threads)
        if i < len(truecasers):
            save_truecaser(counts, truecasers[i], case)
        if truecasers:
            _truecase(outputs[i], Truecaser.load(truecasers[side], case))
    with renamed_in_errors(dict(zip(map(str, outputs), map(str, raw)))):
        yield outputs
    for path in outputs:
        path.unlink()
        path.parent.rmdir()
    scratch.rmdir()


def _tokenize(raw: Path, output: Path, job: TokenizerJob, case: SentenceCase, threads: int) -> Counter[str]:
    """Write the tokenized lines of `raw` to `output`; return the counts of cased words, see Batch."""
    is_lower = job.settings["casing"] == "lowercase"
    counts: Counter[str] = Counter()
    with (
        stage(f"tokenizing {raw.name}", unit="lines") as advance,
        named_in_errors(output),
        open(output, "wb") as file,
        closing(_batches(raw, job, threads)) as batches,
    ):
        for batch in batches:
            lines = [case.lower(line) for line in batch.lines] if is_lower else batch.lines
            file.write("".join(f"{line}\n" for line in lines).encode())
            counts.update(batch.counts)
            advance(len(lines))
    return counts


def _batches(raw: Path, job: TokenizerJob, threads: int) -> Generator[Batch]:
    """Yield the tokenized lines of `raw` in order; if there are several batches, up to `threads` processes are used."""
    lines = read_lines(raw)
    batches = iter(lambda: list(islice(lines, BATCH)), [])
    first = list(islice(batches, max(2, threads)))
    if threads == 1 or len(first) < 2:
        yield from map(LineTokenizer(job).tokenize, chain(first, batches))
        return
    with _TokenizerPool(job, min(threads, len(first))) as pool:
        yield from map_ordered(pool.tokenize, chain(first, batches), pool.size)


class _TokenizerPool:
    """Context with `size` processes that tokenize (tokenize_lines.py); as many threads may call it at the same time.

    A process is killed when the thread that started it ends (Linux' prctl, see end_with_parent). So the thread that
    enters the context starts all of them, not the threads that call.
    """

    def __init__(self, job: TokenizerJob, size: int):
        self.size, self._job, self._processes = size, job, list[subprocess.Popen[bytes]]()
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()

    def __enter__(self) -> "_TokenizerPool":
        for _ in range(self.size):
            self._idle.put(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            with suppress(BrokenPipeError), process:
                pass

    def tokenize(self, lines: list[str]) -> Batch:
        """Tokenize `lines` in an idle process. Raises SmtError if the process dies."""
        process = self._idle.get()
        try:
            answer = _ask(process, lines)
        finally:
            self._idle.put(process)  # also one that has died: another thread may wait for it
        if not answer.endswith(b"\n"):
            status = process.wait()
            raise SmtError(f"a process that tokenizes ended with status {status}; if memory ran out, lower threads")
        return Batch(*json.loads(answer))

    def _start(self) -> subprocess.Popen[bytes]:
        command, environment = module_command("phrasebeam.training.model_building.tokenize_lines")
        process = start(command, environment)
        self._processes.append(process)
        _ask(process, self._job._asdict(), is_answered=False)
        return process


def _ask(process: subprocess.Popen[bytes], request: object, *, is_answered: bool = True) -> bytes:
    """Send `request` as a line of JSON; return the answer, a line of JSON without a newline if the process died."""
    if process.stdin is None or process.stdout is None:
        return b""
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
    return process.stdout.readline() if is_answered else b""


def _truecase(path: Path, truecaser: Truecaser) -> None:
    """Truecase the lines of a file in place."""
    cased = path.with_name(f"{path.name}.cased")
    with stage(f"truecasing {path.name}", unit="lines") as advance, named_in_errors(cased), open(cased, "wb") as file:
        for line in read_lines(path):
            file.write(f"{' '.join(truecaser.truecase(line.split()))}\n".encode())
            advance(1)
    os.replace(cased, path)
