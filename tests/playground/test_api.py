"""The named API over HTTP, against implementations that are not ours."""

from __future__ import annotations

import math
from typing import Any

import httpx
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.conftest import AppServer
from tests.playground.calls import call

CALLS = 500
TOLERANCE = 1e-5


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
