"""The names by which a server without a token is called: others are those of web pages that were made to mean it.

A page's script may ask the server that the page's name leads to. A name that first leads to the page and then to
127.0.0.1 (DNS rebinding) would so let any page ask a server of this machine. The header Host has the name, and no
script can change it. Addresses are no names, and lead nowhere else.
"""

import ipaddress
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.server.serving.error_answers import error_answer
from phrasebeam.server.serving.refusals import refuse
from phrasebeam.server.serving.server_settings import ServerLimits

HOST = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<name>[^:\[\]]+))(?::\d{0,5})?")
HOST_NAME = re.compile(r"[a-z0-9._-]{1,253}", re.IGNORECASE)


class AllowedHosts:
    """The application for requests whose Host is localhost, an address, or one of some names."""

    def __init__(self, app: ASGIApp, names: Iterable[str], limits: ServerLimits):
        self.app, self.limits = app, limits
        self.names = {"localhost", *map(str.lower, names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(given) == 1 and self._is_allowed(given[0]):
            await self.app(scope, receive, send)
            return
        found = f"the Host {excerpt(', '.join(given))}" if given else "no Host"
        message = f"the request has {found}; without a token expected localhost, an address or an --allowed-host"
        await refuse(error_answer(421, message), self.limits, scope, receive, send)

    def _is_allowed(self, host: str) -> bool:
        match = HOST.fullmatch(host.lower())
        return match is not None and (match["name"] in self.names or _is_address(match["address"] or match["name"]))


def check_host_name(name: str) -> str:
    """A name that --allowed-host gives. Raises ConfigError."""
    if not HOST_NAME.fullmatch(name):
        raise ConfigError(f"--allowed-host {excerpt(name)}: expected a name such as mt.example, without scheme or port")
    return name


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
