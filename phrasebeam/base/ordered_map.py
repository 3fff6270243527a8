"""A function mapped over a stream by several threads: results in order, in bounded memory."""

import queue
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 8  # items per thread that are read in advance


def map_ordered(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Generator[Result]:
    """Yield function(item) for every item, in order, each as soon as it is known, computed by `threads` threads.

    Items are read in another thread, so that a result never waits for the next item. An exception raised by reading
    is raised here after the results of all items before it. A caller that stops early or is interrupted waits only for
    the items in progress.
    """
    futures: queue.Queue[Future[Result] | None] = queue.Queue(AHEAD * threads)
    stopped, own_threads = threading.Event(), set[int]()
    pool = ThreadPoolExecutor(threads, initializer=lambda: own_threads.add(threading.get_ident()))
    try:
        threading.Thread(target=_read, args=(function, items, pool, futures, stopped), daemon=True).start()
        while (future := futures.get()) is not None:
            yield future.result()
    finally:
        stopped.set()
        # Who abandons this generator may leave it to the garbage collector, which runs in any thread.
        pool.shutdown(wait=threading.get_ident() not in own_threads, cancel_futures=True)
        while not futures.empty():
            futures.get_nowait()


def _read(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    pool: ThreadPoolExecutor,
    futures: "queue.Queue[Future[Result] | None]",
    stopped: threading.Event,
) -> None:
    """Put a future for each item into `futures`, then None; stops early once `stopped` is set."""
    try:
        for item in items:
            futures.put(pool.submit(function, item))
            if stopped.is_set():
                return
    except BaseException as error:
        failed: Future[Result] = Future()
        failed.set_exception(error)
        futures.put(failed)
    futures.put(None)
