"""`phrasebeam serve` as a process of its own, on a free port."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_TO_END = 120


class Server:
    """A server that runs."""

    def __init__(self, process, url):
        self.process, self.url, self.lines = process, url, []

    def stop(self, number=signal.SIGTERM) -> int:
        """End it by a signal; its exit status. `lines` has what it logged after it began to listen."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=SECONDS_TO_END)
        self.lines = errors.splitlines()
        return self.process.returncode


@contextmanager
def running(*options) -> Iterator[Server]:
    """A server with these options; killed at the end of the block, if it has not ended."""
    command = [sys.executable, "-m", "phrasebeam", "serve", "--port", "0", *map(str, options)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"TERM": "dumb"})
    try:
        seen = []
        for line in process.stderr:
            seen.append(line)
            if found := re.search(r"listening on (http://\S+)", line):
                yield Server(process, found[1])
                break
        else:
            raise AssertionError("".join(seen))
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def wait_until(condition, seconds=60):
    """Return as soon as it holds; fails if that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
