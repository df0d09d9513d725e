"""Looking, predicting, whole states; and anything at all sent to the server is answered."""

from __future__ import annotations

import json
import math
import random

import pytest

from model.errors import PlaygroundError
from playground import input_errors as errors
from playground.actions import ACTIONS
from playground.stage import act
from playground.state import State
from playground.tab import tabs
from tests.playground.doing import (
    SELF,
    SMALL,
    cell,
    do,
    put,
    refused,
)
from tests.playground.random_states import presets, random_states
from tests.playground.test_state import JUNK


def test_cells_open_pin_and_close():
    opened = do(SMALL, "open", cell=["weights", 0, 1, 1])
    assert opened.open == ["weights", 0, 1, 1]
    assert do(opened, "open", cell=["weights", 0, 1, 1]).open is None
    pinned = do(opened, "pin")
    assert (pinned.open, pinned.pins) == (None, [["weights", 0, 1, 1]])
    assert do(pinned, "pin") == pinned
    assert do(pinned, "unpin", index=0).pins == []
    for cell_ in (["weights", 0, 9, 9], ["nothing", 0, 0, 0]):
        assert do(SMALL, "open", cell=cell_).open is None
    for cell_ in ("weights", ["weights"], ["weights", 0, 0, -1], None):
        action = {"do": "open", "cell": cell_}
        if cell_ is not None:
            refused(errors.LinkError, SELF, SMALL, action)


def test_at_most_three_pins():
    state = SMALL
    for j, name in enumerate(["weights", "scores", "output"]):
        state = do(do(state, "open", cell=[name, 0, 0, j % 2]), "pin")
    state = do(state, "open", cell=["q", 0, 0, 0])
    error = refused(errors.TooManyError, SELF, state, {"do": "pin"})
    assert error.values == {"most": 3, "found": 4}


@pytest.mark.parametrize("tab", tabs().values(), ids=list(tabs()))
def test_asking_picks_a_cell_worth_a_thought(tab):
    for n, state in enumerate(random_states(tab.name)[:30]):
        try:
            asked = do(state, "ask", tab, matrix=tab.ask[n % len(tab.ask)], seed=n * 10**7)
        except errors.NothingToAskError:
            continue
        matrix, head, i, j = asked.ask
        value = float(tab.flow(asked).get(matrix, head).values[i, j])
        assert math.isfinite(value)
        assert value != 0
        assert (asked.answer, asked.open, asked.pins) == ("", None, [])
    assert len({tuple(do(SMALL, "ask", matrix="weights", seed=s).ask) for s in range(20)}) == 4


def test_asking_what_cannot_be_asked():
    refused(errors.ActionError, SELF, SMALL, {"do": "ask", "matrix": "vectors", "seed": 1})
    refused(errors.ActionError, SELF, SMALL, {"do": "ask", "matrix": "weights", "seed": "x"})
    nothing = SMALL.but(vectors=[[0.0, 0.0]] * 2)
    refused(errors.NothingToAskError, SELF, nothing, {"do": "ask", "matrix": "scores", "seed": 1})


def test_an_answer_and_its_end():
    asked = do(SMALL, "ask", matrix="weights", seed=1)
    answered = do(asked, "answer", text="0,5" + "x" * 100)
    assert answered.answer == ("0,5" + "x" * 100)[:64]
    assert do(answered, "reveal") == asked.but(ask=None)


def test_a_question_goes_with_its_cell():
    asked = SMALL.but(ask=["weights", 0, 1, 1])
    assert do(asked, "remove", index=0).ask is None
    assert cell(asked, "5").ask == ["weights", 0, 1, 1]
    masked = SMALL.but(ask=["weights", 0, 0, 0], causal=True)
    assert put(masked, "mistake", "mask_diagonal").ask is None  # NaN: nothing to predict
    for unanswerable in (["vectors", 0, 0, 0], ["weights", 0, 5, 5], ["weights", 1, 0, 0]):
        assert do(SMALL, "load", state=SMALL.but(ask=unanswerable).to_json()).ask is None


def test_steps():
    assert do(SMALL, "step", to=3).step == 3
    assert do(SMALL, "step", to=-2).step == 0
    for to in (100, "x", None, 1e99):
        refused(PlaygroundError, SELF, SMALL, {"do": "step", "to": to})


def test_presets_and_reset():
    for tab, name, state in presets():
        changed = do(do(state, "token", tab, index=0, text="zebra"), "add", tab)
        assert do(changed, "reset", tab) == state
        assert do(SMALL.but(show_code=True), "preset", tab, name=name) == state.but(show_code=True)
    assert do(SMALL, "reset") == SELF.default
    refused(errors.ActionError, SELF, SMALL, {"do": "preset", "name": "nothing"})


def test_a_loaded_state_is_checked():
    good = random_states("self-attention")[0]
    assert do(SMALL, "load", state=good.to_json()) == good
    for junk in (None, [], "x", {"tokens": []}, {"mistake": "forgot_to_sleep"}):
        refused(errors.LinkError, SELF, SMALL, {"do": "load", "state": junk})
    refused(errors.ActionError, SELF, SMALL, {"do": "load"})


@pytest.mark.parametrize(
    "action", [None, [], "add", 3, {}, {"do": None}, {"do": []}, {"do": {}}, {"do": "fly"}, {"do": "cell"}]
)  # fmt: skip
def test_what_is_no_action_is_refused(action):
    refused(errors.ActionError, SELF, SMALL, action)


def junk_action(rng):
    fields = ["matrix", "head", "row", "col", "text", "index", "by", "key", "value", "cell", "to", "name", "seed", "state"]  # fmt: skip
    likely = ["vectors", "weights", "weights_none", "w_query", 0, 1, 2, "5", "x_width", "n_head", "w", "typed", True, 1e99]  # fmt: skip
    action = {f: rng.choice(likely if rng.random() < 0.7 else JUNK) for f in fields}
    for gone in rng.sample(fields, rng.choice([0, 0, 1, 5])):
        del action[gone]
    return {"do": rng.choice([*ACTIONS, *ACTIONS, rng.choice(JUNK)]), **action}


@pytest.mark.parametrize("name", tabs())
def test_any_request_is_answered_with_html(name):
    """Whatever is sent: html that can be sent back, a state that can be sent again."""
    rng, answered = random.Random(11), 0
    for n in range(60):
        state = rng.choice(random_states(name)[:20]).to_json()
        if n % 5 == 0:
            state[rng.choice(list(State().__dict__))] = rng.choice(JUNK)
        actions = [junk_action(rng) for _ in range(rng.choice([0, 1, 1, 3]))]
        reply = act({"tab": name, "lang": "en", "state": state, "actions": actions})
        assert reply["html"].startswith('<div class="pg"')
        assert json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()
        again = act({"tab": name, "lang": "en", "state": reply["state"]})
        assert again["state"] == reply["state"]
        assert not again["notice"]
        answered += not reply["notice"]
    assert 5 < answered < 55


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_a_request_of_junk_is_answered(junk):
    for request in (
        junk,
        *({"tab": SELF.name, key: junk} for key in ("tab", "lang", "state", "actions")),
    ):
        reply = act(request)
        assert reply["html"].startswith('<div class="pg"')
        assert json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()
