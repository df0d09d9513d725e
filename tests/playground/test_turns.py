"""The queue of those who work, and turns of work: with a clock of our own."""

from __future__ import annotations

import threading

import pytest

from playground import turns
from playground.turns import Queue, work


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_first_work_and_the_rest_wait_in_order():
    queue = Queue(at_once=2, clock=Clock())
    assert [queue.place(t) for t in "abcd"] == [0, 0, 1, 2]
    assert [queue.place(t) for t in "dcba"] == [2, 1, 0, 0]  # asking again changes no place
    queue.leave("a")
    assert [queue.place(t) for t in "bcd"] == [0, 0, 1]


def test_who_no_longer_asks_loses_the_place():
    clock = Clock()
    queue = Queue(at_once=1, clock=clock)
    assert [queue.place("gone"), queue.place("here")] == [0, 1]
    clock.now = turns.PATIENCE
    assert queue.place("here") == 1  # not yet
    clock.now += 0.001
    assert queue.place("here") == 0
    assert queue.place("gone") == 1  # back again, behind


def test_a_turn_ends_when_there_is_no_more_and_frees_the_place():
    queue, left = Queue(at_once=1), [3]

    def step():
        assert turns.TURN.locked()
        left[0] -= 1
        return left[0] > 0

    assert work("a", step, queue=queue, seconds=60) == 0
    assert left == [0]
    assert not turns.TURN.locked()
    assert queue.place("b") == 0


def test_a_turn_without_time_still_does_one_step():
    """So that whoever waited long for others gets on all the same."""
    queue, done = Queue(at_once=1), []
    assert work("a", lambda: done.append(1) or True, queue=queue, seconds=1e-9) == 0
    assert done == [1]
    assert work("b", lambda: done.append(2) or True, queue=queue) == 1
    assert done == [1]


def test_a_step_that_fails_frees_the_place_and_the_lock():
    queue = Queue(at_once=1)

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work("a", fails, queue=queue)
    assert not turns.TURN.locked()
    assert queue.place("b") == 0


def test_two_never_compute_at_once():
    queue, inside, most = Queue(at_once=4), [], []

    def step():
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return len(most) < 400

    threads = [
        threading.Thread(target=work, args=(str(n), step), kwargs={"queue": queue, "seconds": 30})
        for n in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert max(most) == 1
    assert len(most) >= 400
