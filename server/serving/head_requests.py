"""HEAD: answered as GET is, without the body, by each endpoint that has GET."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """The application, for which HEAD is GET; the server leaves out the body."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        as_get = {**scope, "method": "GET"}
        try:
            await self.app(as_get, receive, send_without_body)
        finally:
            scope["route"] = as_get.get("route")  # for the log and the metrics
