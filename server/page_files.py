"""The page at /: files that come with the package, and headers that let it load nothing else."""

from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

FOLDER = Path(__file__).resolve().parent / "page"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # browsers ask again each time; the answer is 304 if nothing changed
}
router = APIRouter(include_in_schema=False)


@router.get("/")
async def page() -> FileResponse:
    """The page that explains translations."""
    return FileResponse(FOLDER / "index.html", headers=HEADERS)


class _PageFiles(StaticFiles):
    """Static files with the headers of the page."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        await super().__call__(scope, receive, send_with_headers)


def add_page(app: FastAPI) -> None:
    """Serve the page and its files."""
    app.include_router(router)
    app.mount("/page", _PageFiles(directory=FOLDER))
