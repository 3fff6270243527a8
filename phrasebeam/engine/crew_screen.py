"""The workers of an engine on the terminal: speed, memory, replacements and stragglers, below the bars of progress."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phrasebeam.engine.crew import CrewMember

MOST_SHOWN = 12  # workers: those that are slowest, or longest at their work
STRAGGLES = 3.0  # times as long at one call as the mean call of all


class CrewScreen:
    """What rich shows of the workers as they are."""

    def __init__(self, members: "Sequence[CrewMember]", dashboard: str, n_waiting: Callable[[], int]):
        self.members, self.dashboard, self.n_waiting = members, dashboard, n_waiting

    def __rich__(self) -> Any:
        """A table with a row for each worker, and a line with where to see more."""
        from rich.table import Table

        table = Table(caption=self.caption(), caption_justify="left", box=None)
        for name in ("worker", "machine", "items", "per second", "busy for", "memory", "replaced", ""):
            table.add_column(name, justify="left" if name in ("machine", "") else "right")
        for row in self.rows():
            table.add_row(*row)
        return table

    def rows(self) -> list[list[str]]:
        """The cells of the workers that need most attention."""
        now, mean = time.monotonic(), self._mean_seconds()
        longest = sorted(self.members, key=lambda one: one.since if one.calls else now)[:MOST_SHOWN]
        rows = []
        for one in sorted(longest, key=lambda one: one.number):
            busy = now - one.since if one.calls else 0.0
            speed = f"{one.n_items / one.seconds:.1f}" if one.seconds else ""
            state = "straggler" if mean and busy > STRAGGLES * mean else ""
            cells = [str(one.number), one.host, str(one.n_items), speed, f"{busy:.0f} s" if one.calls else "idle"]
            rows.append([*cells, f"{one.peak >> 20} MB", str(one.n_replaced), state])
        return rows

    def caption(self) -> str:
        """How much waits, and the address of the dashboard."""
        dashboard = f"; Ray's dashboard: http://{self.dashboard}" if self.dashboard else ""
        return f"{len(self.members)} workers, {self.n_waiting()} calls wait{dashboard}"

    def _mean_seconds(self) -> float:
        n_calls = sum(one.n_calls for one in self.members)
        return sum(one.seconds for one in self.members) / n_calls if n_calls else 0.0
