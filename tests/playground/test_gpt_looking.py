"""Heads, layers and what is left out in the GPT tab: each number straight from the model."""

from __future__ import annotations

import json
import math

import pytest
import torch
import torch.nn.functional as F

from model import looking
from model.checkpoint import Checkpoint
from model.tokenizer import Tokenizer
from playground import models
from playground.explain import explain
from playground.gpt import heads, text
from playground.gpt.look import LOOK
from playground.gpt.parts import LEVELS, percent
from playground.gpt.state import GptState
from playground.html import number
from playground.panel import panels
from playground.stage import act
from playground.state import MAX_TOKENS
from tests.model.small import small_gpt
from tests.playground.html_tree import cells
from tests.playground.test_gpt_sections import (
    BIASED,
    MODELS,
    TEXTS,
    assert_shown,
    figure,
    grids,
    names,
    offered,
    page,
    read_ids,
    traced,
    window_ids,
)

__all__ = ["offered"]  # the models of both files


# Heads


@TEXTS
@pytest.mark.parametrize("name", MODELS)
def test_every_head_computed_again_in_float64_is_the_traced_one(name, prompt):
    gpt, trace = traced(GptState(model=name, prompt=prompt))
    for layer in range(gpt.config.n_layer):
        for head in range(gpt.config.n_head):
            flow, _ = heads.head_flow(GptState(model=name, prompt=prompt, layer=layer, head=head))
            found = trace.blocks[layer].attn.heads
            for matrix in ("q", "k", "v", "weights", "output"):
                expected = getattr(found, matrix)[0, head].double()
                bound = 1e-5 * max(1.0, float(expected.abs().max()))
                actual = flow.get(matrix, head).values
                torch.testing.assert_close(actual, expected, atol=bound, rtol=0)


@TEXTS
@pytest.mark.parametrize("name", MODELS)
def test_the_heads_section_shows_the_weights_that_the_model_traced(name, prompt):
    config = models.checkpoint(name).gpt.config
    layer, head = config.n_layer - 1, config.n_head - 1
    state = GptState(model=name, prompt=prompt, section="heads", layer=layer, head=head)
    ids = read_ids(state)
    _, trace = traced(state)
    weights = looking.attention_weights(trace)
    root = page(state)
    found = grids(root)
    assert set(found) == {"weights"}
    shown = cells(found["weights"])
    assert len(shown) == len(ids) ** 2
    for (i, j), cell in shown.items():
        assert_shown(cell, float(weights[layer, head, i, j]), 2)
    heads_of = [th.text for th in found["weights"].all("th")]
    assert heads_of == names(state, ids) * 2
    pictures = list(root.all("canvas"))
    assert len(pictures) == config.n_layer * config.n_head
    for picture, w in zip(pictures, weights.flatten(0, 1), strict=True):
        levels = [LEVELS.index(c) / 63 for c in picture.attributes["data-picture"]]
        torch.testing.assert_close(torch.tensor(levels), w.flatten(), atol=0.51 / 63, rtol=0)
        assert int(picture.attributes["data-side"]) == len(ids)


@TEXTS
@pytest.mark.parametrize("name", MODELS)
def test_the_three_tokens_each_looks_at_most_are_topk(name, prompt):
    state = GptState(model=name, prompt=prompt, section="heads", layer=1, head=1)
    ids, (_, trace) = read_ids(state), traced(state)
    weights, labels = looking.attention_weights(trace)[1, 1], names(state, ids)
    rows = list(figure(page(state), "three tokens").all("tr"))
    assert len(rows) == len(ids)
    for i, row in enumerate(rows):
        best = weights[i, : i + 1].topk(min(3, i + 1))
        expected = [f"{labels[j]} {percent(p)}" for p, j in zip(*map(torch.Tensor.tolist, best), strict=True)]  # fmt: skip
        assert row.first("th").text == labels[i]
        assert [td.text for td in row.all("td")] == expected


@pytest.mark.parametrize("name", MODELS)
def test_patterns_are_the_measured_ones(name):
    state = GptState(model=name, prompt="to be to be not", section="heads", layer=1, head=1)
    ids, (_, trace) = read_ids(state), traced(state)
    measured = looking.patterns(looking.attention_weights(trace)[1, 1], ids)
    even = looking.even_patterns(ids)
    rows = list(figure(page(state), "where its attention goes").all("tr"))[1:]
    for row, pattern in zip(rows, looking.PATTERNS, strict=True):
        mine, chance = (td.text for td in row.all("td"))
        assert mine == number(float(measured[pattern]), 2)
        assert chance == number(even[pattern], 2)


def test_a_pattern_names_a_head_only_where_it_is_far_above_chance():
    even = {"previous": 0.3, "first": 0.3, "self": 0.3, "same": math.nan, "local": 0.7}
    said = [
        ({}, ""),
        ({"previous": 0.59}, ""),
        ({"previous": 0.95, "local": 1.0}, "token before 0.95"),
        ({"first": 0.8, "previous": 0.7}, "first token 0.80"),
        ({"self": 0.61}, "itself 0.61"),
    ]
    for scores, expected in said:
        assert heads.shown_pattern(even | scores, even, "en") == expected
    local = even | {"local": 0.2}
    assert heads.shown_pattern(even | {"local": 0.9}, local, "ko") == "앞의 3개 0.90"


@pytest.mark.parametrize("name", MODELS)
def test_the_glass_box_of_a_weight_gives_the_weight(name):
    """Each cell of the table: softmax written out, its value the number shown."""
    state = GptState(model=name, prompt="O Romeo!", section="heads", layer=1, head=1)
    flow, shown = heads.head_flow(state)
    weights = flow.get("weights", 1)
    T = weights.values.size(0)
    for i in range(T):
        for j in range(T):
            made = explain(flow, weights, i, j)
            assert made.parts
            assert made.value == pytest.approx(float(weights.values[i, j]), abs=1e-12)
            root = page(state.but(open=["weights", 1, i, j]))
            told = root.first("div", "glass").first("b").text
            assert told == f"weights[{shown.tokens[i]}, {shown.tokens[j]}] = {number(made.value, 4)}"  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_no_glass_box_claims_a_sum_that_does_not_give_the_number(name):
    """q, k, v as well, which a model with biases does not get from x and W alone."""
    state = GptState(model=name, prompt="ab", section="heads")
    flow, _ = heads.head_flow(state)
    for matrix in flow.matrices:
        for i in range(matrix.values.size(0)):
            for j in range(min(8, matrix.values.size(1))):
                made = explain(flow, matrix, i, j)
                assert made.value == pytest.approx(float(matrix.values[i, j]), abs=1e-9)
                if matrix.name == "q":
                    assert bool(made.parts) == (name != BIASED)


# Sent to the self-attention tab


def sent(state: GptState) -> dict:
    (button,) = (b for b in page(state).all("button") if b.attributes.get("data-client") == "send")
    return json.loads(button.attributes["data-file"])


@TEXTS
@pytest.mark.parametrize("name", MODELS)
def test_a_head_that_is_sent_arrives(name, prompt):
    """The tab takes the file; up to 16 tokens its weights are the head's, beyond those of the last 16."""
    state = GptState(model=name, prompt=prompt, section="heads", layer=1, head=1)
    ids, (_, trace) = read_ids(state), traced(state)
    file = sent(state)
    assert file["tab"] == "self-attention"
    tab = panels()["self-attention"]
    toy = tab.usable(file["state"])
    shown = tab.tab.flow(toy)
    last = slice(max(0, len(ids) - MAX_TOKENS), None)
    found = trace.blocks[1].attn.heads
    if len(ids) <= MAX_TOKENS:
        expected = found.weights[0, 1]
    else:
        q, k = (m[0, 1, last] for m in (found.q, found.k))
        hidden = torch.ones(MAX_TOKENS, MAX_TOKENS).triu(1).bool()
        expected = (q @ k.T / q.size(1) ** 0.5).masked_fill(hidden, -torch.inf).softmax(-1)
    torch.testing.assert_close(shown.get("weights").values, expected.double(), atol=1e-4, rtol=0)
    q, k, v = (m[None, :, 1, last] for m in (found.q, found.k, found.v))
    output = F.scaled_dot_product_attention(q, k, v, is_causal=True)[0, 0].double()
    bound = 1e-4 * max(1.0, float(output.abs().max()))
    torch.testing.assert_close(shown.get("output").values, output, atol=bound, rtol=0)
    assert toy.tokens == [label[:24] for label in names(state, ids)[last]]
    reply = act({"tab": file["tab"], "lang": "ko", "state": file["state"]})
    assert not reply["notice"]


def test_a_head_wider_than_the_toy_tab_is_not_offered(monkeypatch):
    gpt = small_gpt(vocab_size=256, n_head=1, n_embd=68, dtype=torch.float32)
    monkeypatch.setitem(models.own, "wide", Checkpoint(gpt, Tokenizer.from_merges([]), {}))
    root = page(GptState(model="wide", prompt="ab", section="heads"))
    assert not [b for b in root.all("button") if b.attributes.get("data-client") == "send"]


# Layers


@TEXTS
@pytest.mark.parametrize("name", MODELS)
def test_the_layers_section_shows_lens_and_norms(name, prompt):
    state = GptState(model=name, prompt=prompt, section="layers")
    gpt, trace = traced(state, window_ids(state))
    root = page(state)
    found = grids(root)
    assert set(found) == {"norms"}
    expected = looking.stream_norms(trace)[:, -LOOK:]
    assert ("The table shows the last 32 tokens." in root.text) == (len(window_ids(state)) > LOOK)
    shown = cells(found["norms"])
    assert len(shown) == expected.numel()
    for (i, j), cell in shown.items():
        assert_shown(cell, float(expected[i, j]), 2)
    lens = looking.logit_lens(gpt, trace)[:, -1]
    rows = list(figure(root, "what would come next").all("tr"))
    assert len(rows) == gpt.config.n_layer
    for row, probs in zip(rows, lens, strict=True):
        assert [g.text for g in row.all("span", "guess")] == guesses(state, probs)
    with torch.no_grad():
        says = gpt(torch.tensor([window_ids(state)]))[0, -1].softmax(-1)
    torch.testing.assert_close(lens[-1], says, atol=1e-5, rtol=0)


@pytest.mark.parametrize("written", [0, 40, 100, 200])
@pytest.mark.parametrize("prompt", ["", "O Romeo", "word " * 60, "word " * 190])
def test_the_last_row_is_what_the_model_really_says(prompt, written):
    """As the writing section does, however long the text; so is what the whole model predicts."""
    state = GptState(model="shakespeare-64", prompt=prompt, written=[*range(40, 40 + written)])
    said = guesses(state, text.of(state)[-1].softmax(-1))
    for section in ("layers", "without"):
        rows = list(page(state.but(section=section)).first("table", "lens").all("tr"))
        row = rows[-1] if section == "layers" else rows[0]
        assert [g.text for g in row.all("span", "guess")] == said
        assert "all that the model reads" in page(state.but(section=section)).text


def test_a_window_too_long_to_be_traced_is_said_to_be(monkeypatch):
    monkeypatch.setattr("playground.gpt.look.MOST_READ", 40)
    state = GptState(model="shakespeare-64", prompt="word " * 50, section="layers")
    whole, told = len(window_ids(state)), page(state).text
    assert whole > 40
    assert f"Read: 40 tokens at the end of the text, as if it began there. The model itself reads {whole}." in told  # fmt: skip
    assert "after these tokens alone" in told
    assert "really says" not in told
    assert "예측입니다" in page(state, "ko").text


def guesses(state: GptState, probs: torch.Tensor) -> list[str]:
    best = probs.topk(5)
    labels = names(state, best.indices.tolist())
    return [f"{label} {percent(p)}" for label, p in zip(labels, best.values.tolist(), strict=True)]


def test_the_length_of_a_vector_opens():
    state = GptState(model="shakespeare-64", prompt="O Romeo", section="layers")
    _, trace = traced(state)
    norms = looking.stream_norms(trace)
    for layer in range(norms.size(0)):
        root = page(state.but(open=["norms", 0, layer, 1]))
        glass = root.first("div", "glass")
        assert glass.first("b").text.endswith(f"= {number(float(norms[layer, 1]), 4)}")
        stream = trace.embedded if layer == 0 else trace.blocks[layer - 1].resid_post
        for n in (*stream[0, 1, :4].tolist(), float(stream[0, 1, -1])):
            assert number(n, 4).lstrip("−") in glass.first("div", "sum").text
    long = state.but(prompt="O Romeo, wherefore art thou " * 6, open=["norms", 0, 3, 1])
    root = page(long)  # the table begins within the text
    opened = root.first("div", "glass").first("b").text.split("= ")[1]
    assert cells(grids(root)["norms"])[3, 1].text == f"{float(opened):.2f}"
    assert len(window_ids(long)) > LOOK


# Leave out


@pytest.mark.parametrize("name", MODELS)
def test_the_ranking_is_each_head_left_out_alone(name):
    state = GptState(model=name, prompt="O Romeo, Romeo!", section="without")
    gpt, ids = models.checkpoint(name).gpt, window_ids(state)
    right = looking.without(gpt, ids)
    root = page(state)
    found = grids(root)
    assert set(found) == {"without"}
    shown = cells(found["without"])
    moved = {}
    for place, cell in shown.items():
        moved[place] = float(looking.surprise(right, looking.without(gpt, ids, [place])))
        assert_shown(cell, moved[place], 3)
    assert len(moved) == gpt.config.n_layer * gpt.config.n_head
    layer, head = max(moved, key=moved.__getitem__)
    assert f"Most missed: layer {layer + 1}, head {head + 1}" in root.text
    assert guesses(state, right.softmax(-1)) == [g.text for g in root.all("span", "guess")]


@pytest.mark.parametrize("name", MODELS)
def test_what_is_left_out_changes_the_prediction_as_the_model_says(name):
    state = GptState(model=name, prompt="O Romeo, Romeo!", section="without", out_heads=[[0, 1], [1, 0]], out_blocks=[1])  # fmt: skip
    gpt, ids = models.checkpoint(name).gpt, window_ids(state)
    right, left = looking.without(gpt, ids), looking.without(gpt, ids, [(0, 1), (1, 0)], [1])
    root = page(state)
    assert [g.text for g in root.all("span", "guess")] == guesses(state, right.softmax(-1)) + guesses(state, left.softmax(-1))  # fmt: skip
    expected = F.kl_div(left.double().log_softmax(-1), right.double().log_softmax(-1), log_target=True, reduction="sum")  # fmt: skip
    assert f"by {number(float(expected), 4)} nats" in root.first("p", "sentence").text
    pressed = [e.text for e in root.all("button") if e.attributes.get("aria-pressed") == "true"]
    assert len([e for e in pressed if "block 2" in e]) == 1
