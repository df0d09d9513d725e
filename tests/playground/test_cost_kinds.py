"""Cheaper attention in the Cost tab: each kind beside PyTorch's own, and what its examples say."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from playground.explain import explain
from playground.stage import act
from tests.playground.html_tree import read
from tests.playground.test_cost_tab import CHEAPER, TAB, all_open, do, matrix


def states():
    """Random vectors, every pattern, width, k and mask."""
    g = torch.Generator().manual_seed(4)
    for n, (pattern, causal) in enumerate(
        (p, c) for p in ("window", "strided") for c in (True, False)
    ):
        T, d = 3 + n, 1 + n
        yield CHEAPER.but(
            tokens=[f"t{t}" for t in range(T)],
            vectors=(2 * torch.randn(T, d, generator=g)).tolist(),
            pattern=pattern,
            causal=causal,
            window=1 + n % 3,
            k=1 + n % 2,
        )


@pytest.mark.parametrize("state", list(states()), ids=lambda s: f"{s.pattern}, causal {s.causal}")
def test_each_kind_is_pytorchs_with_a_mask_by_hand(state):
    x, T = torch.tensor(state.vectors).double(), len(state.vectors)

    def sees(i, j):
        back = i - j if state.causal else abs(i - j)
        near = 0 <= back < state.window
        return near or (state.pattern == "strided" and back >= 0 and back % state.window == 0)

    sparse = torch.tensor([[sees(i, j) for j in range(T)] for i in range(T)])
    visible = torch.ones(T, T).tril().bool() if state.causal else torch.ones(T, T).bool()
    expected = {"": visible, "_sparse": sparse}
    for end, mask in expected.items():
        theirs = F.scaled_dot_product_attention(x[None], x[None], x[None], mask)[0]
        torch.testing.assert_close(matrix(state, f"output{end}").values, theirs)
    similar = ((F.elu(x) + 1) @ (F.elu(x) + 1).T) * visible
    theirs = (similar / similar.sum(-1, keepdim=True)) @ x
    torch.testing.assert_close(matrix(state, "output_linear").values, theirs)
    far = (theirs - matrix(state, "output").values).abs().amax(-1)
    torch.testing.assert_close(matrix(state, "apart_linear").values[:, 0], far)
    kept = matrix(state, "weights_top_k").values > 0
    assert (kept.sum(-1) <= state.k).all()


@pytest.mark.parametrize("state", list(states()), ids=lambda s: f"{s.pattern}, causal {s.causal}")
def test_every_number_of_the_kinds_opens(state):
    all_open(state)


def test_hidden_keys_are_hatched_on_either_side_of_a_window():
    page = read(TAB.view(CHEAPER, "en"))
    (table,) = [t for t in page.all("table") if t.attributes.get("data-matrix") == "weights_sparse"]
    hatched = {
        (int(c.attributes["data-row"]), int(c.attributes["data-col"]))
        for c in table.all("td", "masked")
    }
    assert hatched == {(i, j) for i in range(5) for j in range(5) if not 0 <= i - j < 2}


def test_the_window_example_as_its_text_says():
    """Widened to all five tokens, and no sooner, the window changes nothing."""
    for window in range(1, 6):
        far = matrix(CHEAPER.but(window=window), "apart_sparse").values.max()
        assert (far == 0) == (window == 5)


def test_the_linear_example_as_its_text_says():
    """Softmax gives nearly all to one token, linear attention to none; no score in its sum."""
    state = TAB.form.example("linear")
    assert (matrix(state, "weights").values.amax(-1) > 0.95).all()
    assert (matrix(state, "weights_linear").values.amax(-1) < 0.75).all()
    flow = TAB.form.flow(state, "en")
    sources = explain(flow, flow.get("output_linear"), 0, 0).sources
    assert {source[0] for source in sources} == {"phi", "kv", "z"}


def test_features_that_vanish_are_told_and_the_rest_stays():
    state = do(CHEAPER, "cell", matrix="vectors", row=0, col=0, text="-800")
    state = do(state, "cell", matrix="vectors", row=0, col=1, text="-800")
    for lang in ("en", "ko"):
        reply = act({"tab": "cost", "lang": lang, "state": state.to_json()})
        assert reply["state"] == state.to_json()
        (told,) = read(reply["html"]).all("p", "notice")
        assert "-800" in told.text
    assert matrix(state, "output_linear") is None
    assert matrix(state, "output_sparse") is not None


def test_tokens_come_and_go_with_their_vectors():
    state = do(do(CHEAPER, "add"), "remove", index=0)
    assert state.tokens == ["cat", "sat", "on", "it", "t6"]
    assert len(state.vectors) == 5
    assert TAB.usable({"section": "cheaper", "vectors": [[1.0], [2.0]]}).tokens == ["the", "cat"]
