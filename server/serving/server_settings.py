"""The limits within which the server takes requests, and their defaults."""

from pydantic import Field

from phrasebeam.base.config import Section

MOST_NBEST = 10_000  # translations of a sentence that any server gives


class ServerLimits(Section):
    """What one request may ask for, and how many may wait; what is more is refused with a status that says so."""

    max_words: int = Field(default=200, ge=1, le=100_000, description="words of a sentence (413)")
    max_lines: int = Field(default=200, ge=1, le=100_000, description="sentences of a request (413)")
    max_bytes: int = Field(default=2**20, ge=2**10, le=2**30, description="size of a request (413)")
    max_nbest: int = Field(default=200, ge=1, le=MOST_NBEST, description="translations of a sentence (422)")
    max_waiting: int = Field(default=100, ge=0, le=100_000, description="requests that wait for a thread (429)")
    max_seconds: float = Field(default=60.0, gt=0, le=86_400, description="seconds from a request to its answer (503)")
    max_head: int = Field(default=2**16, ge=2**10, le=2**24, description="bytes of a request besides its body (431)")
    max_idle: float = Field(
        default=10.0, gt=0, le=86_400, description="seconds in which a client sends a head, or reads (408)"
    )
    max_connections: int = Field(default=500, ge=1, le=100_000, description="connections at the same time (503)")
