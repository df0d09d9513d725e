"""The numbers of the Block tab against PyTorch's and the shipped model's, their sums, what its examples say."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model import load_checkpoint
from model.looking import trace_of
from model.stack import WIRINGS, climb, cosines, fresh_block, stacked
from playground.arithmetic import equal
from playground.block import run as runs
from playground.explain import explain
from tests.model.test_stack import NAMES as WEIGHT_NAMES
from tests.playground.block_states import (
    EXAMPLES,
    FORM,
    PANEL,
    SEEDS,
    STATES,
    WAYS,
    close,
    values,
    wired,
)
from tests.playground.html_tree import read


@pytest.mark.parametrize("state", STATES)
def test_every_number_opens_to_a_sum_that_gives_it(state):
    flow = FORM.flow(state, "en")
    opened = 0
    for m in flow.matrices:
        if m.editable or not m.shown:
            continue
        assert m.column_lines or m.line, m.name
        for i, row in enumerate(m.values.tolist()):
            for j, value in enumerate(row):
                made = explain(flow, m, i, j)
                assert made.parts, (m.key, i, j)
                assert equal(made.value, value)
                opened += 1
    assert opened >= 12


@pytest.mark.parametrize("way", WAYS)
def test_your_vectors_go_through_pytorchs_own_block(way):
    """nn.TransformerEncoderLayer with the same weights; without residual, written out here."""
    norm, residual, activation = way
    state = wired(EXAMPLES["vectors"].but(seed=3), *way)
    x = torch.tensor(state.vectors, dtype=torch.float64)
    block = fresh_block(4, 2, torch.Generator().manual_seed(3))
    bend = F.relu if activation == "relu" else lambda h: F.gelu(h, approximate="tanh")
    mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
    if norm != "none" and residual:
        theirs = nn.TransformerEncoderLayer(
            4, 2, 16, dropout=0.0, activation=bend, batch_first=True,
            norm_first=norm == "pre", dtype=torch.float64,
        )  # fmt: skip
        weights = block.state_dict()
        for name in theirs.state_dict():
            (old,) = (old for old in WEIGHT_NAMES if name.startswith(old))
            weights[name] = weights.pop(name.replace(old, WEIGHT_NAMES[old]))
        theirs.load_state_dict(weights)
        out = theirs(x[None], src_mask=mask)[0].detach()
    else:
        attention = nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
        attention.load_state_dict(
            {
                "in_proj_weight": block.attn.c_attn.weight, "in_proj_bias": block.attn.c_attn.bias,
                "out_proj.weight": block.attn.c_proj.weight, "out_proj.bias": block.attn.c_proj.bias,
            }
        )  # fmt: skip

        def normal(h):
            return F.layer_norm(h, (4,))

        h = normal(x) if norm == "pre" else x
        h = attention(h[None], h[None], h[None], attn_mask=mask)[0][0] + residual * x
        middle = normal(h) if norm == "post" else h
        h = normal(middle) if norm == "pre" else middle
        h = block.mlp.c_proj(bend(block.mlp.c_fc(h))) + residual * middle
        out = (normal(h) if norm == "post" else h).detach()
    close(values(state, "resid_post"), out)
    lengths = values(state, "norms")
    close(lengths[:, 0], x.norm(dim=1))
    close(lengths[:, 2], out.norm(dim=1))


@pytest.mark.parametrize("layer", ["1", "2", "3", "4"])
@pytest.mark.parametrize("at", [0, 3, 11])
def test_a_trained_block_is_the_shipped_models_own(layer, at):
    """Every step of the chosen token, against a pass of the shipped model over the whole prompt."""
    shipped = load_checkpoint("shakespeare-64")
    ids = shipped.tokenizer.encode("To be, or not to be")
    at = min(at, len(ids) - 1)
    t = trace_of(shipped.gpt, ids).blocks[int(layer) - 1]
    state = EXAMPLES["trained"].but(layer=layer, at=at)
    for name in ("resid_pre", "normed_1", "attn_out", "resid_mid", "normed_2", "hidden_pre", "hidden", "mlp_out", "resid_post"):  # fmt: skip
        found = values(state, name)
        assert found.shape == (1, runs.READ)
        close(found[0], getattr(t, name)[0, at, : runs.READ].double(), 2e-4)
    for h in range(4):
        close(values(state, "weights", h)[0], t.attn.heads.weights[0, h, at, : at + 1].double(), 2e-4)  # fmt: skip
    streams = (t.resid_pre, t.resid_mid, t.resid_post)
    close(values(state, "norms")[0], torch.stack([s[0, at].norm() for s in streams]).double(), 2e-4)


def test_mean_and_variance_are_those_of_all_numbers_also_where_eight_are_shown():
    state = EXAMPLES["trained"]
    whole = runs.run(state).found.trace
    for name, step in (("before_1", whole.resid_pre), ("after_2", whole.normed_2)):
        x = step[0, -1]
        assert x.numel() == 64
        close(values(state, name)[0], torch.stack([x.mean(), x.var(correction=0)]))


def test_a_stack_is_that_of_the_model():
    state = EXAMPLES["twelve"].but(blocks=5, width="32", gain="2", seed=7, activation="relu")
    flow = FORM.flow(state, "en")
    for row, wiring in enumerate(WIRINGS):
        found = climb(stacked(5, 32, 4, 7, wiring=wiring, gain=2.0, activation="relu"))
        close(flow.get("stream").values[row], found.streams.norm(dim=-1).mean(dim=-1))
        size = found.gradients.flatten(1).norm(dim=1)
        close(flow.get("gradient").values[row], size.log10())
        close(flow.get("weight_gradient").values[row], found.weights.norm(dim=1).log10())
        close(flow.get("alike").values[row], cosines(found.streams).mean(dim=-1))
    assert [h.en for h in flow.get("stream").headers] == ["0", "1", "2", "3", "4", "5"]
    assert [h.en for h in flow.get("weight_gradient").headers] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("norm", "residual", "lines"),
    [
        ("pre", True, ("x = x + attn(ln_1(x))", "x = x + mlp(ln_2(x))")),
        ("pre", False, ("x = attn(ln_1(x))", "x = mlp(ln_2(x))")),
        ("post", True, ("x = ln_1(x + attn(x))", "x = ln_2(x + mlp(x))")),
        ("post", False, ("x = ln_1(attn(x))", "x = ln_2(mlp(x))")),
        ("none", True, ("x = x + attn(x)", "x = x + mlp(x)")),
        ("none", False, ("x = attn(x)", "x = mlp(x)")),
    ],
)
def test_the_block_is_written_as_it_is_wired(norm, residual, lines):
    """Each line, run with the block's own modules, gives what the page shows."""
    state = wired(EXAMPLES["vectors"], norm, residual, "gelu")
    shown = read(PANEL.view(state, "ko")).first("div", "ledger").text
    assert shown == "".join(lines)
    block = runs.run(state).block
    causal = {"attn": lambda h: block.attn(h, causal=True), "mlp": block.mlp}
    names = {
        "x": torch.tensor(state.vectors).double()[None],
        "ln_1": block.ln_1,
        "ln_2": block.ln_2,
    }
    for line, name in zip(lines, ("resid_mid", "resid_post"), strict=True):
        exec(line, causal | {"__builtins__": {}}, names)
        close(values(state, name), names["x"][0])


# What the examples say is seen


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_times_a_row_is_the_same_row_to_layer_norm(seed):
    state = EXAMPLES["vectors"].but(seed=seed)
    a, b, _ = values(state, "before_1")
    close(b, a * torch.tensor([10.0, 100.0], dtype=torch.float64))
    for name in ("normed_1", "attn_out"):
        a, b, _ = values(state, name)
        close(b, a, 1e-5)
    lengths = values(state, "norms")
    assert [round(v, 2) for v in lengths[:2, 0].tolist()] == [10.95, 109.54]
    assert 105 < lengths[1].min() < lengths[1].max() < 115
    off = values(state.but(norm="none"), "norms")
    assert off[2, 1] > 1.5 * lengths[2, 1]  # c hears b
    forgot = values(state.but(residual=False), "norms")
    close(forgot[0, 1:], forgot[1, 1:], 1e-5)
    assert forgot[1, 1] < 2


def test_with_layer_norm_off_it_is_b_that_c_hears():
    """c's output changes with b's length far more than with LayerNorm on."""
    state = EXAMPLES["vectors"]
    quieter = state.but(vectors=[state.vectors[0], [2.0, 4.0, 6.0, 8.0], state.vectors[2]])
    for seed in SEEDS:
        moved = {
            norm: (
                values(state.but(norm=norm, seed=seed), "attn_out")[2]
                - values(quieter.but(norm=norm, seed=seed), "attn_out")[2]
            ).norm()
            for norm in ("pre", "none")
        }
        assert moved["pre"] < 1e-5
        assert moved["none"] > 0.5


def test_a_trained_block_grows_its_token_mostly_by_the_mlp():
    came, middle, out = values(EXAMPLES["trained"], "norms")[0].tolist()
    assert out > 4 * came
    assert out - middle > middle - came
    third = values(EXAMPLES["trained"].but(layer="3"), "norms")[0].tolist()
    assert 0.9 * third[0] < third[1] < third[0]
    for layer in ("1", "3", "4"):
        variance = float(values(EXAMPLES["trained"].but(layer=layer), "after_1")[0, 1])
        assert abs(variance - 1) > 0.1
    box = read(PANEL.view(EXAMPLES["trained"].but(open=["normed_1", 0, 0, 0]), "en"))
    gamma = load_checkpoint("shakespeare-64").gpt.blocks[0].ln_1.weight[0]
    assert f"× {gamma:.4f} =" in " ".join(box.first("div", "sum").text.split())


def test_the_examples_of_stacks_are_the_ones_whose_outcomes_are_tested():
    """12 blocks 64 wide, 4 heads, GELU: see tests/model/test_stack.py."""
    stacks = {name: s for name, s in EXAMPLES.items() if s.section == "stack"}
    assert {name: (s.gain, [w for w in WIRINGS if getattr(s, w)]) for name, s in stacks.items()} == {
        "no-residual": ("1", ["pre", "no_residual", "neither"]),
        "no-norm": ("2", ["pre", "none"]),
        "post-norm": ("2", ["pre", "post"]),
        "twelve": ("1", list(WIRINGS)),
    }  # fmt: skip
    for s in stacks.values():
        assert (s.blocks, s.width, s.activation, runs.HEADS) == (12, "64", "gelu", 4)
