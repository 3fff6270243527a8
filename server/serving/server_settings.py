"""The limits within which the server takes requests, and their defaults."""

from pydantic import Field

from phrasebeam.base.config import Section

MOST_NBEST = 10_000  # longest n-best list that any server gives


class ServerLimits(Section):
    """Limits of requests and connections; requests beyond a limit are refused with an HTTP status."""

    max_words: int = Field(default=200, ge=1, le=100_000, description="maximum number of words in a sentence (413)")
    max_lines: int = Field(default=200, ge=1, le=100_000, description="maximum number of sentences in a request (413)")
    max_bytes: int = Field(default=2**20, ge=2**10, le=2**30, description="maximum size of a request in bytes (413)")
    max_nbest: int = Field(default=200, ge=1, le=MOST_NBEST, description="maximum size of an n-best list (422)")
    max_waiting: int = Field(
        default=100, ge=0, le=100_000, description="maximum number of requests that wait for a thread (429)"
    )
    max_seconds: float = Field(
        default=60.0, gt=0, le=86_400, description="maximum number of seconds from a request to its answer (503)"
    )
    max_head: int = Field(
        default=2**16, ge=2**10, le=2**24, description="maximum size of the head of a request in bytes (431)"
    )
    max_idle: float = Field(
        default=10.0,
        gt=0,
        le=86_400,
        description="maximum number of seconds for a client to send the head of a request, or to read (408)",
    )
    max_connections: int = Field(
        default=500, ge=1, le=100_000, description="maximum number of simultaneous connections (503)"
    )
