"""The end of a command by a signal: unfinished output is removed, child processes end, a line tells how to go on.

A separate thread does this: Python runs signal handlers in the main thread, which may be inside a kernel.
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

SECONDS_OF_ONE_REQUEST = 0.2  # signals that come within this time, say to a process and its group, count as one
CLEAR_LINE, LINE_UP, SHOW_CURSOR = "\r\x1b[K", "\x1b[A", "\x1b[?25h"  # to remove progress bars

terminal_lock = threading.Lock()  # held by a thread that draws; never released by the ending, so that nothing is drawn
SECONDS_TO_DRAW = 1.0

_is_ending = False
_work: "Path | None" = None  # directory in which the same command would go on
_has_output = False
_n_lines = 0
_sender: int | None = None  # end of the pipe into which Python writes signals
_stops = False  # see stop_by_signals
_last_acts: list[Callable[[], None]] = []


def before_end(act: Callable[[], None], is_first: bool = False) -> None:
    """Let a signal call `act`, in a separate thread, before it ends this process; `is_first`: before other acts."""
    _last_acts.insert(0 if is_first else len(_last_acts), act)


def end_by_signals(name: str = "") -> None:
    """Let SIGINT, SIGTERM and SIGHUP end this process as said above, with status 128 + signal.

    `name` begins the line; without a name, no line is printed. A second signal ends the process at once. Signals that
    are ignored, as SIGHUP is under nohup, stay ignored. To be called in the main thread.
    """
    global _sender
    receiver, _sender = os.pipe()
    if hasattr(os, "set_blocking"):  # on Windows with Python 3.11 it is missing, and not needed
        os.set_blocking(_sender, False)
    signal.set_wakeup_fd(_sender, warn_on_full_buffer=False)
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _note)
    threading.Thread(target=_watch, args=(receiver, name), daemon=True).start()


@contextmanager
def stop_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block the first signal calls `stop` instead of ending this process; a second one ends it at once.

    `stop` is called in the main thread, which must not be inside a kernel for long. In other threads this does nothing.
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
        if _sender is not None:  # event loops replace it
            signal.set_wakeup_fd(_sender, warn_on_full_buffer=False)


def ignore_signals() -> None:
    """Ignore signals from now on: the command has its outcome, and the interpreter needs time to end."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def wait_if_ending() -> None:
    """Wait for ever if a signal is ending this process, so that the calling thread prints nothing.

    Its messages would be consequences of the ending, or come too late.
    """
    while _is_ending:
        time.sleep(1)


def goes_on_in(work: "Path") -> None:
    """Let an interruption print that the same command goes on from the last checkpoint in `work`.

    If `work` is inside a directory that was named before, such as that of a recipe with stages, that one is printed.
    """
    global _work
    if _work is None or not work.is_relative_to(_work):
        _work = work


def note_output() -> None:
    """Record that output was written that remains: a whole file or directory, or a part of standard output."""
    global _has_output
    _has_output = True


def note_lines(n: int) -> None:
    """Record that the last `n` lines on the terminal are progress bars and screens beside them."""
    global _n_lines
    _n_lines = n


def _note(number: int, frame: object) -> None:
    global _is_ending
    _is_ending = True


def _watch(receiver: int, name: str) -> None:
    number, first = _received(receiver), time.monotonic()
    with suppress(RuntimeError):  # no thread can be started: a second signal has no effect
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
    """The next signal that ends this process, read from the pipe."""
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
