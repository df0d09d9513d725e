"""The tab of embeddings and positions: its numbers beside torch's, and what its examples say."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from model import load_checkpoint
from model.errors import PlaygroundError
from playground.embeddings.state import POSITIONS, EmbeddingsState, settle
from playground.embeddings.words import name_of, read
from playground.explain import explain
from playground.gpt.parts import LEVELS
from playground.stage import act
from playground.tabs.positions import TAB
from tests.playground import html_tree
from tests.playground.positions_pages import (
    LANGS,
    example,
    flow,
    names,
    page,
    sentence,
    set_,
    shown,
)

EXAMPLES = [e.name for e in TAB.form.examples]


# Every example


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", LANGS)
def test_an_example_is_shown_as_it_is(name, lang):
    reply = act({"tab": "positions", "lang": lang, "state": example(name).to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == example(name).to_json()
    root = html_tree.read(reply["html"])
    assert len(list(root.all("div", "glass"))) == 1
    for control in [*root.all("select"), *root.all("input")]:
        labelled = any(control in label.all() for label in root.all("label"))
        assert labelled or "aria-label" in control.attributes


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("column", [0, 5])
def test_every_number_opens_to_a_sum_that_gives_it(name, column):
    found = flow(settle(example(name).but(column=column)))
    for m in found.matrices:
        for i, row in enumerate(m.values.tolist()):
            for j, value in enumerate(row):
                made = explain(found, m, i, j)
                assert made.parts, (m.name, i, j)
                assert math.isclose(made.value, value, rel_tol=1e-9, abs_tol=1e-12)
                for source in made.sources:  # what is lit holds the number that is written
                    held = found.get(source[0]).values[source[2], source[3]].item()
                    assert any(n.value == held for n in numbers(made.parts)), (m.name, source)


def numbers(parts):
    for part in parts:
        if hasattr(part, "top"):
            yield from numbers([*part.top, *part.bottom])
        elif hasattr(part, "value"):
            yield part


# Positions


def test_the_sinusoidal_rows_are_those_of_the_formula():
    state = example("sinusoidal").but(first=3, second=100, width=6)
    expected = [
        [f(p / 10_000 ** (2 * i / 6)) for i in range(3) for f in (math.sin, math.cos)]
        for p in (3, 100)
    ]
    assert shown(state, "rows").tolist() == [pytest.approx(row) for row in expected]


def test_the_dot_product_of_two_positions_is_torchs_and_stays_when_both_move():
    state = example("sinusoidal")
    before = sentence(state)
    assert before.replace("5 and 9", "25 and 29") == sentence(state.but(first=25, second=29))
    assert "every two positions 4 apart" in before
    assert f"{shown(state, 'pair')[1, 0].item():.4f}" in before
    single = set_(state, "width", "2")
    assert single.width == 2
    far = single.but(first=0, second=44)
    assert shown(far, "pair")[1, 2].item() == pytest.approx(math.cos(44)) == pytest.approx(1, abs=1e-3)  # fmt: skip
    assert shown(state.but(first=0, second=44), "pair")[1, 2].item() < 0.7


@pytest.mark.parametrize("model", ["shakespeare", "shakespeare-64", "korean"])
def test_learned_positions_are_the_checkpoints(model):
    state = example("learned").but(model=model, first=2, second=90)
    wpe = load_checkpoint(model).gpt.wpe.weight.detach().double()
    assert torch.equal(shown(state, "rows"), wpe[[2, 90], :8])
    dot, length, cosine = shown(state, "pair")[1].tolist()
    assert cosine == pytest.approx(F.cosine_similarity(wpe[2], wpe[90], dim=0).item())
    assert dot == pytest.approx(torch.dot(wpe[2], wpe[90]).item())
    assert length == pytest.approx(torch.linalg.vector_norm(wpe[90]).item())


def test_learned_neighbours_are_alike_and_far_ones_opposite_but_not_by_distance_alone():
    state = example("learned")
    wpe = load_checkpoint("shakespeare-64").gpt.wpe.weight.detach().double()
    found = F.cosine_similarity(wpe[:, None], wpe[None], dim=-1)
    assert found.diagonal(1).mean() > 0.95
    assert found.diagonal(100).max() < -0.4
    assert "other positions 4 apart have" in sentence(state)
    korean = load_checkpoint("korean").gpt.wpe.weight.detach().double()
    assert F.cosine_similarity(korean[1:], korean[:-1], dim=-1).mean() < 0.5


def test_the_pictures_hold_the_table_and_all_pairs():
    state = example("learned")
    table, pairs = page(state).all("canvas")
    assert len(table.attributes["data-picture"]) == 128 * 64
    assert int(table.attributes["data-side"]) == 64
    assert len(pairs.attributes["data-picture"]) == 128 * 128
    wpe = load_checkpoint("shakespeare-64").gpt.wpe.weight.detach().double()
    drawn = [LEVELS.index(c) for c in table.attributes["data-picture"][:64]]
    level = (wpe - wpe.min()) / (wpe.max() - wpe.min()) * 63
    assert drawn == level[0].round().int().tolist()


def test_positions_beyond_the_table_come_back_into_it():
    assert settle(EmbeddingsState(first=POSITIONS - 1, column=4000)).column == 8  # 16 columns
    assert settle(example("learned").but(column=4000)).column == 56
    assert settle(EmbeddingsState(width=2, column=5)).column == 0


# Neighbours and arithmetic


def torchs_nearest(model, vector, k, out=()):
    wte = load_checkpoint(model).gpt.wte.weight.detach().double()
    found = F.cosine_similarity(wte, vector, dim=-1)
    found[list(out)] = -2
    values, tokens = found.topk(k)
    return [name_of(model, t) for t in tokens.tolist()], values.tolist()


@pytest.mark.parametrize("name", ["king", "korean", "pieces", "unseen"])
def test_the_neighbours_are_torchs(name):
    state = example(name)
    checkpoint = load_checkpoint(state.model)
    ids = list(read(state).ids)
    vector = checkpoint.gpt.wte.weight.detach().double()[ids].mean(0)
    expected, cosines = torchs_nearest(state.model, vector, 8, ids if len(ids) == 1 else ())
    assert shown(state, "neighbours")[1:, 2].tolist() == pytest.approx(cosines)
    if name != "unseen":  # there many are equal but for rounding
        assert names(state)[1:] == expected


def test_what_the_neighbours_texts_say_is_seen():
    assert names(example("king"))[1] == "␣queen"
    assert names(example("king").but(word="day"))[1] == "␣night"
    korean = example("korean")
    assert names(korean)[1] == "␣남자"
    assert shown(korean, "neighbours")[1, 2] > 2 * shown(korean, "neighbours")[2, 2]
    assert any(name.startswith("‹") for name in names(korean))
    cosines = shown(example("pieces"), "neighbours")[1:, 2].tolist()
    assert set(names(example("pieces"))[1:3]) == {"␣Rome", "o"}
    assert cosines[1] > 0.6 > 0.3 > cosines[2]
    assert shown(example("unseen"), "neighbours")[:, 2].min() > 0.98


def test_what_the_arithmetic_texts_say_is_seen():
    found = names(example("queen"))
    assert (set(found[1:3]), found[3]) == ({"(␣king)", "(␣wife)"}, "␣queen")
    after = shown(example("queen"), "neighbours")[3, 2]
    assert after < shown(example("king"), "neighbours")[1, 2]  # nearer to king than to the sum
    assert names(example("her"))[1] == "␣her"
    your = example("her").but(word="thy", minus="thou", plus="you")
    assert names(your)[1] == "␣your"
    night = example("her").but(word="day", minus="good", plus="night")
    assert set(names(night)[1:3]) == {"(␣night)", "(␣day)"}
    assert "one of the three" in sentence(night)
    assert "none of the three" in sentence(your)


def test_arithmetic_is_that_of_the_rows():
    state = example("queen")
    checkpoint = load_checkpoint(state.model)
    king, man, wife = (
        checkpoint.gpt.wte.weight.detach().double()[checkpoint.tokenizer.encode(f" {w}")[0]]
        for w in ("king", "man", "wife")
    )
    torch.testing.assert_close(shown(state, "made")[0], (king - man + wife)[:8])
    expected, _ = torchs_nearest(state.model, king - man + wife, 8)
    assert [n.strip("()") for n in names(state)[1:]] == expected


# Links


@pytest.mark.parametrize(
    "found",
    [
        {"model": "bert"},
        {"model": ["korean"]},
        {"table": "random"},
        {"width": 1},
        {"first": 128},
        {"word": "x" * 25},
        {"count": 21},
        {"column": -1},
        {"section": "nowhere"},
    ],
)
def test_a_link_that_cannot_be_is_refused(found):
    with pytest.raises(PlaygroundError):
        TAB.usable(found)


@pytest.mark.parametrize(("key", "value"), [("width", "65"), ("first", "abc"), ("count", "0")])
def test_a_number_that_cannot_be_stays_with_its_message(key, value):
    state = set_(example("sinusoidal").but(section="positions"), key, value)
    assert state.bad == {f"set:{key}": value}
    assert getattr(state, key) == getattr(example("sinusoidal"), key)


def test_every_section_and_model_can_be_shown():
    for section in TAB.form.sections:
        for model in ("shakespeare", "shakespeare-64", "korean"):
            state = settle(EmbeddingsState(section=section, model=model, table="learned"))
            for lang in LANGS:
                page(state, lang)
