"""Damage to a file that is not in its content: it is missing, or something else stands in its place."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random

FileMutation = Callable[[Random, Path], None]  # changes what stands at a path


def remove(rng: Random, path: Path) -> None:
    path.unlink()


def make_directory(rng: Random, path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_fifo(rng: Random, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_socket(rng: Random, path: Path) -> None:
    path.unlink()
    os.mknod(path, stat.S_IFSOCK | 0o600)


def link_to_device(rng: Random, path: Path) -> None:
    path.unlink()
    path.symlink_to(rng.choice(["/dev/zero", "/dev/null", "/dev/full", "/dev/stdin", "/proc/self/mem"]))


def link_to_nothing(rng: Random, path: Path) -> None:
    path.unlink()
    path.symlink_to(rng.choice(["nowhere", path.name, "/nowhere/" + "x" * 250]))


def take_neighbour(rng: Random, path: Path) -> None:
    """The content of another file of the same folder."""
    others = sorted(other for other in path.parent.iterdir() if other.is_file() and other != path)
    if others:
        content = rng.choice(others).read_bytes()
        path.unlink()
        path.write_bytes(content)


FILES: list[FileMutation] = [
    *(
        remove,
        make_directory,
        make_fifo,
        make_socket,
        link_to_device,
        link_to_nothing,
        take_neighbour,
        take_neighbour,
        take_neighbour,
    )
]
