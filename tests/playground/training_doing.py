"""What a person does in the Training tab, for its tests."""

from __future__ import annotations

from functools import partial

import pytest

from model.live import LiveRun
from playground import turns
from playground.form import runs as form_runs
from playground.tabs.training import TAB
from playground.training import runs
from playground.training.look import attended, learned, opened
from playground.training.state import TrainingState
from tests.playground.html_tree import read

EXAMPLES = [e.name for e in TAB.form.examples]
LANGS = ("en", "ko")
QUICK = TrainingState(n_layer="1", n_embd="8", n_head="2")


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """Each test begins with an empty memory and an empty queue."""
    runs.RUNS.forget()
    monkeypatch.setattr(form_runs, "work", partial(turns.work, queue=turns.Queue()))
    for cached in (learned, attended, opened):
        cached.cache_clear()


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def trained(state, most=200):
    """To where training pauses by itself, turn by turn as the page asks."""
    state = do(state, "start", seed=7)
    for _ in range(most):
        if not state.running:
            return state
        state = do(state, "more")
    raise AssertionError("it never pauses")


def at(state, steps):
    """After as many single steps."""
    for _ in range(steps):
        state = do(state, "once")
    return state


def alone(settings, steps):
    run = LiveRun(settings)
    for _ in range(steps):
        run.advance()
    return run


def page_of(state, lang="en"):
    return read(TAB.view(state, lang))
