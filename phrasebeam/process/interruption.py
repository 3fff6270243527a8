"""The end of a command by a signal: what it has begun is removed, its children end, a line tells how to go on.

A thread of its own does this: Python runs handlers of signals in the main thread, which may be inside a kernel.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from phrasebeam.system.signals import ENDING

if TYPE_CHECKING:
    from pathlib import Path

SECONDS_OF_ONE_REQUEST = 0.2  # signals that come together, say to a process and its group, are one
CLEAR_LINE, LINE_UP, SHOW_CURSOR = "\r\x1b[K", "\x1b[A", "\x1b[?25h"  # of progress bars

terminal_lock = threading.Lock()  # of who draws; taken for good by the end, which nothing may be drawn over
SECONDS_TO_DRAW = 1.0

_is_ending = False
_work: "Path | None" = None  # where the command will go on
_has_output = False
_n_lines = 0
_sender: int | None = None  # of the pipe by which Python tells of signals
_stops = False  # see stop_by_signals
_last_acts: list[Callable[[], None]] = []


def before_end(act: Callable[[], None], is_first: bool = False) -> None:
    """Let a signal call `act`, from a thread of its own, before it ends this process; `is_first`: before all others."""
    _last_acts.insert(0 if is_first else len(_last_acts), act)


def end_by_signals(name: str = "") -> None:
    """Let SIGINT, SIGTERM and SIGHUP end this process as said above, with status 128 + signal.

    `name` begins the line; without it, none is printed. A second signal ends the process at once. Signals that are
    ignored, as nohup lets SIGHUP be, stay so. Called in the main thread.
    """
    global _sender
    receiver, _sender = os.pipe()
    if hasattr(os, "set_blocking"):  # Windows with Python 3.11 has none, and asks for none
        os.set_blocking(_sender, False)
    signal.set_wakeup_fd(_sender, warn_on_full_buffer=False)
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _note)
    threading.Thread(target=_watch, args=(receiver, name), daemon=True).start()


@contextmanager
def stop_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block the first signal calls `stop`, in place of ending this process; a second one ends it at once.

    `stop` is called in the main thread, which must not be inside a kernel for long. In other threads nothing changes.
    """
    global _stops
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first = 0.0

    def note(number: int, frame: object) -> None:
        nonlocal first
        if not first:
            first = time.monotonic()
            stop()
        elif time.monotonic() - first > SECONDS_OF_ONE_REQUEST:
            os._exit(128 + number)

    handled = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in handled}
    _stops = True
    try:
        yield
    finally:
        _stops = False
        for number, handler in before.items():
            signal.signal(number, handler)
        if _sender is not None:  # event loops put another in its place
            signal.set_wakeup_fd(_sender, warn_on_full_buffer=False)


def ignore_signals() -> None:
    """Ignore signals from now on: the outcome of the command is known, and the interpreter needs time to end."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def wait_if_ending() -> None:
    """Wait if a signal is ending this process: messages of this thread would be consequences of it, or too late."""
    while _is_ending:
        time.sleep(1)


def goes_on_in(work: "Path") -> None:
    """Tell who interrupts this process that the same command goes on from the last checkpoint in `work`.

    Work within that of a larger one, say a stage of a recipe, is part of it.
    """
    global _work
    if _work is None or not work.is_relative_to(_work):
        _work = work


def note_output() -> None:
    """Remember that output was written that remains: a whole file or directory, or a part of standard output."""
    global _has_output
    _has_output = True


def note_lines(n: int) -> None:
    """Remember that the last `n` lines on the terminal are progress bars and what stands beside them."""
    global _n_lines
    _n_lines = n


def _note(number: int, frame: object) -> None:
    global _is_ending
    _is_ending = True


def _watch(receiver: int, name: str) -> None:
    number, first = _received(receiver), time.monotonic()
    with suppress(RuntimeError):  # no more threads: a second signal changes nothing
        threading.Thread(target=_end_at_once, args=(receiver, first), daemon=True).start()
    try:
        _end(number, name)
    finally:
        os._exit(128 + number)


def _end_at_once(receiver: int, first: float) -> None:
    number = _received(receiver)
    while time.monotonic() - first <= SECONDS_OF_ONE_REQUEST:
        number = _received(receiver)
    os._exit(128 + number)


def _received(receiver: int) -> int:
    """The next signal that ends this process."""
    while (number := os.read(receiver, 1)[0]) not in ENDING or _stops:
        pass
    return number


def _end(number: int, name: str) -> None:
    _note(number, None)
    for act in _last_acts:
        with suppress(OSError):
            act()
    if name:
        terminal_lock.acquire(timeout=SECONDS_TO_DRAW)
        lines = LINE_UP.join([CLEAR_LINE] * max(_n_lines, 1))
        clear = lines + SHOW_CURSOR if os.isatty(2) else ""
        with suppress(OSError):
            os.write(2, f"{clear}{name}: interrupted; {_consequence()}\n".encode(errors="replace"))


def _consequence() -> str:
    if _work is not None and _work.exists():
        return f"run the same command again to go on from the last checkpoint in {_work}"
    return "not all of the output was written" if _has_output else "nothing was written"
