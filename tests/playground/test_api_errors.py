"""Wrong calls of the named API, each with words that its answer must hold."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import httpx
import pytest

from tests.conftest import AppServer
from tests.playground.calls import call, post

Call = tuple[str, list[Any]]

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]  # three tokens of two dimensions
I2 = [[1.0, 0.0], [0.0, 1.0]]


def attend(
    vectors: Any = X,
    w_query: Any = None,
    w_key: Any = None,
    w_value: Any = None,
    causal: Any = False,
    scale: Any = True,
) -> Call:
    return "attention", [vectors, w_query, w_key, w_value, causal, scale]


def heads(
    vectors: Any = X,
    w_query: Any = None,
    w_key: Any = None,
    w_value: Any = None,
    w_out: Any = None,
    n_head: Any = 2,
    causal: Any = False,
) -> Call:
    return "multi_head", [vectors, w_query, w_key, w_value, w_out, n_head, causal]


BAD: list[tuple[Call, str]] = [
    # not a matrix
    (attend(None), "vectors is null; it must be a matrix"),
    (attend("cat"), 'vectors is "cat"; it must be a matrix'),
    (attend(7), "vectors is 7; it must be a matrix"),
    (attend(True), "vectors is true; it must be a matrix"),
    (attend({"rows": X}), "vectors holds an object"),
    (attend([1, 2, 3]), "vectors[0] is 1; each row must be a list"),
    (attend([[1, 2], None]), "vectors[1] is null; each row must be a list"),
    (attend([[1, 2], "34"]), 'vectors[1] is "34"; each row must be a list'),
    (attend([[1, 2], {"a": 1}]), "vectors holds an object"),
    (attend({"path": "/etc/hosts", "meta": {"_type": "gradio.FileData"}}), "holds an object"),
    (attend([[[1, 2], [3, 4]]]), "vectors[0][0] is […]; it must be a number"),
    (attend(w_key="identity"), 'w_key is "identity"; it must be a matrix'),
    (attend(w_value=1), "w_value is 1; it must be a matrix"),
    (heads(w_out=False), "w_out is false; it must be a matrix"),
    # empty, ragged, too large
    (attend([]), "vectors is empty: it holds 0 rows"),
    (attend([[]]), "vectors[0] is empty: it holds 0 numbers"),
    (attend([[1], []]), "vectors[1] is empty: it holds 0 numbers"),
    (attend(w_query=[]), "w_query is empty: it holds 0 rows"),
    (attend([[1, 2], [3]]), "vectors[1] has 1 numbers but vectors[0] has 2"),
    (attend([[1], [2], [3, 4, 5]]), "vectors[2] has 3 numbers but vectors[0] has 1"),
    (attend(w_key=[[1, 2], [3, 4, 5]]), "w_key[1] has 3 numbers but w_key[0] has 2"),
    (attend([[1.0]] * 65), "vectors has 65 rows; at most 64"),
    (attend([[1.0] * 65]), "vectors has 65 columns; at most 64"),
    (attend(w_value=[[1.0] * 70] * 2), "w_value has 70 columns; at most 64"),
    (heads(w_query=[[1.0]] * 100), "w_query has 100 rows; at most 64"),
    # not numbers
    (attend([[1, "2"]]), 'vectors[0][1] is "2"; it must be a number'),
    (attend([[1, 2], [3, None]]), "vectors[1][1] is null; it must be a number"),
    (attend([[True, 2]]), "vectors[0][0] is true; it must be a number"),
    (attend([[1, 2], [3, ""]]), 'vectors[1][1] is ""; it must be a number'),
    (attend([["\ud800"]]), "vectors[0][0] is"),
    (attend([["고양이"]]), 'vectors[0][0] is "고양이"; it must be a number'),
    (attend(w_value=[[1, 2], ["x", 4]]), 'w_value[1][0] is "x"; it must be a number'),
    (heads(w_out=[[1, 0], [0, None]]), "w_out[1][1] is null; it must be a number"),
    # not finite, or not after multiplying
    (attend(math.nan), "vectors is NaN; it must be a matrix"),
    (attend([[1, math.nan]]), "vectors holds nan at position [0, 1]"),
    (attend([[1], [math.inf]]), "vectors holds inf at position [1, 0]"),
    (attend([[-math.inf]]), "vectors holds -inf at position [0, 0]"),
    (attend(w_key=[[1, 0], [math.nan, 1]]), "w_key holds nan at position [1, 0]"),
    (attend([[10**400]]), "vectors[0][0] is a whole number of about 401 digits"),
    (attend([[1e200, 1]]), "Computing scores overflows: inputs as large as 1e+200"),
    (attend([[1e200, 1]], w_query=[[1e200], [1]], w_key=[[1], [1]]), "Computing q overflows"),
    (attend([[1e9, 1]], w_value=[[1.7e308], [1]]), "Computing v overflows"),
    (heads([[1e200, 1]]), "Computing scores overflows: inputs as large as 1e+200"),
    (heads(w_value=[[1e308, 0], [1e308, 0]]), "Computing v overflows"),
    (heads(w_out=[[1e308, 0], [1e308, 1]]), "Computing output overflows"),
    # shapes that do not fit
    (attend(w_query=[[1.0, 0.0]]), "w_query has 1 rows but each vector has 2 numbers"),
    (attend(w_key=[[1], [2], [3]]), "w_key has 3 rows but each vector has 2 numbers"),
    (attend(w_value=[[1]] * 5), "w_value has 5 rows but each vector has 2 numbers"),
    (attend(w_query=[[1], [2]]), "Each query has 1 numbers but each key has 2"),
    (attend(w_query=I2, w_key=[[1, 2, 3], [4, 5, 6]]), "query has 2 numbers but each key has 3"),
    (heads(w_value=[[1, 2, 3]]), "w_value has 1 rows but each vector has 2 numbers"),
    (heads(w_key=[[1, 2, 3, 4], [5, 6, 7, 8]]), "query has 2 numbers but each key has 4"),
    (heads(w_out=[[1, 2, 3], [4, 5, 6]]), "w_out is 2 × 3; it must be square, 2 × 2"),
    (heads(w_out=[[1]]), "w_out is 1 × 1; it must be square, 2 × 2"),
    # n_head
    (heads(n_head=3), "A width of 2 cannot be split among 3 heads"),
    (heads([[1.0] * 6], n_head=4), "A width of 6 cannot be split among 4 heads"),
    (heads(w_value=[[1, 2, 3], [4, 5, 6]]), "A width of 3 cannot be split among 2 heads"),
    (heads(n_head=0), "n_head is 0; it must be a whole number"),
    (heads(n_head=-2), "n_head is -2; it must be a whole number"),
    (heads(n_head=1.5), "n_head is 1.5; it must be a whole number"),
    (heads(n_head="2"), 'n_head is "2"; it must be a whole number'),
    (heads(n_head=True), "n_head is true; it must be a whole number"),
    (heads(n_head=None), "n_head is null; it must be a whole number"),
    (heads(n_head=64), "A width of 2 cannot be split among 64 heads"),
    # switches
    (attend(causal=1), "causal is 1; it must be true or false"),
    (attend(causal="yes"), 'causal is "yes"; it must be true or false'),
    (attend(scale=None), "scale is null; it must be true or false"),
    (attend(scale=[True]), "scale is […]; it must be true or false"),
    (heads(causal=0), "causal is 0; it must be true or false"),
    # how many arguments, and to whom
    (("attention", []), "attention got 0 arguments but takes 6: [vectors, w_query"),
    (("attention", [X]), "attention got 1 arguments but takes 6"),
    (("attention", [X, None, None, None]), "attention got 4 arguments but takes 6"),
    (("attention", [X, None, None, None, False, True, 1]), "attention got 7 arguments but takes 6"),
    (("multi_head", [X, None, None, None, None, 2]), "multi_head got 6 arguments but takes 7"),
    (("attend", [X]), "There is no endpoint /attend; there are /attention, /multi_head"),
]


def test_every_bad_call_is_answered_by_its_trouble(
    app_url: AppServer, client: httpx.Client
) -> None:
    assert len({json.dumps(arguments) for arguments, _ in BAD}) == len(BAD) >= 60
    order = random.Random(4).sample(BAD, len(BAD))
    for (name, arguments), words in order:
        answer = post(client, name, arguments)
        assert answer.status_code in (404, 422), (name, arguments)
        assert words in answer.json()["error"], (name, arguments)
    assert call(client, "attention", *attend()[1])["scores"][0] == [5, 11, 17]
    assert "Traceback" not in app_url.log()


MALFORMED = [
    (b"", "this one is not JSON"),
    (b"cat", "this one is not JSON"),
    (b'{"data": ', "this one is not JSON"),
    (b'{"data": ["\xff"]}', "this one is not JSON"),
    (b'{"data": [' + b"[" * 50_000 + b"]" * 50_000 + b"]}", "this one is not JSON"),
    (b'{"data": [[[' + b"9" * 5_000 + b"]]]}", "this one is not JSON"),
    (b"[1, 2]", "this one is […]"),
    (b"{}", 'this one has null for "data"'),
    (b'{"data": {"vectors": [[1]]}}', 'this one has {…} for "data"'),
    (b'{"data": NaN}', 'this one has NaN for "data"'),
    (b'{"data": [], "fn_index": 9999}', "attention got 0 arguments"),
]


@pytest.mark.parametrize(("body", "words"), MALFORMED)
def test_a_malformed_body_is_answered(
    app_url: AppServer, client: httpx.Client, body: bytes, words: str
) -> None:
    answer = client.post(
        "/run/attention", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert "Traceback" not in app_url.log()


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_one_megabyte_is_refused(
    app_url: AppServer, client: httpx.Client, chunked: bool
) -> None:
    body = json.dumps({"data": attend(vectors="1" * 1_000_000)[1]}).encode()
    content = (body[i : i + 65_536] for i in range(0, len(body), 65_536)) if chunked else body
    answer = client.post(
        "/run/attention", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    assert f"The body has {len(body):,} bytes; at most 1,000,000" in answer.json()["error"]
    assert "Traceback" not in app_url.log()


QUEUED = [
    (attend([[1, "2"]])[1], 'vectors[0][1] is "2"; it must be a number'),
    (attend({"path": "/etc/hosts", "meta": {"_type": "gradio.FileData"}})[1], "holds an object"),
    ([X], "attention got 1 arguments but takes 6"),
    (attend()[1] + [1], "attention got 7 arguments but takes 6"),
]


@pytest.mark.parametrize(("arguments", "words"), QUEUED)
def test_gradios_own_way_in_answers_the_same(
    app_url: AppServer, client: httpx.Client, arguments: list[Any], words: str
) -> None:
    """/call, which gradio_client and MCP go by: an event, then the stream of its answer."""
    event = client.post("/call/attention", json={"data": arguments}).json()["event_id"]
    answer = client.get(f"/call/attention/{event}").text
    assert answer.startswith("event: error\ndata: ")
    assert words in json.loads(answer.split("data: ", 1)[1])["error"]
    assert "Traceback" not in app_url.log()


def test_arguments_by_name_are_checked_too(app_url: AppServer, client: httpx.Client) -> None:
    """/call/v2, which the app's own API page shows to users of curl."""
    missing = client.post("/call/v2/attention", json={"vectors": X})
    assert (missing.status_code, "w_query" in missing.json()["error"]) == (422, True)
    unknown = client.post("/call/v2/attend", json={"vectors": X})
    assert unknown.status_code == 404
    assert "/attention, /multi_head" in unknown.json()["error"]
    assert "Traceback" not in app_url.log()
