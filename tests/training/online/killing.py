"""Trainings that are killed: in place of a signal after each checkpoint, and by SIGKILL while the command runs."""

import os
import signal
import subprocess
import sys
import time

from phrasebeam.process import unfinished
from phrasebeam.training.online.shard_pass import ShardPass
from phrasebeam.training.online.training import OnlineTraining
from tests import ROOT
from tests.training.maxforce.maxforce_toy import Killed


def die_after_each_save(monkeypatch):
    """From now on Killed is raised after each checkpoint of an online training; a list that has an item for each."""
    saved = []

    def and_die(save):
        def save_and_die(*args):
            save(*args)
            saved.append(args)
            raise Killed

        return save_and_die

    for owner, save in ((ShardPass, ShardPass.save), (OnlineTraining, OnlineTraining._save)):
        monkeypatch.setattr(owner, save.__name__, and_die(save))
    return saved


def kill_at(path, arguments):
    """Run the command, and kill it as soon as the file is there; its return code."""
    script = "import sys; from phrasebeam.cli import main; sys.exit(main())"
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists():
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.01)
    return process.returncode


def die_in_removals(monkeypatch):
    """From now on Killed is raised once while each directory is removed, half of its files being gone; a list of these.

    They are removed within directories that have names of unfinished ones.
    """
    died, remove = [], unfinished._remove

    def remove_half(path):
        within = [path.parent / inner.name for inner in path.iterdir() if inner.is_dir()] if path.is_dir() else []
        if not within or within[0] in died:
            remove(path)
            return
        files = sorted(file for file in path.rglob("*") if file.is_file())
        for file in files[: len(files) // 2]:
            file.unlink()
        died.append(within[0])
        raise Killed

    monkeypatch.setattr(unfinished, "_remove", remove_half)
    return died
