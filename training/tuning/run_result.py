"""The result of a tuning run, as the command shows it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RunResult:
    """The result of a run; scores are in the metric's own units (BLEU in percent, TER as edit rate)."""

    name: str
    c: float | None  # of MIRA, where several are compared
    iterations: int
    best: int  # iteration whose weights were best
    before: float  # score on the development set before tuning
    score: float
    test_score: float | None
    updates: int
    optimize_seconds: float
    decode_seconds: float
