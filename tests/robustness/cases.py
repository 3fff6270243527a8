"""A case of the campaign: a seed and a number say which file is damaged and how, and which operation then reads it."""

import hashlib
import os
import re
import shutil
import signal
import string
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

import yaml

from phrasebeam.base.errors import SmtError
from phrasebeam.decoder.model.description import open_description, save_description
from tests.robustness.file_mutations import FILES
from tests.robustness.isolated import TIMED_OUT, End, run_isolated
from tests.robustness.operations import Operation, check
from tests.robustness.targets import Target, contradicts

Kind = Literal["clean", "same", "changed", "sound", "unnoticed", "message", "traceback", "signal", "hang", "memory"]
FAILURES: tuple[Kind, ...] = ("unnoticed", "message", "traceback", "signal", "hang", "memory")
KINDS: tuple[Kind, ...] = ("clean", "same", "changed", "sound", *FAILURES)  # sound: changed, and no check can tell
MEMORY = 2 * 2**30
LONGEST_MESSAGE = 1000  # characters
OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGALRM)
SHARE_OF_FILES = 0.06  # of damage to a file of a model or a training that is not of its content
# The digests of a model that is damaged, which would find all damage at once: as they were; none, as in the older
# format; those of the files as they are, as who wrote the damage would have written them.
DIGESTS = ("", " without digests", " with new digests")
SHARES = (0.25, 0.3, 0.45)
WITHOUT_DIGESTS = "phrasebeam model 1"
# Seconds, minutes of stages, and sentences a second at the end of rows of tables.
SPEED = re.compile(rb"\d+\.\d( s\b| +(written|kept|dropped)|$)", re.M)
NOT_COMPARED = ("model.yaml", "curve.csv", "curve.png", "work.yaml", "run.yaml")


class Verdict(NamedTuple):
    """What came of a case."""

    number: int
    kind: Kind
    path: str  # of the damaged file
    mutation: str  # what was done to it, and where it first differs
    operation: str
    detail: str = ""  # the last line of the errors


class Sound(NamedTuple):
    """The undamaged materials."""

    directory: Path
    targets: list[Target]
    results: dict[Operation, str]  # digest of what each operation gives


def operation_of(targets: list[Target], seed: int, number: int) -> tuple[Random, Target, Operation]:
    """The file that a case damages and the operation that reads it, and the random numbers for the rest."""
    rng = Random(f"{seed}/{number}")
    target = targets[number % len(targets)]
    return rng, target, rng.choice(target.operations)


def run_case(sound: Sound, seed: int, number: int, seconds: int, directory: Path) -> Verdict:
    """Run a case in `directory`, which must not exist and is left as the operation leaves it."""
    rng, target, operation = operation_of(sound.targets, seed, number)
    lay_out(sound.directory, directory, operation)
    digests = rng.choices(DIGESTS, SHARES)[0] if target.model else ""
    if digests == " without digests":
        remove_digests(directory / target.model / "model.yaml")
    mutation, is_wrong = _damage(rng, target, directory / target.path)
    if digests == " with new digests":
        renew_digest(directory / target.model, target.path.removeprefix(f"{target.model}/"))
    end = run_isolated(operation.commands, directory, seconds, MEMORY)
    kind = judge(end)
    if kind == "same" and digest(end.output, directory) != sound.results[operation]:
        kind = "changed"
        if target.model:
            kind, end = _noticed(target.model, directory, seconds, is_wrong if digests else True)
    mutation += digests
    if kind == "hang" and target.is_config:
        kind = _parsed(operation, directory, seconds)
    return Verdict(number, kind, target.path, mutation, operation.name, _last_line(end) if kind != "same" else "")


def lay_out(source: Path, directory: Path, operation: Operation) -> None:
    """The materials by hard links, but copies of what the operation writes to, and a new directory for output."""
    shutil.copytree(source, directory, copy_function=os.link, ignore=shutil.ignore_patterns("runs"))
    for path in [Path(word) for word in operation.commands[0].arguments if word.startswith("runs/")]:
        shutil.copytree(source / path, directory / path)
    (directory / "out").mkdir()


def remove_digests(path: Path) -> None:
    """Make model.yaml that of an older format, so that damage of other files reaches what reads them."""
    older = yaml.safe_load(path.read_bytes())
    if older.pop("files", None):
        older.pop("digest", None)
        older["format"] = WITHOUT_DIGESTS
        path.unlink()
        path.write_text(yaml.safe_dump(older, sort_keys=False, allow_unicode=True))


def renew_digest(model, name):
    """Write the digest of the file `name` of a model to its model.yaml, as far as that can be read."""
    if not (model / name).is_file() or (model / name).is_symlink():
        return
    with suppress(SmtError, OSError):
        description = open_description(model, is_verified=False)
        known = {other: old for other, old in description.files.items() if other != name}
        save_description(description, model, known)


def _damage(rng, target, path):
    """Damage the file at `path`, which is a link to the sound one; say how, and whether that contradicts others."""
    if target.is_ours and rng.random() < SHARE_OF_FILES:
        change = rng.choice(FILES)
        change(rng, path)
        return change.__name__, False
    sound = path.read_bytes()
    damaged, mutation = sound, target.mutations[0]
    for _ in range(5):  # some change nothing of some files
        if damaged == sound:
            mutation = rng.choice(target.mutations)
            damaged = mutation(rng, sound)
    path.unlink()
    path.write_bytes(damaged)
    return f"{mutation.__name__} {_difference(sound, damaged)}", contradicts(target.path, mutation)


def _difference(sound, damaged):
    place = next((i for i, (a, b) in enumerate(zip(sound, damaged)) if a != b), min(len(sound), len(damaged)))
    return f"at {place} of {len(sound)}: {sound[place : place + 12]!r} -> {damaged[place : place + 24]!r}"


def judge(end: End) -> Kind:
    """The kind of an end, where "same" stands for any success."""
    lines = end.errors.splitlines()
    if is_hang(end):
        return "hang"
    if "MemoryError" in end.errors or "bad_alloc" in end.errors or end.peak > MEMORY:
        return "memory"
    if end.status < 0:
        return "signal"
    if "Traceback (most recent call last)" in end.errors:
        return "traceback"
    if end.status == 0:
        return "message" if "Warning:" in end.errors else "same"
    is_clean = end.status == 2 and len(lines) == 1 and _is_plain(lines[0])
    return "clean" if is_clean else "message"


def is_hang(end: End) -> bool:
    """Whether the process took all the time that it had."""
    return TIMED_OUT in end.errors or end.status in OUT_OF_TIME


def _is_plain(line):
    return line.startswith("phrasebeam: ") and len(line) <= LONGEST_MESSAGE and line.isprintable()


def _noticed(model, directory, seconds, is_wrong):
    """Whether check-model reports that the model is damaged, as it must where that is wrong by itself."""
    end = run_isolated(check(model).commands, directory, seconds, MEMORY)
    kind = judge(end)
    return {"same": "unnoticed" if is_wrong else "sound", "clean": "changed"}.get(kind, kind), end


def _parsed(operation, directory, seconds):
    """ "changed" if the settings ask for long work, "hang" if reading them takes that long."""
    (directory / "few.de").unlink(missing_ok=True)
    (directory / "train.de").unlink(missing_ok=True)
    (directory / "plain" / "model.yaml").unlink(missing_ok=True)
    kind = judge(run_isolated(operation.commands, directory, seconds, MEMORY))
    return "changed" if kind == "clean" else kind


def digest(output: bytes, directory: Path) -> str:
    """A digest of standard output and of the files that were written, without what differs between two runs."""
    hashed = hashlib.sha256(SPEED.sub(b"", output))
    for path in sorted((directory / "out").rglob("*")):
        if path.is_file() and path.name not in NOT_COMPARED and path.suffix in ("", ".yaml", ".npy", ".bin", ".vocab"):
            hashed.update(str(path.relative_to(directory)).encode() + path.read_bytes())
    return hashed.hexdigest()


def _last_line(end):
    lines = [line for line in end.errors.splitlines() if line.strip()] or [""]
    if is_hang(end):
        frames = [line.strip() for line in lines if line.startswith("  File")]
        lines = [" < ".join(frame.removeprefix("File ") for frame in frames[:3])]
    elif end.status < 0:
        lines = [f"signal {-end.status}: " + " ".join(line for line in lines if "File" in line)[:300]]
    kept = "".join(c if c in string.printable else "?" for c in lines[-1])
    return kept if len(kept) <= 300 else f"{kept[:150]} ... {kept[-150:]}"
