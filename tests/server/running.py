"""`phrasebeam serve` as a process of its own, on a free port."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_TO_END = 120


class Server:
    """A server that runs. `lines` has what it has logged since it began to listen, all of it once it has ended."""

    def __init__(self, process, url):
        self.process, self.url, self.lines = process, url, []
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()

    def stop(self, number=signal.SIGTERM) -> int:
        """End it by a signal; its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(SECONDS_TO_END)
        self.reading.join(SECONDS_TO_END)
        return status

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))


@contextmanager
def running(*options) -> Iterator[Server]:
    """A server with these options; killed at the end of the block, if it has not ended."""
    command = [sys.executable, "-m", "phrasebeam", "serve", "--port", "0", *map(str, options)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"TERM": "dumb"})
    server = None
    try:
        seen = []
        while not server:
            line = process.stderr.readline()
            seen.append(line)
            if not line:
                raise AssertionError("".join(seen))
            if found := re.search(r"listening on (http://\S+)", line):
                server = Server(process, found[1])
        yield server
    finally:
        process.kill()
        process.wait()
        if server:
            server.reading.join(SECONDS_TO_END)
        process.stderr.close()


def wait_until(condition, seconds=60):
    """Return as soon as it holds; fails if that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
