"""The tab of inverse attention: its numbers beside torch's, what its examples promise, its steps."""

from __future__ import annotations

import json
import math

import pytest
import torch
import torch.nn.functional as F

from model.errors import PlaygroundError
from model.inverse import MOST
from playground import turns
from playground.explain import explain
from playground.inverse.state import InverseState, look
from playground.stage import act
from playground.tabs.inverse import TAB
from tests.playground.html_tree import read

EXAMPLES = [e.name for e in TAB.form.examples]
LANGS = ("en", "ko")


def example(name):
    return TAB.form.example(name)


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def shown(state, name):
    return TAB.form.flow(state, "en").get(name).values


def run(state):
    """To where gradient descent ends by itself, turn by turn as the page asks."""
    state = do(state, "start", seed=7)
    for _ in range(MOST + 1):
        if not state.running:
            return state
        state = do(state, "more")
    raise AssertionError("it never ends")


# The numbers


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", LANGS)
def test_an_example_is_shown_as_it_is(name, lang):
    reply = act({"tab": "inverse", "lang": lang, "state": example(name).to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == example(name).to_json()
    page = read(reply["html"])
    assert len(list(page.all("div", "glass"))) == 1
    for control in [*page.all("select"), *page.all("input")]:
        labelled = any(control in label.all() for label in page.all("label"))
        assert labelled or "aria-label" in control.attributes


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_weights_are_those_of_torch(name):
    state = example(name)
    x = torch.tensor(state.vectors, dtype=torch.float64)[None]
    scale = None if state.scale else 1.0
    one = torch.eye(x.size(1), dtype=torch.float64)[
        None
    ]  # with these values the output is the weights
    theirs = F.scaled_dot_product_attention(x, x, one, is_causal=state.causal, scale=scale)
    torch.testing.assert_close(shown(state, "weights"), theirs[0])


def torchs_gradient(state):
    """Of a loss from torch's own parts, on the vectors."""
    x = torch.tensor(state.vectors, dtype=torch.float64, requires_grad=True)
    scores = x @ x.T / (x.size(1) ** 0.5 if state.scale else 1)
    w = scores.softmax(-1)[state.query, state.key]
    target = torch.full_like(w, state.percent / 100)
    loss = F.binary_cross_entropy if state.loss == "cross_entropy" else F.mse_loss
    loss(w, target).backward()  # binary cross-entropy is ours and a constant: the same gradient
    return x.grad


@pytest.mark.parametrize("name", ["three", "your-turn", "saturated", "too-long"])
@pytest.mark.parametrize("loss", ["cross_entropy", "squares"])
def test_the_gradient_and_the_step_are_torchs(name, loss):
    state = example(name).but(loss=loss)
    expected = torchs_gradient(state)
    torch.testing.assert_close(shown(state, "gradient"), expected, rtol=1e-7, atol=1e-12)
    x = torch.tensor(state.vectors, dtype=torch.float64)
    after = torch.tensor(do(state, "once").vectors, dtype=torch.float64)
    torch.testing.assert_close(after, x - state.rate * expected)


@pytest.mark.parametrize(
    "state",
    [
        *(example(name) for name in EXAMPLES),
        example("three").but(loss="squares"),
        example("your-turn").but(causal=True, percent=35),
        example("three").but(query=1, key=1),
        example("three").but(query=1, key=1, loss="squares", scale=False),
    ],
)
def test_every_number_opens_to_a_sum_that_gives_it(state):
    flow = TAB.form.flow(state, "en")
    opened = 0
    for m in flow.matrices:
        if m.name == "vectors" or not m.shown:
            continue
        for i, row in enumerate(m.values.tolist()):
            for j, value in enumerate(row):
                made = explain(flow, m, i, j)
                assert made.parts, (m.name, i, j)
                assert math.isclose(made.value, value, rel_tol=1e-9, abs_tol=1e-12) or made.value == value  # fmt: skip
                opened += 1
    assert opened >= 3 * len(state.tokens) ** 2


def test_an_opened_gradient_is_tried_out_beside_autograd():
    state = do(example("three"), "open", cell=["gradient", 0, 1, 1])
    gradient = f"{torchs_gradient(state)[1, 1].item():.6f}"
    for lang in LANGS:
        page = read(TAB.view(state, lang))
        told = [p.text for p in page.all("p", "told") if "autograd" in p.text]
        assert [text.count(gradient) for text in told] == [2]  # by trying, and by autograd
    assert "autograd" not in TAB.view(do(state, "open", cell=["weights", 0, 0, 0]), "en")


# What the examples promise


def test_three_tokens_are_brought_there():
    end = run(example("three"))
    assert abs(end.track[-1] - 0.8) <= 0.005
    assert look(end).here.state == "reached"
    assert abs(shown(end, "weights")[2, 0].item() - 0.8) <= 0.005
    assert f"in {len(end.track) - 1} steps" in read(TAB.view(end, "en")).text


def share(state):
    return shown(state, "weights")[state.query, state.key].item()


def longer(state, token):
    rows = [[2 * n for n in row] if t == token else row for t, row in enumerate(state.vectors)]
    return state.but(vectors=rows)


def test_your_turn_one_vector_helps_and_the_other_makes_it_worse():
    state = example("your-turn")
    assert share(longer(state, 1)) < share(state) < share(longer(state, 0))
    assert look(run(state)).here.state == "reached"


def test_the_saturated_one_is_stuck_and_cross_entropy_frees_it():
    state = example("saturated")
    assert share(state) < 1e-6
    assert look(state).here.state == "flat"
    assert "stuck" in read(TAB.view(state, "en")).text
    stopped = do(state, "start", seed=1)  # a page may still ask
    assert (stopped.running, stopped.vectors) == (False, state.vectors)
    freed = set_(state, "loss", "cross_entropy")
    assert shown(freed, "score_gradient")[0, 0].item() == pytest.approx(-0.8, abs=1e-6)
    assert look(run(freed)).here.state == "reached"


def test_too_long_a_step_jumps_over_and_a_shorter_one_arrives():
    second = do(do(example("too-long"), "once"), "once")
    assert second.track[2] < 0.05 < second.track[0]
    assert "led away" in read(TAB.view(second, "en")).text
    ends = [run(set_(example("too-long"), "rate", rate)) for rate in ("4", "1")]
    assert all(look(end).here.state == "reached" for end in ends)
    assert len(ends[0].track) < len(ends[1].track)


def test_steps_that_leave_all_bounds_end_with_a_sentence_and_what_was_there():
    end = run(example("too-long"))
    assert end.running is False
    for lang in LANGS:
        assert look(end).refused.text(lang) in read(TAB.view(end, lang)).text
    with pytest.raises(PlaygroundError, match="learning rate 5 "):
        do(end, "once")
    assert TAB.usable(json.loads(json.dumps(end.to_json()))) == end


def test_out_of_reach_is_said_in_both_languages_until_the_mask_is_off():
    state = example("hidden")
    for lang, says in zip(LANGS, ("cannot see", "볼 수 없습니다"), strict=True):
        assert says in read(TAB.view(state, lang)).text
    changed = do(state, "cell", matrix="vectors", row=0, col=0, text="5")
    assert share(state) == share(changed) == 0
    assert [m.name for m in TAB.form.flow(state, "en").matrices][-1] == "weights"
    with pytest.raises(PlaygroundError, match="cannot see"):
        do(state, "once")
    assert do(state, "start", seed=1).running is False
    assert look(run(set_(state, "causal", False))).here.state == "reached"


# Steps, curves, settings


def test_a_run_goes_one_step_a_turn_and_can_be_stopped():
    state = do(example("three"), "start", seed=3)
    assert (len(state.track), state.running) == (2, True)
    state = do(state, "more")
    assert len(state.track) == 3
    assert state.track[-1] == pytest.approx(share(state))
    stopped = do(state, "stop")
    assert do(stopped, "more").track == state.track
    assert do(stopped, "once").track[:3] == state.track
    turns.QUEUE.leave("3")


def test_a_change_begins_another_curve_and_keeps_the_vectors():
    state = do(do(example("three"), "once"), "once")
    assert "<svg" in TAB.view(state, "en")
    for key, value in {"percent": "60", "rate": "2", "key": "1", "scale": False}.items():
        after = set_(state, key, value)
        assert after.track == []
        assert after.vectors == state.vectors
    typed = do(state, "cell", matrix="vectors", row=0, col=0, text="1,5")
    assert (typed.track, typed.vectors[0][0]) == ([], 1.5)


def test_a_full_curve_rests_and_begins_anew():
    slow = set_(example("three"), "rate", "0.001")
    full = slow.but(track=[share(slow)] * (MOST + 1))
    assert f"{MOST} steps" in read(TAB.view(full, "en")).text
    assert do(full.but(track=full.track[1:]), "start", seed=4).running is False
    assert len(do(full, "once").track) == 2
    assert TAB.usable(full.to_json()) == full
    turns.QUEUE.leave("4")


@pytest.mark.parametrize("text", ["0", "100", "abc", "", "12.5"])
def test_a_share_that_cannot_be_stays_with_its_message(text):
    state = set_(example("three"), "percent", text)
    assert state.percent == 80
    for lang in LANGS:
        page = read(TAB.view(state, lang))
        (field,) = [i for i in page.all("input") if i.attributes.get("data-set") == "percent"]
        assert field.attributes["value"] == text
        (message,) = page.all("span", "msg")
        assert "99" in message.text


def test_the_goal_stays_among_the_tokens():
    state = do(example("three"), "remove", index=2)
    assert (state.query, state.key) == (1, 0)
    alone = do(do(state, "remove", index=0), "set", key="key", value="0")
    assert "100 %" in read(TAB.view(alone, "en")).text  # it sees itself alone
    wide = do(do(example("three"), "add"), "width", by=1)
    assert shown(wide, "gradient").shape == (4, 3)


@pytest.mark.parametrize(
    "found",
    [
        {"percent": 100},
        {"query": 8},
        {"tokens": ["a", "b"]},
        {"track": [2.0]},
        {"track": [0.5] * (MOST + 2)},
        {"loss": "cubes"},
        {"rate": 0},
    ],
)
def test_a_link_that_cannot_be_is_refused(found):
    with pytest.raises(PlaygroundError):
        TAB.usable(found)


@pytest.mark.parametrize("number", ["1000000", "-1000000", "0"])
def test_the_largest_numbers_are_shown_without_a_traceback(number):
    state = InverseState()
    for row in range(3):
        for col in range(2):
            state = do(state, "cell", matrix="vectors", row=row, col=col, text=number)
    for lang in LANGS:
        read(TAB.view(state, lang))
    assert run(state).running is False
