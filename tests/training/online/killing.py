"""Trainings that are killed: in place of a signal after each checkpoint, and by SIGKILL while the command runs."""

import os
import signal
import subprocess
import sys
import time

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
