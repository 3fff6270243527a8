"""The server: models over HTTP, with an interface of its own and those of Moses and LibreTranslate.

A new router is a file in `routes` (or a package of its own after `serving`) with a `router = APIRouter()`, and a line
in ROUTERS of `app.py`. Its functions get the Service by `service: Serving`, and run long work by

    await service.run(request, [job, ...])

A job is a function of a StopFlag. It is called in a thread of the pool, within the limits of the server, and stops when
the client goes away. A function that refuses a request raises HTTPException with one line, or any SmtError (422).
Static files are mounted in `app.py` by the same name.
"""
