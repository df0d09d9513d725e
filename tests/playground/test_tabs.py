"""The numbers of each tab against PyTorch's own, and those the documents print."""

from __future__ import annotations

import re

import pytest
import torch

from playground.actions import apply
from playground.flow import draw_w, x_of
from playground.stage import act
from playground.state import State
from playground.tab import tabs
from tests.playground import references
from tests.playground.random_states import presets, random_states

SINGLE = {
    "dot-product": references.dot_product,
    "self-attention": references.self_attention,
    "masking": references.masking,
}
PRESETS = [pytest.param(tab, state, id=f"{tab.name}: {name}") for tab, name, state in presets()]


def close(actual, expected, name):
    """Within 1e-9, or 1e-9 of the number; NaN where NaN."""
    torch.testing.assert_close(
        actual, expected, rtol=1e-9, atol=1e-9, equal_nan=True, msg=lambda m: f"{name}: {m}"
    )


def check(tab, state):
    """Every matrix of the tab is there once and holds the reference's numbers."""
    flow = tab.flow(state)
    if tab.name == "multi-head":
        heads, after = references.multi_head(state)
        expected = {(name, h): n for h, one in enumerate(heads) for name, n in one.items()}
        expected |= {(name, 0): n for name, n in after.items()}
    else:
        expected = {(name, 0): n for name, n in SINGLE[tab.name](state).items()}
    shown = {m.key: m.values for m in flow.matrices if not m.name.startswith("w_")}
    assert set(shown) == set(expected)
    for key, values in shown.items():
        close(values, expected[key], key)


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_the_numbers_of_a_preset(tab, state):
    check(tab, state.but(mistake=""))


@pytest.mark.parametrize("name", tabs())
def test_the_numbers_of_random_states(name):
    for state in random_states(name, mistakes=False):
        check(tabs()[name], state)


def test_multi_head_is_that_of_pytorch():
    """Output and weights of `nn.MultiheadAttention`, wherever its shapes allow the state."""
    count = 0
    for state in random_states("multi-head", 300, mistakes=False):
        same_width = state.width == state.channels
        if not same_width or state.typed or state.dropout or not state.scale:
            continue
        count += 1
        flow = tabs()["multi-head"].flow(state)
        output, weights = references.module(state)
        close(flow.get("output").values, output, "output")
        for h in range(state.n_head):
            close(flow.get("weights", h).values, weights[h], f"head {h}")
        assert max(flow.facts["checks"].values()) <= 1e-9 * max(1.0, float(output.abs().max()))
    assert count >= 30


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_a_preset_opens_quietly(tab, state, lang):
    """No notice, no text left over, something opened, the numbers on the page."""
    reply = act({"tab": tab.name, "lang": lang, "state": state.to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == state.to_json()
    assert "{" not in re.sub(r'(data-do|data-heat)="[^"]*"', "", reply["html"])
    assert 'class="notice"' not in reply["html"]
    assert state.open is not None
    assert reply["html"].count('<div class="glass" ') == 1
    for token in state.tokens:
        assert token in reply["html"]


def test_the_first_tab_opens_with_vectors_to_type_and_weights_in_view():
    first = next(iter(tabs().values()))
    html = act({"tab": first.name, "lang": "en"})["html"]
    vectors = html.split('data-matrix="vectors"')[1].split("</table>")[0]
    assert vectors.count('<td data-row="') == vectors.count('class="edit') == 18
    assert 'data-matrix="weights"' in html
    assert "veil" not in html


def preset(tab_name, name):
    return tabs()[tab_name].preset(name)


def shown(tab_name, state, name, head=0):
    return tabs()[tab_name].flow(state).get(name, head).values


def printed(values, expected, digits=4):
    torch.testing.assert_close(
        values.float(), torch.tensor(expected), atol=0.5001 * 10**-digits, rtol=0
    )


def test_the_context_vector_of_the_journey():
    printed(
        shown("dot-product", preset("dot-product", "journey"), "output"), [[0.4419, 0.6515, 0.5683]]
    )


def test_three_voices():
    state = preset("dot-product", "voices")
    assert shown("dot-product", state, "output").tolist() == [[81.5, 81.5]]
    soft = state.but(typed=False)
    assert shown("dot-product", soft, "scores").tolist() == [[200.0, 2000.0, 100.0]]
    assert shown("dot-product", soft, "weights").tolist() == [[0.0, 1.0, 0.0]]


def test_a_negative_share():
    state = preset("dot-product", "negative")
    assert float(shown("dot-product", state, "divided").min()) < 0
    assert float(shown("dot-product", state, "weights").min()) > 0


def test_big_scores_leave_one_weight():
    state = preset("dot-product", "big")
    scores = shown("dot-product", state, "scores")[0]
    assert scores[1:].tolist() == [5.0, 95.0, 12.0]
    printed(shown("dot-product", state, "weights")[0][1:], [0.0, 1.0, 0.0], 6)
    assert float((scores[1:] / 8).softmax(-1)[1]) > 0.9999


def test_the_journey_through_self_attention():
    """The notebook's first class: torch.rand after seed 123."""
    state = preset("self-attention", "journey")
    printed(shown("self-attention", state, "output")[1], [0.3061, 0.8210])
    torch.manual_seed(123)
    x = x_of(state)
    q, k, v = (x @ torch.rand(3, 2).double() for _ in range(3))
    close(shown("self-attention", state, "q"), q, "q")
    fused = torch.nn.functional.scaled_dot_product_attention(*(t[None, None] for t in (q, k, v)))
    close(shown("self-attention", state, "output"), fused[0, 0], "output")


def test_the_masked_journey_is_the_notebooks():
    """nn.Linear after seed 789; its masked weights."""
    state = preset("self-attention", "no-peeking")
    printed(shown("self-attention", state, "weights")[1], [0.5517, 0.4483, 0.0, 0.0, 0.0, 0.0])
    masking = preset("masking", "journey")
    close(
        shown("masking", masking, "weights"), shown("self-attention", state, "weights"), "weights"
    )


def test_the_third_row_of_four_words():
    printed(
        shown("masking", preset("masking", "four-words"), "weights")[2],
        [0.118, 0.354, 0.528, 0.0],
        3,
    )


@pytest.mark.parametrize("tab", ["masking", "self-attention"])
def test_nothing_of_the_future_is_seen_under_the_mask(tab):
    state = preset(tab, "two-way" if tab == "masking" else "no-peeking")
    weights = shown(tab, state, "weights")
    assert torch.equal(weights.triu(1), torch.zeros_like(weights))
    assert float(weights[-1].min()) > 0


def test_renormalising_equals_masking_before_softmax():
    """Wherever the weights left of a row can still be told from 0."""
    rows = 0
    for state in random_states("masking", mistakes=False):
        if state.typed:
            continue
        left = shown("masking", state, "sums_weights_after")[:, 0] > 1e-200
        before = shown("masking", state, "weights")[left]
        close(shown("masking", state, "weights_renormalised")[left], before, "renormalised")
        assert float(shown("masking", state, "sums_weights")[:, 1:].max()) <= 1e-12
        rows += int(left.sum())
    assert rows > 300


def test_sixty_four_numbers_saturate_without_the_root():
    state = preset("self-attention", "saturated")
    off = apply(tabs()["self-attention"], state, {"do": "set", "key": "scale", "value": False})
    assert float(shown("self-attention", off, "weights").amax(dim=-1).min()) > 0.89
    assert float(shown("self-attention", state, "weights").amax(dim=-1).max()) < 0.4


def test_four_heads_of_sixteen():
    state = preset("multi-head", "four-of-sixteen")
    flow = tabs()["multi-head"].flow(state)
    assert [flow.get("q", h).values.shape for h in range(4)] == [(3, 16)] * 4
    assert flow.get("concat").values.shape == flow.get("output").values.shape == (3, 64)
    html = act({"tab": "multi-head", "lang": "en", "state": state.to_json()})["html"]
    assert "[1, 3, 64] → 4 × [1, 3, 16] → [1, 3, 64]" in html


@pytest.mark.parametrize(("d_in", "d_out"), [(3, 2), (64, 64), (1, 16)])
def test_seeded_projections_are_those_of_nn_linear_and_of_torch_rand(d_in, d_out):
    torch.manual_seed(42)
    layers = [torch.nn.Linear(d_in, d_out, bias=False).weight.T.double() for _ in range(3)]
    g = torch.Generator().manual_seed(42)
    for layer in layers:
        torch.testing.assert_close(draw_w("linear", d_in, d_out, g), layer, rtol=1e-6, atol=1e-7)
    torch.manual_seed(42)
    g = torch.Generator().manual_seed(42)
    assert torch.equal(draw_w("rand", d_in, d_out, g), torch.rand(d_in, d_out).double())


def test_seeded_vectors_are_those_of_torch_randn():
    torch.manual_seed(9)
    state = State(tokens=list("abc"), vectors=[[0.0]] * 3, x="seeded", x_seed=9, x_width=64)
    assert torch.equal(x_of(state), torch.randn(3, 64).double())


def test_a_future_too_loud_leaves_the_detour_nothing():
    """Hidden scores 799 larger: 0 / 0 after softmax, no trouble before it; the sentence says so."""
    tab = tabs()["masking"]
    state = State(vectors=[[1.0], [800.0]])
    assert shown("masking", state, "weights").tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert shown("masking", state, "weights_renormalised")[0].isnan().all()
    for lang, word in (("en", "hidden scores"), ("ko", "가려야 할 점수")):
        html = act({"tab": "masking", "lang": lang, "state": state.to_json()})["html"]
        assert word in html.split('class="sentence"')[1].split("</p>")[0]
    typed = state.but(typed=True, weights=[[[0.0, 1.0], [0.5, 0.5]]])
    assert "typed weights" in tab.sentence(tab.flow(typed), typed, "en")
