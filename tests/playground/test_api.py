"""The named API over HTTP, against implementations that are not ours."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.conftest import AppServer

CALLS = 500
TOLERANCE = 1e-5
Call = tuple[str, list[Any]]


@pytest.fixture(scope="module")
def client(app_url: AppServer) -> Iterator[httpx.Client]:
    """One kept connection."""
    with httpx.Client(base_url=f"{app_url.url}/gradio_api", timeout=30) as client:
        yield client


def post(client: httpx.Client, name: str, arguments: list[Any]) -> httpx.Response:
    """A raw POST, as any program makes it; NaN and ∞ as Python's JSON writes them."""
    return client.post(
        f"/run/{name}",
        content=json.dumps({"data": arguments}),
        headers={"Content-Type": "application/json"},
    )


def call(client: httpx.Client, name: str, *arguments: Any) -> dict[str, Any]:
    """The answer of an endpoint that is called rightly."""
    answer = post(client, name, list(arguments))
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["data"]
    return result


def matrix(rng: np.random.Generator, rows: int, columns: int) -> list[list[float]]:
    return rng.normal(size=(rows, columns)).tolist()


def array(rows: list[list[float | None]]) -> np.ndarray:
    """Lists of rows, null read as -∞."""
    return np.array([[-np.inf if x is None else x for x in row] for row in rows])


def worst(got: dict[str, Any], expected: dict[str, np.ndarray]) -> float:
    """The largest difference over all steps; -∞ equals -∞, and nothing else."""
    assert set(got) == set(expected)
    largest = 0.0
    for name, want in expected.items():
        have = array(got[name])
        assert have.shape == want.shape, name
        assert (np.isneginf(have) == np.isneginf(want)).all(), name
        finite = ~np.isneginf(want)
        largest = max(largest, float(np.abs(have[finite] - want[finite]).max()))
    return largest


# Right answers.


def attention_by_numpy(
    x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, causal: bool, scale: bool
) -> dict[str, np.ndarray]:
    """Attention one number at a time: loops and sums, no matrix product."""
    T, width = len(x), w_q.shape[1]
    q, k, v = (np.array([[(row * c).sum() for c in w.T] for row in x]) for w in (w_q, w_k, w_v))
    scores = np.array([[(q[i] * k[j]).sum() for j in range(T)] for i in range(T)])
    scaled = scores / math.sqrt(width) if scale else scores
    masked = np.array(
        [[-np.inf if causal and j > i else scaled[i, j] for j in range(T)] for i in range(T)]
    )
    weights = np.array([np.exp(row - row.max()) for row in masked])
    weights = np.array([row / row.sum() for row in weights])
    output = np.array([sum(weights[i, j] * v[j] for j in range(T)) for i in range(T)])
    names = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
    return dict(zip(names, (q, k, v, scores, scaled, masked, weights, output), strict=True))


def test_attention_equals_numpy_and_sdpa(client: httpx.Client) -> None:
    rng, largest = np.random.default_rng(1), 0.0
    for _ in range(CALLS):
        T, d_in, width, v_width = (int(n) for n in rng.integers(1, 9, size=4))
        causal, scale = (bool(b) for b in rng.integers(0, 2, size=2))
        x = matrix(rng, T, d_in)
        identity = rng.random(3) < 0.2
        identity[0] = identity[1] = identity[0] and identity[1]  # q and k equally wide
        w = [
            None if none else matrix(rng, d_in, columns)
            for none, columns in zip(identity, (width, width, v_width), strict=True)
        ]
        got = call(client, "attention", x, *w, causal, scale)
        full = [np.eye(d_in) if rows is None else np.array(rows) for rows in w]
        largest = max(largest, worst(got, attention_by_numpy(np.array(x), *full, causal, scale)))
        q, k, v = (torch.tensor(x, dtype=torch.float64) @ torch.from_numpy(m) for m in full)
        sdpa = F.scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=None if scale else 1.0
        )
        largest = max(largest, float(np.abs(array(got["output"]) - sdpa.numpy()).max()))
    print(f"\n/attention: {CALLS} calls, worst difference {largest:.1e}")
    assert largest <= TOLERANCE


def multi_head_by_torch(
    x: torch.Tensor, w: list[torch.Tensor], w_out: torch.Tensor, n_head: int, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output `(T, C)` and weights `(n_head, T, T)` of `torch.nn.MultiheadAttention`."""
    d_in, C = w[0].shape
    theirs = torch.nn.MultiheadAttention(
        C, n_head, bias=False, kdim=d_in, vdim=d_in, batch_first=True, dtype=torch.float64
    )
    with torch.no_grad():
        if d_in == C:
            theirs.in_proj_weight.copy_(torch.cat([m.T for m in w]))
        else:  # theirs takes queries of width C only: hand it q ready-made
            for name, m in zip(("q", "k", "v"), w, strict=True):
                eye = torch.eye(C, dtype=torch.float64)
                getattr(theirs, f"{name}_proj_weight").copy_(eye if name == "q" else m.T)
        theirs.out_proj.weight.copy_(w_out.T)
        future = torch.ones(len(x), len(x), dtype=torch.bool).triu(1) if causal else None
        query = x if d_in == C else x @ w[0]
        output, weights = theirs(
            query[None], x[None], x[None], attn_mask=future, average_attn_weights=False
        )
    return output[0], weights[0]


def test_multi_head_equals_torch(client: httpx.Client) -> None:
    rng, largest = np.random.default_rng(2), 0.0
    for _ in range(CALLS):
        T, d_in, head_size = (int(n) for n in rng.integers(1, 7, size=3))
        n_head, causal = int(rng.integers(1, 5)), bool(rng.integers(2))
        C = d_in if rng.random() < 0.5 else n_head * head_size
        if C % n_head:
            n_head = 1
        x = matrix(rng, T, d_in)
        w = [None if d_in == C and rng.random() < 0.2 else matrix(rng, d_in, C) for _ in range(3)]
        w_out = None if rng.random() < 0.2 else matrix(rng, C, C)
        got = call(client, "multi_head", x, *w, w_out, n_head, causal)

        eye = np.eye(C)
        full = [torch.tensor(eye if m is None else m, dtype=torch.float64) for m in w]
        full_out = torch.tensor(eye if w_out is None else w_out, dtype=torch.float64)
        tokens = torch.tensor(x, dtype=torch.float64)
        output, weights = multi_head_by_torch(tokens, full, full_out, n_head, causal)
        largest = max(largest, float(np.abs(array(got["output"]) - output.numpy()).max()))
        largest = max(largest, worst_head(got, np.array(x), full, weights.numpy(), causal))
        assert set(got["max_difference"]) == {"loop_vs_fused", "fused_vs_sdpa"}
        assert all(0 <= difference <= 1e-10 for difference in got["max_difference"].values())
    print(f"\n/multi_head: {CALLS} calls, worst difference {largest:.1e}")
    assert largest <= TOLERANCE


def worst_head(
    got: dict[str, Any],
    x: np.ndarray,
    w: list[torch.Tensor],
    weights: np.ndarray,
    causal: bool,
) -> float:
    """Each head's steps by numpy on its own columns, its weights by torch, and their joining."""
    largest, n_head = 0.0, len(weights)
    columns = [[np.array(part) for part in np.split(m.numpy(), n_head, axis=1)] for m in w]
    assert len(got["heads"]) == n_head
    for head, (w_q, w_k, w_v) in enumerate(zip(*columns, strict=True)):
        expected = attention_by_numpy(x, w_q, w_k, w_v, causal, scale=True)
        for name in ("q", "k", "v"):
            del expected[name]
        largest = max(largest, worst(got["heads"][head], expected))
        off = np.abs(array(got["heads"][head]["weights"]) - weights[head]).max()
        largest = max(largest, float(off))
    joined = np.concatenate([array(head["output"]) for head in got["heads"]], axis=1)
    assert (joined == array(got["concat"])).all()
    return largest


def test_the_largest_size_works(client: httpx.Client) -> None:
    rng = np.random.default_rng(3)
    x, *w = (matrix(rng, 64, 64) for _ in range(5))
    got = call(client, "attention", x, *w[:3], True, True)
    assert {np.shape(rows) for rows in got.values()} == {(64, 64)}
    q, k, v = (
        torch.tensor(x, dtype=torch.float64) @ torch.tensor(m, dtype=torch.float64) for m in w[:3]
    )
    sdpa = F.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()
    assert np.abs(array(got["output"]) - sdpa).max() <= TOLERANCE
    assert len(call(client, "multi_head", x, *w, 8, True)["heads"]) == 8


def test_minus_infinity_travels_as_null_and_numbers_whole(client: httpx.Client) -> None:
    got = call(client, "attention", [[1 / 3, 2], [0.1, 1e-17]], None, None, None, True, False)
    assert got["q"] == [[1 / 3, 2], [0.1, 1e-17]]
    assert got["masked"][0][1] is None
    assert got["scaled"][0][1] is not None
    assert got["weights"][0] == [1.0, 0.0]


def test_gradio_client_fills_in_the_defaults(app_url: AppServer) -> None:
    from gradio_client import Client

    theirs = Client(app_url.url, verbose=False, analytics_enabled=False)
    try:
        got = theirs.predict([[1, 0], [0, 2]], None, None, None, api_name="/attention")
        assert got["scaled"][1][1] == pytest.approx(4 / math.sqrt(2))
        assert got["masked"] == got["scaled"]
        got = theirs.predict(
            vectors=[[1, 0], [0, 2]],
            w_query=None,
            w_key=None,
            w_value=None,
            w_out=None,
            n_head=2,
            api_name="/multi_head",
        )
        assert got["heads"][1]["scores"] == [[0, 0], [0, 4]]
    finally:
        theirs.close()


def test_the_documentation_names_and_types_every_argument(client: httpx.Client) -> None:
    endpoints = client.get("/info").json()["named_endpoints"]
    taken = {
        name: {p["parameter_name"]: p["python_type"]["type"] for p in endpoint["parameters"]}
        for name, endpoint in endpoints.items()
    }
    rows, rows_or_null = "list[list[float]]", "None | list[list[float]]"
    w = {"w_query": rows_or_null, "w_key": rows_or_null, "w_value": rows_or_null}
    assert taken["/attention"] == {"vectors": rows, **w, "causal": "bool", "scale": "bool"}
    assert taken["/multi_head"] == {
        "vectors": rows,
        **w,
        "w_out": rows_or_null,
        "n_head": "int",
        "causal": "bool",
    }
    for name in ("/attention", "/multi_head"):
        description = endpoints[name]["description"]
        for fact in ("64 tokens × 64 dimensions", "float64", "null: identity", "lists of rows"):
            assert fact in description, (name, fact)


# Wrong calls, each with words its answer must hold.

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
