"""Raw parallel text made into the tokenized, truecased text of which models are built, as Moses prepares corpora."""

import json
import os
import queue
import subprocess
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path

from phrasebeam.base.errors import FormatError, SmtError
from phrasebeam.base.files import read_lines
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.own_modules import module_command
from phrasebeam.base.progress import stage
from phrasebeam.decoder.input.raw_text_settings import Preprocessing
from phrasebeam.decoder.raw_text.truecaser import Truecaser, save_truecaser, truecaser_paths
from phrasebeam.training.build.bitext import BitextFiles
from phrasebeam.training.build.tokenize_lines import Batch, Job, LineTokenizer

BATCH = 1000  # lines


@contextmanager
def preprocessed(texts: BitextFiles, settings: Preprocessing, directory: Path, threads: int) -> Iterator[BitextFiles]:
    """`texts` preprocessed, line by line, in files that are gone when the block ends.

    The truecasers that this takes stay in `directory`. FormatErrors in the block name the raw files. Raises
    FormatError or OSError where those cannot be read, SmtError if a process of the `threads` dies.
    """
    scratch = directory / "preprocessed"
    raw = [texts.source, texts.target, *texts.more]
    # By number, since names may be equal; and by name, which messages show.
    made = [scratch / str(i) / path.name for i, path in enumerate(raw)]
    languages = [settings.source_language, *[settings.target_language] * (len(raw) - 1)]
    truecasers = list(truecaser_paths(directory)) if settings.casing == "truecase" else []
    for i, (path, language) in enumerate(zip(raw, languages)):
        made[i].parent.mkdir(parents=True)
        counts = _tokenize(path, made[i], language, settings, threads, is_counted=i < len(truecasers))
        if i < len(truecasers):
            save_truecaser(counts, truecasers[i])
        if truecasers:
            _truecase(made[i], Truecaser.load(truecasers[min(i, 1)]))
    with _naming(dict(zip(map(str, made), map(str, raw)))):
        yield BitextFiles(made[0], made[1], made[2:])
    for path in made:
        path.unlink()
        path.parent.rmdir()
    scratch.rmdir()


def _tokenize(
    raw: Path, output: Path, language: str, settings: Preprocessing, threads: int, *, is_counted: bool
) -> Counter[str]:
    """Write the tokenized lines of `raw`; how often words in the middle of sentences occur, each in each case."""
    job = Job(language, settings.normalize, settings.escape, is_counted)
    counts: Counter[str] = Counter()
    with (
        stage(f"tokenizing {raw.name}") as advance,
        open(output, "wb") as file,
        closing(_batches(raw, job, threads)) as batches,
    ):
        for batch in batches:
            lines = [line.lower() for line in batch.lines] if settings.casing == "lowercase" else batch.lines
            file.write("".join(f"{line}\n" for line in lines).encode())
            counts.update(batch.counts)
            advance(len(lines))
    return counts


def _batches(raw: Path, job: Job, threads: int) -> Generator[Batch]:
    """The tokenized lines of `raw`, in order; by processes where there is work for more than one."""
    lines = read_lines(raw)
    batches = iter(lambda: list(islice(lines, BATCH)), [])
    first = list(islice(batches, 2))
    if threads == 1 or len(first) < 2:
        yield from map(LineTokenizer(job).tokenize, chain(first, batches))
        return
    with _Processes(job) as processes:
        yield from map_ordered(processes.tokenize, chain(first, batches), threads)


class _Processes:
    """As many processes of one job (training/build/tokenize_lines.py) as threads call at once."""

    def __init__(self, job: Job):
        self._job, self._all = job, list[subprocess.Popen[bytes]]()
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()

    def __enter__(self) -> "_Processes":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._all:
            process.kill()
            with suppress(BrokenPipeError), process:
                pass

    def tokenize(self, lines: list[str]) -> Batch:
        """What one of the processes makes of `lines`; starts one where all are busy."""
        try:
            process = self._idle.get_nowait()
        except queue.Empty:
            process = self._start()
        answer = _ask(process, lines)
        if not answer.endswith(b"\n"):
            status = process.wait()
            raise SmtError(f"a process that tokenizes ended with status {status}; if memory ran out, lower threads")
        self._idle.put(process)
        return Batch(*json.loads(answer))

    def _start(self) -> subprocess.Popen[bytes]:
        command, environment = module_command("phrasebeam.training.build.tokenize_lines")
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._all.append(process)
        _ask(process, self._job._asdict(), is_answered=False)
        return process


def _ask(process: subprocess.Popen[bytes], request: object, *, is_answered: bool = True) -> bytes:
    """The answer, a line of JSON; less if the process is dead."""
    if process.stdin is None or process.stdout is None:
        return b""
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
    return process.stdout.readline() if is_answered else b""


def _truecase(path: Path, truecaser: Truecaser) -> None:
    """Truecase the lines of a file in its place."""
    cased = path.with_name(f"{path.name}.cased")
    with stage(f"truecasing {path.name}") as advance, open(cased, "wb") as file:
        for line in read_lines(path):
            file.write(f"{' '.join(truecaser.truecase(line.split()))}\n".encode())
            advance(1)
    os.replace(cased, path)


@contextmanager
def _naming(names: dict[str, str]) -> Iterator[None]:
    """Let FormatErrors name other files than those they occur in: the same lines of the raw ones."""
    try:
        yield
    except FormatError as error:
        for made, raw in names.items():
            error.args = (str(error).replace(made, raw),)
            error.path = str(error.path).replace(made, raw)
        raise
