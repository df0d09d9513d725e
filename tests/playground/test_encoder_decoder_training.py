"""The encoder–decoder tab trains in turns: paused, gone on with, brought back, by many at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from model.errors import PlaygroundError
from model.plus_two import RECIPES
from playground.encoder_decoder import look as looking
from playground.encoder_decoder import runs
from playground.encoder_decoder.runs import next_pause
from playground.encoder_decoder.state import MOST, EncoderDecoderState
from playground.form import runs as form_runs
from playground.tabs.encoder_decoder import TAB
from tests.playground.plus_two_states import (
    DOWN,
    do,
    fresh_memory,
    run_on,
    set_,
    short,
    shown,
    steps,
    trained,
)

__all__ = ["fresh_memory"]  # a fixture


def test_a_press_trains_to_the_recipes_end_and_the_next_goes_on(monkeypatch):
    monkeypatch.setitem(RECIPES, "as_printed", short_recipe("as_printed", 9))
    state = do(EncoderDecoderState(), "start", seed=7)
    state = run_on(state)
    assert (state.step, state.left, state.running) == (9, 0, False)
    assert looking.look(state).stand.run.losses == trained("as_printed", 1, 9).losses
    assert next_pause(state) == 800
    assert next_pause(state.but(step=800)) == MOST
    further = do(state, "start", seed=8)
    assert further.step > 9
    assert further.step + further.left == 800


def short_recipe(name, count):
    recipe = RECIPES[name]
    return type(recipe)(**{**vars(recipe), "steps": count})


def test_paused_and_gone_on_it_is_the_same_training():
    state = do(EncoderDecoderState(left=8), "start", seed=1).but(running=True)
    paused = do(state, "stop")
    assert do(paused, "more") == paused
    one = steps(paused, 1)
    assert one.step == paused.step + 1
    assert looking.look(one).stand.run.losses == trained("as_printed", 1, one.step).losses


def test_a_link_brings_its_training_back():
    state = steps(EncoderDecoderState(seed=6), 5)
    answers = shown(state, "free")
    runs.RUNS.forget()  # another server, or a restart
    looking.stand.cache_clear()
    looking.looked.cache_clear()
    found = TAB.usable(json.loads(json.dumps(state.to_json())))
    assert (found.step, found.left, found.running) == (0, 5, True)
    back = run_on(found)
    assert (back.step, back.running) == (5, False)
    assert torch.equal(shown(back, "free"), answers)


def test_what_is_forgotten_between_two_requests_is_computed_anew():
    state = steps(EncoderDecoderState(seed=6), 3)
    runs.RUNS.forget()
    with runs.RUNS.borrowed(("as_printed", 6, 0.001), 3) as run:
        assert run.losses == trained("as_printed", 6, 3).losses
    assert shown(state, "free").shape == (1, 5)


def test_people_with_the_same_training_do_not_disturb_each_other():
    def one(first):
        state = steps(EncoderDecoderState(seed=9), first)
        return looking.look(steps(state, 2)).stand.run.losses

    expected = trained("as_printed", 9, 9).losses
    with ThreadPoolExecutor(3) as pool:
        for first, losses in zip((1, 4, 7), pool.map(one, (1, 4, 7)), strict=True):
            assert losses == expected[: first + 2]


def test_who_rests_stays_where_they_are_while_another_goes_on():
    """A class presses the same example: all pause at the same step, and some go on from it."""
    resting, other = (run_on(EncoderDecoderState(left=5, running=True)) for _ in range(2))
    run_on(other.but(left=3, running=True))
    typed = do(resting, "cell", matrix="numbers", head=0, row=0, col=0, text="12")
    assert (typed.step, typed.left, typed.running) == (5, 0, False)


def test_one_who_waits_trains_nothing(monkeypatch):
    monkeypatch.setattr(form_runs, "work", lambda ticket, step: 2)
    state = do(EncoderDecoderState(), "start", seed=4)
    assert (state.step, state.place, state.running) == (0, 2, True)
    assert 'data-wait="' in TAB.view(state, "ko")


def test_at_the_last_step_it_says_so():
    state = EncoderDecoderState(step=MOST)
    with pytest.raises(PlaygroundError, match=str(MOST)):
        runs.once(state, {})


@pytest.mark.parametrize(("key", "value"), [("seed", "2"), ("rate", "0.005"), ("recipe", "mended")])
def test_another_training_begins_at_the_beginning(key, value):
    state = steps(EncoderDecoderState(numbers=DOWN), 2)
    after = set_(state, key, value)
    assert (after.step, after.left, after.running) == (0, 0, False)
    assert after.numbers == DOWN
    assert after.rate == {"rate": 0.005, "recipe": 0.002}.get(key, 0.001)
    back = set_(after, key, getattr(state, key))
    assert (back.recipe, back.seed, back.rate) == (state.recipe, state.seed, state.rate)


def test_handlers_leave_everybodys_random_numbers_alone():
    before = torch.get_rng_state()
    TAB.view(run_on(short("free-running")), "en")
    assert torch.equal(torch.get_rng_state(), before)
