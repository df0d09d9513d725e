"""The named API: attention by HTTP, for other programs; and where all endpoints get their names.

Each function is pure; its annotations and docstring are what /gradio_api/info
and MCP tell. Call one by a POST of `{"data": [every argument, in order]}` to
/gradio_api/run/<name>, or through gradio_client, which fills in the defaults.
Those that stream are queued: a POST to /gradio_api/call/<name> answers with an
event's id, and /gradio_api/call/<name>/<id> is the stream.
Typed vectors are computed in float64 and sent unrounded; -∞ travels as null.
"""

# No `from __future__ import annotations` here: Gradio reads the real types.
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr
import torch
from torch import Tensor

from lessons.words import LANGUAGES
from model import (
    AttentionTrace,
    PlaygroundError,
    attend,
    causal_mask,
    multi_head_fast,
    multi_head_loop,
)
from model import multi_head as multi_head_fused
from model.attention import check_overflow
from model.errors import ProjectionError, WidthError
from playground import errors, gpt_api, quiz_api, train_api
from playground.errors import shown
from playground.numbers import to_matrix, to_rows

Matrix = list[list[float]]

STEPS = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
HEAD_STEPS = ("scores", "scaled", "masked", "weights", "output")


def attention(
    vectors: Matrix,
    w_query: Matrix | None,
    w_key: Matrix | None,
    w_value: Matrix | None,
    causal: bool = False,
    scale: bool = True,
) -> dict:
    """Scaled dot-product self-attention of up to 64 tokens × 64 dimensions, every step returned.

    Computed in float64: q = vectors @ w_query (null: identity), k and v likewise, scores =
    q @ kᵀ, scaled = scores / √width, masked (-infinity, sent as null, where a token may not
    look), weights = softmax of each row, output = weights @ v. Matrices are lists of rows; the
    answer has those eight keys, its numbers not rounded.

    Parameters:
        vectors: one row of numbers for each token, all of one length (tokens × dimensions)
        w_query: query weights, dimensions × width; null means identity
        w_key: key weights, dimensions × width, as wide as w_query; null means identity
        w_value: value weights, dimensions × any width; null means identity
        causal: true lets each token attend only to itself and to earlier tokens
        scale: true divides the scores by the square root of the width
    Returns:
        an object of matrices (lists of rows): q, k, v, scores, scaled, masked, weights, output; in masked, -infinity is null
    """
    x, (w_q, w_k, w_v) = read_inputs(vectors, w_query, w_key, w_value)
    check_switch("causal", causal)
    check_switch("scale", scale)
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    check_overflow((x, w_q, w_k, w_v), q=q, k=k, v=v)
    trace = attend(q, k, v, causal_mask(len(x)) if causal else None, scale=scale)
    return steps(trace, STEPS)


def multi_head(
    vectors: Matrix,
    w_query: Matrix | None,
    w_key: Matrix | None,
    w_value: Matrix | None,
    w_out: Matrix | None,
    n_head: int,
    causal: bool = False,
) -> dict:
    """Multi-head self-attention of up to 64 tokens × 64 dimensions, every head's steps returned.

    Each head reads all dimensions: head h owns columns h·head_size to (h+1)·head_size - 1 of
    w_query, w_key and w_value (null: identity). The heads' outputs are joined (concat) and
    multiplied by w_out (output). Matrices are lists of rows, not rounded; -infinity is null.
    Computed in float64 by three routes (loop: head by head, fused: all heads at once, sdpa:
    PyTorch's scaled_dot_product_attention), whose largest differences are max_difference.

    Parameters:
        vectors: one row of numbers for each token, all of one length (tokens × dimensions)
        w_query: query weights, dimensions × (n_head · head_size); null means identity
        w_key: key weights, dimensions × (n_head · head_size); null means identity
        w_value: value weights, dimensions × (n_head · head_size); null means identity
        w_out: output weights, square, as wide as w_value; null means identity
        n_head: the number of heads; it must divide the width
        causal: true lets each token attend only to itself and to earlier tokens
    Returns:
        an object: heads (for each head its scores, scaled, masked, weights, output; in masked, -infinity is null), concat, output, and max_difference with loop_vs_fused and fused_vs_sdpa
    """
    x, weights = read_inputs(vectors, w_query, w_key, w_value)
    check_count("n_head", n_head)
    check_switch("causal", causal)
    w_o = None if w_out is None else read_w_out(w_out, width=weights[-1].size(-1))
    arguments = (x, *weights, w_o, n_head, causal_mask(len(x)) if causal else None)
    fused, loop = multi_head_fused(*arguments), multi_head_loop(*arguments)
    sdpa = multi_head_fast(*arguments)
    return {
        "heads": [steps(fused.heads, HEAD_STEPS, head) for head in range(n_head)],
        "concat": to_rows(fused.concat),
        "output": to_rows(fused.output),
        "max_difference": {
            "loop_vs_fused": largest_difference(loop.output, fused.output),
            "fused_vs_sdpa": largest_difference(fused.output, sdpa),
        },
    }


ENDPOINTS: dict[str, Callable[..., dict | list]] = {  # answered at once
    "attention": attention,
    "multi_head": multi_head,
    "tokenize": gpt_api.tokenize,
    "inspect": gpt_api.inspect_prompt,
    "quizzes": quiz_api.quizzes,
    "quiz": quiz_api.quiz,
    "grade": quiz_api.grade,
}
QUEUED: dict[str, Callable[..., Iterator[dict]]] = {  # streamed
    "generate": gpt_api.generate,
    "train": train_api.train,
}
RUNNING = {"generate": 4, "train": train_api.AT_ONCE}  # streams of one endpoint at once
WAITING = 100  # events in the whole queue


def register(demo: gr.Blocks) -> None:
    """Name the endpoints; call it inside `with demo:`, before anything else has a name."""
    demo.queue(api_open=False, max_size=WAITING)  # what is queued cannot be had past the queue
    for name, function in ENDPOINTS.items():
        gr.api(answering(function), api_name=name, queue=False)
    for name, stream in QUEUED.items():
        limit = RUNNING[name]
        gr.api(streaming(stream), api_name=name, concurrency_id=name, concurrency_limit=limit)
    demo.validate_inputs = check_arguments  # Gradio's own ends in {"error": null} and a traceback


def answering(function: Callable[..., dict | list]) -> Callable[..., dict | list]:
    """`function` with a person's mistakes answered by their sentence, and no traceback."""

    @functools.wraps(function)
    def answer(*arguments: Any) -> dict | list:
        try:
            return function(*arguments)
        except PlaygroundError as error:
            said = error.text(language(function, arguments))
            raise gr.Error(said, print_exception=False) from None

    return answer


def language(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """The language a call asks for, by its argument `lang` where it has one; else English."""
    names = inspect.signature(function).parameters
    asked = dict(zip(names, arguments, strict=False)).get("lang")
    return asked if asked in LANGUAGES else "en"


def streaming(function: Callable[..., Iterator[dict]]) -> Callable[..., Iterator[dict]]:
    """The same for a generator; closing it closes `function`'s."""

    @functools.wraps(function)
    def answer(*arguments: Any) -> Iterator[dict]:
        try:
            yield from function(*arguments)
        except PlaygroundError as error:
            raise gr.Error(str(error), print_exception=False) from None

    return answer


def check_arguments(handler: Any, given: list[Any]) -> None:
    """What Gradio's handler was given, before Gradio looks into it; else a `gr.Error`.

    Handlers of the page get at least their inputs, endpoints exactly their arguments.
    """
    name, needed = str(handler.api_name), len(handler.inputs)
    try:
        if name in ENDPOINTS or name in QUEUED:
            check_call(name, given)
        elif len(given) < needed:
            raise errors.ArgumentCountError(
                name=name, given=len(given), needed=needed, arguments="…"
            )
    except PlaygroundError as error:
        called = (ENDPOINTS | QUEUED).get(name)
        said = error.text(language(called, given) if called else "en")
        raise gr.Error(said, print_exception=False) from None


def check_call(name: str, given: list[Any]) -> None:
    """As many arguments as the endpoint has, each a list or plain value, no object.

    Given an object, Gradio would take it for a file and try to fetch it.
    Raises `ArgumentCountError` or `HoldsObjectError`.
    """
    names = list(inspect.signature((ENDPOINTS | QUEUED)[name]).parameters)
    if len(given) != len(names):
        raise errors.ArgumentCountError(
            name=name, given=len(given), needed=len(names), arguments=", ".join(names)
        )
    for argument, value in zip(names, given, strict=True):
        if holds_object(value):
            raise errors.HoldsObjectError(name=argument)


def holds_object(value: object) -> bool:
    """Whether a JSON value is an object or a list with one in it, however deep."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            return True
        if isinstance(value, list):
            waiting.extend(x for x in value if isinstance(x, list | dict))
    return False


def read_inputs(
    vectors: object, w_query: object, w_key: object, w_value: object
) -> tuple[Tensor, list[Tensor]]:
    """x `(T, d_in)` and W_q, W_k, W_v, each `(d_in, ·)`; None becomes the identity."""
    x = to_matrix("vectors", vectors)
    d_in = x.size(-1)
    identity = torch.eye(d_in, dtype=x.dtype)
    weights = []
    for name, rows in (("w_query", w_query), ("w_key", w_key), ("w_value", w_value)):
        w = identity if rows is None else to_matrix(name, rows)
        if w.size(0) != d_in:
            raise ProjectionError(name=name, rows=w.size(0), width=d_in)
        weights.append(w)
    q_width, k_width = weights[0].size(-1), weights[1].size(-1)
    if q_width != k_width:
        raise WidthError(q_width=q_width, k_width=k_width)
    return x, weights


def read_w_out(rows: object, width: int) -> Tensor:
    """The last projection, `(width, width)`; or `NotSquareError`."""
    w = to_matrix("w_out", rows)
    if w.shape != (width, width):
        raise errors.NotSquareError(name="w_out", rows=w.size(0), columns=w.size(1), width=width)
    return w


def check_switch(name: str, value: object) -> None:
    """true or false, not 0, 1 or text."""
    if not isinstance(value, bool):
        raise errors.NotBooleanError(name=name, value=shown(value))


def check_count(name: str, value: object) -> None:
    """A whole number from 1; true is not a number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise errors.NotWholeError(name=name, value=shown(value))


def steps(trace: AttentionTrace, names: tuple[str, ...], head: int | None = None) -> dict:
    """The named steps of a trace (of one head of it) as lists of rows."""
    tensors = {name: getattr(trace, name) for name in names}
    return {name: to_rows(t if head is None else t[head]) for name, t in tensors.items()}


def largest_difference(a: Tensor, b: Tensor) -> float:
    """max |a - b|: 0 where two routes agree to the last bit."""
    return (a - b).abs().max().item()
