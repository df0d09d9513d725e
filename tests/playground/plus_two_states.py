"""What the tests of the encoder–decoder tab share: states, and one function for each thing a person does."""

from __future__ import annotations

import pytest

from model.plus_two import PlusTwoRun
from playground import turns
from playground.encoder_decoder import look as looking
from playground.encoder_decoder import runs
from playground.encoder_decoder.state import MOST
from playground.form import runs as form_runs
from playground.tabs.encoder_decoder import TAB

EXAMPLES = [e.name for e in TAB.form.examples]
LANGS = ("en", "ko")
DOWN = [[50.0, 40.0, 30.0, 20.0, 10.0]]


@pytest.fixture(autouse=True)
def fresh_memory(monkeypatch):
    """Nothing is remembered from another test, and nobody else stands in the queue."""
    queue = turns.Queue()
    runs.RUNS.forget()
    monkeypatch.setattr(
        form_runs, "work", lambda ticket, step: turns.work(ticket, step, queue=queue)
    )
    looking.stand.cache_clear()
    looking.looked.cache_clear()


def example(name):
    return TAB.form.example(name)


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def shown(state, name):
    return TAB.form.flow(state, "en").get(name).values


def steps(state, n):
    """The state `n` training steps on, one by one."""
    for _ in range(n):
        state = do(state, "once")
    return state


def run_on(state):
    """Turn by turn, as the page asks, to where training pauses."""
    for _ in range(MOST):
        if not state.running:
            return state
        state = do(state, "more")
    raise AssertionError("it never pauses")


def short(name, left=6):
    """An example that trains by itself, cut to a few steps."""
    state = example(name)
    return state.but(left=left) if state.running else state


def trained(recipe, seed, count):
    run = PlusTwoRun(recipe, seed)
    for _ in range(count):
        run.advance()
    return run
