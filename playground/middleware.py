"""What stands between the network and Gradio.

- `HomeRedirect`: `/` leads to the page in the reader's language.
- `BodyLimit`: a body larger than we read is refused, with both numbers.
- `CompressedPages`: Gradio sends its pages as they are, five times as large.
- `exception_handlers`: requests that Gradio itself would answer with a traceback.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from fastapi.exceptions import RequestValidationError
from gradio.route_utils import FnIndexInferError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lessons.words import LANGUAGES

MAX_BODY_BYTES = 1_000_000
MAX_DRAINED_BYTES = 32 * MAX_BODY_BYTES
CALLS = re.compile(r"/gradio_api/((run|api|call)/|component_server)")


def preferred_language(accept: str) -> str:
    """The best of ours in an Accept-Language header, by its q-values.

    >>> preferred_language("ko-KR,ko;q=0.9,en;q=0.8"), preferred_language("fr, ko;q=0.2, en;q=0.5")
    ('ko', 'en')

    Source: RFC 9110, section 12.5.4.
    """
    best, best_quality = LANGUAGES[0], 0.0
    for entry in accept.split(","):
        tag, *parameters = (part.strip().lower() for part in entry.split(";"))
        language = tag.split("-")[0]
        if language in LANGUAGES and quality(parameters) > best_quality:
            best, best_quality = language, quality(parameters)
    return best


def quality(parameters: Iterable[str]) -> float:
    """`q=0.8` -> 0.8; 1 where none is given, 0 where it cannot be read."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                q = float(value)
            except ValueError:
                return 0.0
            return q if math.isfinite(q) else 0.0
    return 1.0


class HomeRedirect:
    """Send `/` to `/ko` or `/en`, its query kept: `lang` where given, else the reader's."""

    def __init__(self, app: ASGIApp, lang: str | None = None, root_path: str = "") -> None:
        self.app, self.lang, self.root_path = app, lang, root_path.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET or HEAD of `/`; hand everything else on."""
        home = scope["type"] == "http" and scope["path"] == "/" and scope["method"] != "POST"
        if not home:
            await self.app(scope, receive, send)
            return
        accept = ",".join(Headers(scope=scope).getlist("accept-language"))
        query = scope["query_string"].decode("latin-1")
        location = f"{self.root_path}/{self.lang or preferred_language(accept)}"
        response = Response(
            status_code=307,
            headers={
                "Location": f"{location}?{query}" if query else location,
                "Vary": "Accept-Language",
                "Cache-Control": "no-cache",
            },
        )
        await response(scope, receive, send)


class BodyLimit:
    """Refuse a body of more than `limit` bytes with a sentence and status 413."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a POST to its end (it is small or refused), then hand it on whole."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        body, size = await read_body(receive, self.limit)
        if size > self.limit:
            message = f"The body has {size:,} bytes; at most {self.limit:,} are read."
            await JSONResponse({"error": message}, status_code=413)(scope, receive, send)
            return
        await self.app(scope, replay(body, receive), send)


class CompressedPages:
    """Send pages gzipped. Answers to events are left alone: there milliseconds count."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.compressed = app, GZipMiddleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page is what has one word for a path; files, with a dot, Gradio compresses."""
        page = scope["type"] == "http" and re.fullmatch(r"/[^/.]*", scope["path"])
        await (self.compressed if page else self.app)(scope, receive, send)


async def read_body(receive: Receive, limit: int) -> tuple[bytes, int]:
    """The body and its size; beyond `limit` only the size is kept.

    What is too large is still read for a while: a client that is cut off while it
    sends never sees the answer.
    """
    chunks, size, more = [], 0, True
    while more and size <= MAX_DRAINED_BYTES:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= limit:
            chunks.append(chunk)
        more = message.get("more_body", False)  # absent when the client has gone away
    return b"".join(chunks), size


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first, then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


def exception_handlers(endpoints: Iterable[str]) -> dict[type, Callable[..., Any]]:
    """For FastAPI: malformed requests, each answered by `{"error": a sentence}`."""
    names = ", ".join(f"/{name}" for name in endpoints)

    async def malformed(request: Request, error: RequestValidationError) -> Response:
        """Not JSON, or not the object it should be; `input` may be NaN, so is left out."""
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return JSONResponse({"error": f"{place}: {first['msg']}."}, status_code=422)

    async def unknown(request: Request, error: FnIndexInferError) -> Response:
        asked = request.path_params.get("api_name", "")
        message = f"There is no endpoint /{asked}; there are {names}."
        return JSONResponse({"error": message}, status_code=404)

    async def misfit(request: Request, error: KeyError | TypeError) -> Response:
        """An event or an argument that there is not, looked up before any handler of ours."""
        if not CALLS.search(request.url.path):
            raise error
        if isinstance(error, KeyError):
            return await unknown(request, FnIndexInferError())
        return JSONResponse({"error": f"{error}."}, status_code=422)

    async def refused(request: Request, error: HTTPException) -> Response:
        """As Starlette answers, with the sentence under `error` as everywhere else."""
        content = {"error": error.detail, "detail": error.detail}
        return JSONResponse(content, status_code=error.status_code, headers=error.headers)

    return {
        RequestValidationError: malformed,
        FnIndexInferError: unknown,
        KeyError: misfit,
        TypeError: misfit,
        HTTPException: refused,
    }
