"""A function mapped over a stream by several threads: results in order, each as soon as it is ready, memory bounded."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 8  # items a thread that may wait


def map_ordered(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """function(item) for every item, in order, by `threads` threads.

    Items are read in a thread of their own, so that a result never waits for the next item. What reading them
    raises is raised here, after the results of the items before. Whoever stops early, or is interrupted, waits only
    for the items that are being worked on.
    """
    waiting: queue.Queue[Future[Result] | None] = queue.Queue(AHEAD * threads)
    stopped = threading.Event()
    with ThreadPoolExecutor(threads) as pool:
        reader = threading.Thread(target=_read, args=(function, items, pool, waiting, stopped), daemon=True)
        reader.start()
        try:
            while (future := waiting.get()) is not None:
                yield future.result()
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            while not waiting.empty():
                waiting.get_nowait()


def _read(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    pool: ThreadPoolExecutor,
    waiting: "queue.Queue[Future[Result] | None]",
    stopped: threading.Event,
) -> None:
    try:
        for item in items:
            waiting.put(pool.submit(function, item))
            if stopped.is_set():
                return
    except BaseException as error:
        failed: Future[Result] = Future()
        failed.set_exception(error)
        waiting.put(failed)
    waiting.put(None)
