"""HTTP/1.1 by uvicorn and httptools, with bounds on bytes, seconds and connections that hold before the application.

Bytes that a client sends outside of request bodies are bounded, even if they are not a request. The time for which the
server waits for a client that neither sends nor reads is bounded, too.
"""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from phrasebeam.base.progress import log
from phrasebeam.server.serving.error_answers import error_answer
from phrasebeam.server.serving.server_settings import ServerLimits

MOST_HEADERS = 256  # of a request; each takes some 150 bytes beside its text
MOST_PIPELINED = 100  # requests that may wait on one connection
CHUNK_FRAME = 12  # bytes around the content of a chunk of a body: its length, and two ends of lines
SECONDS_TO_READ = 1.0  # for a client to read its refusal; what it still sends is dropped


class _FaultError(Exception):
    """A status and a message. It is raised in callbacks of the parser, and ends the parsing."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection. Its timer runs whenever the server waits for the client, and closes the connection."""

    limits: ServerLimits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        self._n_framing = 0  # bytes of this request so far that are neither body nor the frame of a chunk
        self._is_in_head = False
        self._n_unread = 0  # bytes of answers that the client had not taken when the timer last ran out
        self._refusal = b""
        self._answering: RequestResponseCycle | None = None  # the request that is answered now
        self.timeout_keep_alive = self.limits.max_idle  # type: ignore[assignment] # an event loop takes a float, too
        self._wait(self.limits.max_idle)
        if len(self.connections) > self.limits.max_connections:
            self._refuse(503, f"{self.limits.max_connections} connections are open already; try again later")

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the application that the connection is closed, and free everything."""
        self._disconnect()
        self.pipeline.clear()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Parse the data, or refuse it if it makes the head of a request too large; drop data after a refusal."""
        while data and not self._refusal and not self.transport.is_closing():
            size = self.limits.max_head - self._n_framing
            piece, data = data[:size], data[size:]
            self._n_framing += len(piece)
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade:
                pass  # no upgrade is done: the request is answered as any other
            except httptools.HttpParserError as error:
                fault = error.__context__
                given = fault.args if isinstance(fault, _FaultError) else (400, "what came is no HTTP request")
                self._refuse(*given)
            self._n_framing = max(self._n_framing, 0)
            if self._n_framing >= self.limits.max_head and not self._refusal:
                most = self.limits.max_head
                self._refuse(431, f"the request has more than {most} bytes besides its body; send fewer headers")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Trailers, which come after the body, are ignored."""
        if self._is_in_head:
            super().on_header(name, value)
            if len(self.headers) > MOST_HEADERS:
                raise _FaultError(431, f"the request has more than {MOST_HEADERS} headers; send fewer")

    def on_headers_complete(self) -> None:
        """Begin to answer, or let the request wait for those before it."""
        if len(self.pipeline) >= MOST_PIPELINED:
            raise _FaultError(429, f"{MOST_PIPELINED} requests wait on this connection; send them one after the other")
        self._is_in_head = False
        self._unset_keepalive_if_required()
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Subtract the bytes of a usual chunk's length and line ends, so that only bytes beyond these are counted."""
        self._n_framing -= CHUNK_FRAME

    def on_body(self, body: bytes) -> None:
        self._n_framing -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._n_framing = 0

    def on_response_complete(self) -> None:
        """Go on to the next request, or wait for it."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._wait(self.limits.max_idle)
        elif self._refusal:
            self._send_refusal()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait(self.limits.max_idle)

    def resume_writing(self) -> None:
        """Write again, since the client has read; stop the timer if a request is being answered."""
        super().resume_writing()
        if self.cycle and not self.cycle.response_complete:
            self._unset_keepalive_if_required()

    def timeout_keep_alive_handler(self) -> None:
        """End the connection of a client that has not sent the head of a request, or does not read its answer."""
        n_unread = self.transport.get_write_buffer_size()
        if n_unread and n_unread != self._n_unread:
            self._n_unread = n_unread
            self._wait(self.limits.max_idle)
        elif self._is_in_head and not (n_unread or self._refusal):
            self._refuse(408, f"the head of the request did not arrive within {self.limits.max_idle:g} seconds")
        else:
            self._disconnect()
            self.transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _disconnect(self) -> None:
        """Tell the request that is answered now that its client is gone. (uvicorn tells only the newest request.)"""
        cycle = self._answering
        if cycle and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()

    def _wait(self, seconds: float) -> None:
        """Give the client this number of seconds, instead of the earlier one."""
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _refuse(self, status: int, message: str) -> None:
        """Answer with an error once all earlier requests are answered, and take no further requests."""
        log.info("connection from %s refused: %d %s", self.client[0] if self.client else "somewhere", status, message)
        answer = error_answer(status, message, {"Connection": "close"})
        headers = [*self.server_state.default_headers, *answer.raw_headers]
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        self._refusal = b"".join([STATUS_LINE[status], *lines, b"\r\n", bytes(answer.body)])
        if status == 503:  # its descriptor is needed
            self.transport.write(self._refusal)
            self.transport.close()
        else:
            self._send_refusal()

    def _send_refusal(self) -> None:
        """Send the refusal if no request before it waits for its answer."""
        cycle = self.cycle
        if self.pipeline or (cycle and not cycle.response_complete and not cycle.more_body):
            return
        self._disconnect()  # if a request is being answered, it is its body that is refused
        if cycle and cycle.response_started and not cycle.response_complete:
            self.transport.abort()
            return
        self.transport.write(self._refusal)
        self.transport.write_eof()
        self._wait(SECONDS_TO_READ)


def bounded_protocol(limits: ServerLimits) -> type[BoundedProtocol]:
    """The class of connections within these limits."""
    return type("BoundedProtocol", (BoundedProtocol,), {"limits": limits})
