"""The named API's raw POSTs, answered without a session.

For each call without a session Gradio makes one and throws it away, which costs
time for every component of the page: twice what the attention itself takes. So
`/gradio_api/run/<name>` comes here first. All other ways to an endpoint
(gradio_client, /gradio_api/call, MCP) stay Gradio's; the function is the same.
"""

from __future__ import annotations

import functools
import json
import time
from typing import Any

from gradio.routes import ORJSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from model import PlaygroundError
from playground.api import ENDPOINTS, check_call, language
from playground.errors import NotACallError, shown


def routes() -> list[Route]:
    """One route for each endpoint, for FastAPI to try before Gradio's own."""
    return [
        Route(f"/gradio_api/run/{name}", functools.partial(run, name), methods=["POST"])
        for name in ENDPOINTS
    ]


async def run(name: str, request: Request) -> Response:
    """`{"data": [arguments]}` -> `{"data": [result]}`, or `{"error": a sentence}` with 422."""
    start, given = time.perf_counter(), []
    try:
        given = read_call(await request.body())
        check_call(name, given)
        result = await run_in_threadpool(ENDPOINTS[name], *given)
    except PlaygroundError as error:
        return JSONResponse(
            {"error": error.text(language(ENDPOINTS[name], given))}, status_code=422
        )
    took = time.perf_counter() - start
    return ORJSONResponse({"data": [result], "is_generating": False, "duration": took})


def read_call(body: bytes) -> list[Any]:
    """The arguments in a body; `NotACallError` where there are none to be found."""
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        raise NotACallError(problem_en="is not JSON", problem_ko="JSON이 아닙니다") from None
    if not isinstance(call, dict):
        found = shown(call)
        raise NotACallError(problem_en=f"is {found}", problem_ko=f"{found}입니다")
    given = call.get("data")
    if not isinstance(given, list):
        found = shown(given)
        raise NotACallError(
            problem_en=f'has {found} for "data"', problem_ko=f'"data" 값이 {found}입니다'
        )
    return given
