"""Training in turns: pauses, single steps, the queue, and what is remembered of runs."""

from __future__ import annotations

import json

import pytest
import torch

from model.errors import PlaygroundError
from model.live import LiveRun
from playground import turns
from playground.form import runs as form_runs
from playground.tabs.training import TAB
from playground.training import runs
from playground.training.look import attended, learned, opened
from playground.training.runs import Watched
from playground.training.state import first_of, runs_of
from tests.playground.training_doing import (
    LANGS,
    QUICK,
    alone,
    at,
    do,
    nothing_remembered,
    page_of,
    set_,
    trained,
)

__all__ = ["nothing_remembered"]  # a fixture

# Turns, pauses, memory


def test_training_pauses_goes_on_and_can_be_stopped():
    state = do(QUICK, "start", seed=3)
    assert state.running
    assert 0 < state.step < 300
    assert f"step {state.step} of 300" in page_of(state).text
    stopped = do(state, "stop")
    assert do(stopped, "more") == stopped
    on = trained(stopped)
    assert (on.step, on.left, on.running) == (300, 0, False)
    assert "Go on to step 1,000" in page_of(on).text
    assert learned(first_of(on), 300).losses == tuple(alone(first_of(on), 300).losses)


def test_single_steps_are_the_same_run():
    state = at(QUICK.but(compare="mask"), 5)
    assert state.step == 5
    for run in runs_of(state):
        assert learned(run, 5).losses == tuple(alone(run, 5).losses)
    begun = do(state, "begin")
    assert (begun.step, begun.running) == (0, False)
    assert learned(first_of(begun), 0).losses == ()
    assert at(begun, 5) == state


def test_another_setting_is_another_run_from_the_beginning():
    state = at(QUICK, 3)
    for key, value in [("task", "sort"), ("n_layer", "2"), ("causal", False), ("rate", "0.01"), ("compare", "mask"), ("seed", "4")]:  # fmt: skip
        after = set_(state, key, value)
        assert (after.step, after.running) == (0, False), key
    assert set_(state, "section", "attention").step == 3
    assert set_(state, "seed", "0").step == 3
    assert set_(state, "text", "a text that is not read").step == 3


@pytest.mark.parametrize("step", [1, 137, 300])
def test_a_link_to_a_step_is_trained_again_in_turns_and_rests_there(step):
    found = json.loads(json.dumps(QUICK.but(compare="seed", step=step).to_json()))
    state = TAB.usable(found)
    assert (state.step, state.left, state.running) == (0, step, True)
    for _ in range(100):
        if not state.running:
            break
        state = do(state, "more")
    assert (state.step, state.left, state.running) == (step, 0, False)
    for run in runs_of(state):
        assert learned(run, step).losses == tuple(alone(run, step).losses)


def test_what_is_remembered_need_not_be_trained_again(monkeypatch):
    state = trained(QUICK)
    taken, advance = [], LiveRun.advance
    monkeypatch.setattr(LiveRun, "advance", lambda run: taken.append(run) or advance(run))
    for step in (300, 200, 100, 0):
        found = TAB.usable(QUICK.but(step=step).to_json())
        assert (found.step, found.running) == (step, False)
        page_of(found)
        page_of(found.but(section="attention"))
        page_of(found.but(section="weight"))
    assert taken == []
    found = TAB.usable(state.but(step=250).to_json())
    assert found.running
    assert 200 <= found.step < 250


def test_what_was_forgotten_comes_out_the_same():
    state = at(QUICK, 12)
    shown = TAB.view(state, "en")
    for cached in (learned, attended, opened):
        cached.cache_clear()
    runs.RUNS.forget()
    again = TAB.usable(state.to_json())
    while again.running:
        again = do(again, "more")
    assert TAB.view(again.but(ticket=""), "en") == shown


def test_a_run_that_diverges_rests_and_says_why(monkeypatch):
    advance = Watched.advance

    def spoiled(watched):
        if watched.run.step == 2:
            with torch.no_grad():
                watched.run.gpt.ln_f.weight.fill_(float("inf"))
        advance(watched)

    monkeypatch.setattr(Watched, "advance", spoiled)
    state = do(at(QUICK, 2), "start", seed=4)
    assert (state.step, state.running) == (2, False)
    for lang, words in zip(LANGS, ("nan at step 3", "3번째 걸음"), strict=True):
        assert words in page_of(state, lang).text
    with pytest.raises(PlaygroundError, match="at step 3"):
        do(state, "once")


def test_people_take_turns(monkeypatch):
    queue = turns.Queue(at_once=1)
    monkeypatch.setattr(form_runs, "work", lambda ticket, one: turns.work(ticket, one, queue=queue))
    first = do(QUICK, "start", seed=1)
    second = do(QUICK.but(seed=5), "start", seed=2)
    assert (first.place, second.place, second.step) == (0, 1, 0)
    assert "number 1 in the queue" in page_of(second).text
    queue.leave("1")
    assert do(second, "more").step > 0


def test_the_end_of_all_steps(monkeypatch):
    monkeypatch.setattr(runs.RUNS, "known", lambda settings, step: step)
    with pytest.raises(PlaygroundError, match="2000"):
        do(QUICK.but(step=2000), "once")


def test_a_state_stays_small_and_comes_back():
    state = trained(QUICK.but(compare="mask"))
    text = json.dumps(state.to_json())
    assert len(text) < 300
    assert TAB.usable(json.loads(text)) == state
