"""How many items a message brings a worker: the more, the less time they take."""

SECONDS_OF_WORK = 0.5  # that a message brings at most, if it has more items than the least
ROUNDS = 4  # of messages to all workers, at least, that items done already would make
MOST_ITEMS = 512


class MessageSize:
    """The number of items of the next message.

    A message costs the process that sends it a millisecond, whatever is in it: too much where a million short items go
    to hundreds of workers. Few large ones would not share the work evenly, so they grow with what has been done.
    """

    def __init__(self, least: int, n_workers: int):
        self._least, self._n_workers = least, n_workers
        self._n_items, self._seconds = 0, 0.0

    def count(self, n_items: int, seconds: float) -> None:
        """Learn that items of a message took so long."""
        self._n_items += n_items
        self._seconds += seconds

    def next(self) -> int:
        """At least `least`."""
        worth = int(SECONDS_OF_WORK * self._n_items / max(self._seconds, 1e-9))
        even = self._n_items // (ROUNDS * self._n_workers)
        return max(self._least, min(worth, even, MOST_ITEMS))
