"""Trainings done in turns and remembered: on one that only counts, so that every place is known."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from model.errors import LiveDivergedError
from playground import turns
from playground.form import runs as module
from playground.form.runs import KEPT, MILESTONE, READY, Runs
from playground.form.state import FormState
from playground.input_errors import TooManyError

MOST = 1000


@dataclass(frozen=True)
class CountedState(FormState):
    step: int = 0
    left: int = 0


class Counted:
    """A training of `seed`: after n steps it stands at (seed, n). Seed 13 diverges at step 3."""

    built = taken = 0

    def __init__(self, seed, record):
        Counted.built += 1
        self.seed, self.step, self.size = seed, record or 0, 10

    def advance(self):
        if self.seed == 13 and self.step == 2:
            raise LiveDivergedError(loss=float("nan"), step=3, rate=1.0)
        Counted.taken += 1
        self.step += 1

    def record(self):
        return self.step


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    queue = turns.Queue()
    monkeypatch.setattr(module, "work", lambda t, one: turns.work(t, one, queue=queue))
    monkeypatch.setattr(Counted, "built", 0)
    monkeypatch.setattr(Counted, "taken", 0)


def trained(runs, state, *seeds, end):
    state = state.but(running=True)
    while state.running:
        state = runs.turn(state, seeds, end)
    return state


def test_a_training_goes_to_its_end_and_rests():
    runs = Runs(Counted)
    state = trained(runs, CountedState(), 1, 2, end=250)
    assert (state.step, state.left, state.running, state.place) == (250, 0, False, 0)
    assert Counted.taken == 500
    assert Counted.built == 2  # each turn goes on with the runs of the last


def test_what_is_known_is_not_done_again_and_what_is_not_is():
    runs = Runs(Counted)
    rests = trained(runs, CountedState(), 1, end=250)
    assert runs.settled(rests, (1,)) == rests
    assert runs.settled(rests.but(step=200), (1,)) == rests.but(step=200)  # a milestone
    between = runs.settled(rests.but(step=170), (1,))
    assert (between.step, between.left, between.running) == (100, 70, True)
    assert trained(runs, between, 1, end=170).step == 170
    beside = runs.settled(rests, (1, 2))  # the second run is not known at all
    assert (beside.step, beside.left, beside.running) == (0, 250, True)
    runs.forget()
    again = runs.settled(rests, (1,))
    assert (again.step, again.left, again.running) == (0, 250, True)


def test_one_who_rests_is_never_thrown_back_far_by_many_who_go_on():
    runs = Runs(Counted)
    rests = trained(runs, CountedState(), 1, end=150)
    for end in range(151, 151 + 3 * KEPT):  # others pause at every step
        runs.once(CountedState(step=end - 1), (1,), MOST)
    back = runs.settled(rests, (1,))
    assert back.step >= rests.step - rests.step % MILESTONE
    assert len([s for s in runs.places[1] if s % MILESTONE]) <= KEPT
    for end in range(400, 400 + 3 * KEPT):  # who looks now and then stays
        runs.once(CountedState(step=end - 1), (1,), MOST)
        assert runs.settled(CountedState(step=342), (1,)).step == 342


def test_memory_has_an_end_and_what_is_used_stays():
    runs = Runs(Counted, room=30)  # three records of ten numbers
    for seed in (1, 2, 3):
        runs.keep(seed, Counted(seed, 0))
    assert runs.known((1,), 0) == 0
    for seed in (4, 5):
        runs.keep(seed, Counted(seed, 0))
    assert list(runs.places) == [1, 4, 5]
    assert runs.size() <= 30
    for n in range(3 * READY):
        with runs.borrowed(1, n):
            pass
    assert len(runs.ready) == READY


def test_a_single_step_and_the_last_one():
    runs = Runs(Counted)
    state = runs.once(CountedState(left=5), (1, 2), MOST)
    assert (state.step, state.left, state.running) == (1, 4, False)
    with pytest.raises(TooManyError, match=str(MOST)):
        runs.once(CountedState(step=MOST), (1,), MOST)


def test_a_training_that_diverges_rests_and_it_is_known_why():
    runs = Runs(Counted)
    state = runs.turn(CountedState(running=True, ticket="1"), (13,), 300)
    assert (state.running, state.left) == (False, 0)
    assert "step 3" in runs.stopped_by(13).text("en")
    assert runs.stopped_by(1) is None
    with pytest.raises(LiveDivergedError):
        runs.once(CountedState(step=2), (13,), MOST)


def test_many_people_at_one_training_each_get_the_step_they_asked_for():
    runs, lock, seen = Runs(Counted), threading.Lock(), []

    def one(first):
        with runs.borrowed(7, first) as run:
            at = run.step
        with lock:
            seen.append((first, at))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, [n % 5 for n in range(200)]))
    assert all(first == at for first, at in seen)
