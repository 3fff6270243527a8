"""The threads in which requests are decoded, within the limits of the server: requests take turns by sentence."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.status import HTTP_429_TOO_MANY_REQUESTS, HTTP_503_SERVICE_UNAVAILABLE

from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.serving.server_settings import ServerLimits

Result = TypeVar("Result")
Job = Callable[[StopFlag], Result]  # called in a thread; checks the flag during long work
CLIENT_GONE = 499  # the status that nginx logs; nobody reads the answer
SOON = {"Retry-After": "1"}


class DecodingPool:
    """Runs the jobs of requests on threads; used within one event loop.

    A request has at most as many jobs in progress as there are threads. A waiting job of another request runs before
    its next job, so that a long request does not hold up a short one.
    """

    def __init__(self, threads: int, limits: ServerLimits):
        self.threads, self.limits = threads, limits
        self.n_requests = 0  # requests that run or wait
        self.open()

    def open(self) -> None:
        """Start the threads, when an event loop begins; they live until `close`."""
        self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="decoding")
        # The executor holds as many waiting jobs again, so that no thread waits for the event loop between two jobs.
        self._free = asyncio.Semaphore(2 * self.threads)

    async def run(self, gone: Callable[[], Coroutine[Any, Any, None]], jobs: Sequence[Job[Result]]) -> list[Result]:
        """The results of the jobs of one request, in their order; `gone()` returns when its client goes away.

        Raises HTTPException if there are too many requests, if the request takes too long or if its client is gone;
        its jobs are then stopped. Raises what a job raises; the other jobs are then stopped.
        """
        if self.n_requests >= self.threads + self.limits.max_waiting:
            message = f"{self.limits.max_waiting} requests wait already; try again later"
            raise HTTPException(HTTP_429_TOO_MANY_REQUESTS, message, SOON)
        stop = StopFlag()
        work, watch = asyncio.ensure_future(self._work(jobs, stop)), asyncio.ensure_future(gone())
        self.n_requests += 1
        work.add_done_callback(self._note_end)
        try:
            await asyncio.wait({work, watch}, timeout=self.limits.max_seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            if watch.done():
                raise HTTPException(CLIENT_GONE, "the client went away")
            message = (
                f"not done in {self.limits.max_seconds:g} seconds; send fewer or shorter sentences, or try again later"
            )
            raise HTTPException(HTTP_503_SERVICE_UNAVAILABLE, message, SOON)
        finally:
            stop.set()
            watch.cancel()

    def close(self) -> None:
        """Wait for the jobs in progress, and end the threads."""
        self._executor.shutdown()

    def _note_end(self, work: "asyncio.Future[list[Result]]") -> None:
        self.n_requests -= 1
        if not work.cancelled():
            work.exception()  # fetched, or asyncio would log it if the client was gone before

    async def _work(self, jobs: Sequence[Job[Result]], stop: StopFlag) -> list[Result]:
        """The results of all jobs. Once the flag is set no job begins, and no thread is in use when this returns."""
        results, errors = dict[int, Result](), dict[int, Exception]()
        numbers, loop = iter(range(len(jobs))), asyncio.get_running_loop()

        async def work_on_next() -> None:
            for number in numbers:
                async with self._free:
                    if stop.is_set:
                        return
                    try:
                        results[number] = await loop.run_in_executor(self._executor, _run, jobs[number], stop)
                    except Exception as error:
                        if not stop.is_set:
                            errors[number] = error
                        stop.set()

        await asyncio.gather(*(work_on_next() for _ in range(min(self.threads, len(jobs)))))
        if errors:
            raise errors[min(errors)]
        stop.check()
        return [results[number] for number in range(len(jobs))]


def _run(job: Job[Result], stop: StopFlag) -> Result:
    """The result of a job. Raises what StopFlag.check raises if the job was stopped while it waited for a thread."""
    stop.check()
    return job(stop)
