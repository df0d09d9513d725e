"""The Block tab: its numbers against PyTorch's and the shipped model's, its sums, its page."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model import load_checkpoint
from model.errors import HeadsError, PlaygroundError
from model.looking import trace_of
from model.stack import WIRINGS, climb, cosines, fresh_block, stacked
from playground import input_errors as errors
from playground.arithmetic import equal
from playground.block import run as runs
from playground.block.state import BlockState
from playground.explain import explain
from playground.panel import panels
from playground.stage import act
from tests.model.test_stack import NAMES as WEIGHT_NAMES
from tests.playground.html_tree import cells, read

PANEL = panels()["block"]
FORM = PANEL.form
EXAMPLES = {e.name: FORM.example(e.name) for e in FORM.examples}
WAYS = list(product(("pre", "post", "none"), (True, False), ("gelu", "relu")))
SEEDS = range(10)


def do(state, name, /, **fields):
    return PANEL.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def wired(state, norm, residual, activation):
    return state.but(norm=norm, residual=residual, activation=activation)


def values(state, name, head=0):
    return FORM.flow(state, "en").get(name, head).values


def grids(page):
    """{(matrix, head): its table}; charts have tables too, of another kind."""
    found = [t for t in page.all("table") if "data-matrix" in t.attributes]
    made = {(t.attributes["data-matrix"], int(t.attributes["data-head"])): t for t in found}
    assert len(made) == len(found)
    return made


def close(actual, expected, bound=1e-9):
    torch.testing.assert_close(actual, expected, rtol=bound, atol=bound)


STATES = [
    *(pytest.param(s, id=name) for name, s in EXAMPLES.items()),
    *(
        pytest.param(wired(EXAMPLES[name].but(inside=True), *way), id=f"{name} {way}")
        for name in ("vectors", "trained")
        for way in WAYS
    ),
    pytest.param(EXAMPLES["trained"].but(layer="3", at=2), id="layer 3"),
    pytest.param(EXAMPLES["trained"].but(prompt="", at=0), id="no text"),
    pytest.param(BlockState(tokens=["a"], vectors=[[5.0]], n_head=1), id="one number"),
    pytest.param(BlockState(causal=False, n_head=4, inside=True, seed=9), id="no mask"),
    pytest.param(EXAMPLES["twelve"].but(blocks=1, width="16", gain="0.5"), id="one block"),
]


@pytest.mark.parametrize("state", STATES)
def test_the_page_is_sound_and_shows_the_same_numbers_in_both_languages(state):
    found = []
    for lang in ("en", "ko"):
        reply = act({"tab": "block", "lang": lang, "state": state.to_json()})
        assert reply["notice"] == ""
        assert reply["state"] == state.to_json()
        assert "{" not in re.sub(r'data-do="[^"]*"', "", reply["html"])
        page = read(reply["html"])
        found.append(
            {key: {at: td.text for at, td in cells(t).items()} for key, t in grids(page).items()}
        )
        for e in page.all():
            if "data-do" in e.attributes:
                assert json.loads(e.attributes["data-do"])["do"]
        labels = [set(map(id, label.all())) for label in page.all("label")]
        for control in (*page.all("select"), *page.all("input")):
            labelled = any(id(control) in inside for inside in labels)
            assert labelled or "aria-label" in control.attributes
    assert found[0] == found[1]
    shown = {m.key for m in FORM.flow(state, "en").matrices if m.shown}
    assert set(found[0]) == shown


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


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_an_example_has_a_number_open_and_its_cell_marked(name, lang):
    page = read(PANEL.view(EXAMPLES[name], lang))
    (box,) = page.all("div", "glass")
    assert "=" in box.first("div", "sum").text
    assert len(list(page.all("td", "sel"))) == 1
    assert page.first("div", "try").text


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


def test_what_is_drawn_is_what_is_switched_on():
    state = EXAMPLES["no-residual"]
    page = read(PANEL.view(state, "en"))
    assert len(list(page.all("figure", "chart"))) == 4
    assert [len(list(c.all("g", "curve"))) for c in page.all("figure", "chart")] == [3] * 4
    rows = [th.text for th in grids(page)["alike", 0].all("th") if th.attributes["scope"] == "row"]
    assert rows == ["pre-norm", "no residual", "neither"]
    for wiring in WIRINGS:
        state = set_(state, wiring, False)
    page = read(PANEL.view(state, "ko"))
    assert grids(page) == {}
    assert len(list(page.all("figure", "chart"))) == 4
    assert set_(state, "post", True).post


def test_controls_of_the_other_parts_are_not_there():
    def settings(state):
        page = read(PANEL.view(state, "en"))
        return {e.attributes["data-set"] for e in page.all() if "data-set" in e.attributes}

    shared = {"section", "source", "norm", "residual", "activation", "inside"}
    assert settings(EXAMPLES["vectors"]) == shared | {"n_head", "causal", "seed"}
    assert settings(EXAMPLES["trained"]) == shared | {"prompt", "layer", "at"}
    assert settings(EXAMPLES["twelve"]) == {"section", "blocks", "width", "gain", "activation", "seed", *WIRINGS}  # fmt: skip


def test_another_width_takes_heads_that_divide_it():
    state = set_(EXAMPLES["vectors"], "n_head", "4")
    assert state.n_head == 4
    wider = do(state, "width", by=2)
    assert (len(wider.vectors[0]), wider.n_head) == (6, 3)
    assert do(state, "width", by=1).n_head == 1
    page = read(PANEL.view(wider, "ko"))
    heads = [i.attributes["value"] for i in page.all("input") if i.attributes.get("data-set") == "n_head"]  # fmt: skip
    assert heads == ["1", "2", "3", "6"]


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (HeadsError, {"n_head": 3}),
        (errors.LinkError, {"tokens": ["a"]}),
        (errors.LinkError, {"vectors": [[1.0]] * 9, "tokens": ["t"] * 9}),
        (errors.LinkError, {"layer": "5"}),
        (errors.LinkError, {"layer": 1}),
        (errors.LinkError, {"at": 12}),
        (errors.LinkError, {"norm": "before"}),
        (errors.LinkError, {"blocks": 13}),
        (errors.LinkError, {"width": "128"}),
        (errors.LinkError, {"gain": "100"}),
        (errors.LinkError, {"neither": 1}),
        (errors.LinkError, {"prompt": "x" * 61}),
    ],
)
def test_a_state_that_cannot_be_is_refused_in_both_languages(error, found):
    with pytest.raises(error) as refused:
        PANEL.usable(found)
    assert refused.value.text("en") != refused.value.text("ko")
    for lang in ("en", "ko"):
        reply = act({"tab": "block", "lang": lang, "state": found})
        assert reply["notice"] == refused.value.text(lang)
        assert reply["notice"] in read(reply["html"]).text


@pytest.mark.parametrize(
    "action",
    [
        {"do": "set", "key": "n_head", "value": "3"},
        {"do": "set", "key": "layer", "value": "9"},
        {"do": "set", "key": "prompt", "value": "x" * 61},
        {"do": "set", "key": "tokens", "value": []},
        {"do": "width", "by": 13},
        {"do": "width", "by": -4},
        {"do": "start", "seed": 1},
    ],
)
def test_a_refused_action_changes_nothing(action):
    state = EXAMPLES["vectors"]
    with pytest.raises(PlaygroundError):
        PANEL.apply(state, action)
    reply = act({"tab": "block", "lang": "ko", "state": state.to_json(), "actions": [action]})
    assert reply["notice"]
    assert reply["state"] == state.to_json()


@pytest.mark.parametrize(("key", "text"), [("seed", "-1"), ("seed", "a"), ("seed", "1.5")])
def test_a_seed_that_is_none_stays_in_its_field(key, text):
    state = set_(EXAMPLES["vectors"], key, text)
    assert (state.seed, state.bad) == (1, {"set:seed": text})
    (field,) = [i for i in read(PANEL.view(state, "en")).all("input") if i.attributes.get("data-set") == key]  # fmt: skip
    assert (field.attributes["value"], field.attributes["aria-invalid"]) == (text, "true")


def test_typed_numbers_up_to_the_largest_and_equal_ones_are_shown():
    """All equal: variance 0, and ε keeps the quotient a number."""
    state = do(EXAMPLES["vectors"], "paste", matrix="vectors", row=0, col=0, text="1e6 -1e6 1e6 -1e6\n5 5 5 5")  # fmt: skip
    for way in WAYS:
        for lang in ("en", "ko"):
            read(PANEL.view(wired(state, *way), lang))
    assert values(state, "before_1")[1].tolist() == [5.0, 0.0]
    assert values(state, "normed_1")[1].tolist() == [0.0] * 4


def test_tokens_come_go_and_are_renamed():
    state = do(do(EXAMPLES["vectors"], "add"), "token", index=3, text="<d>")
    assert values(state, "resid_post").shape == (4, 4)
    page = PANEL.view(state, "en")
    assert "&lt;d&gt;" in page
    assert "<d>" not in page
    state = do(state, "remove", index=0)
    assert state.tokens == ["b", "c", "<d>"]


def test_a_prompt_is_read_up_to_twelve_tokens_and_an_empty_one_is_a_line_break():
    text = "a b c d e f g h i j k l m n o p q"
    found = len(load_checkpoint("shakespeare-64").tokenizer.encode(text))
    state = set_(EXAMPLES["trained"], "prompt", text)
    page = read(PANEL.view(state, "en"))
    assert f"{found} tokens; the first 12 are read" in page.text
    assert len(list(page.all("option"))) == 12
    assert values(state, "weights").shape == (1, 12)
    state = set_(state, "at", "3")
    options = list(read(PANEL.view(state, "en")).all("option"))
    (chosen,) = [o for o in options if "selected" in o.attributes]
    assert chosen.text.startswith("4. ")
    assert values(state, "weights").shape == (1, 4)
    assert values(set_(state, "prompt", "a"), "weights").shape == (1, 1)
    assert "↵" in read(PANEL.view(set_(state, "prompt", ""), "ko")).text


def test_another_source_opens_nothing_of_the_last():
    state = set_(EXAMPLES["vectors"], "source", "trained")
    assert (state.open, state.pins) == (None, [])
    assert 'class="glass empty"' in PANEL.view(state, "en")


def test_the_chosen_activation_is_the_curve_drawn_through():
    for activation, dashed in (("gelu", [False, True]), ("relu", [True, False])):
        page = read(PANEL.view(EXAMPLES["vectors"].but(activation=activation), "en"))
        curves = [g.first("polyline").attributes for g in page.all("g", "curve")]
        assert ["stroke-dasharray" in c for c in curves] == dashed


def test_a_matrix_as_a_file():
    rows = PANEL.csv(EXAMPLES["vectors"], "en", "norms", 0)
    assert rows[0] == ["", "came in", "after attention", "after the MLP"]
    assert rows[2][0] == "b"
    assert rows[2][1] == pytest.approx((20**2 + 40**2 + 60**2 + 80**2) ** 0.5)
    stack = PANEL.csv(EXAMPLES["no-norm"], "ko", "stream", 0)
    assert [row[0] for row in stack] == ["", "앞 정규화", "정규화 없음"]


def test_nobody_elses_draws_change():
    runs.measured.cache_clear()
    before = torch.get_rng_state()
    for state in EXAMPLES.values():
        PANEL.view(state.but(seed=77), "en")
    assert torch.equal(torch.get_rng_state(), before)


def test_the_tab_stands_before_the_gpts():
    names = list(panels())
    assert names.index("multi-head") < names.index("block") < names.index("gpt")


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
