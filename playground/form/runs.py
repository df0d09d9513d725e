"""Trainings that people watch: done in turns, and remembered, so that going on is not beginning anew.

A training is a function of its settings and a step. What is remembered here saves time and
nothing else: where it was forgotten, or never known (a link, another server), it is computed
anew, in turns. Of a training that many watch, every hundredth step stays, so that who comes
back to a step is never far from it.

A state that is trained has `step` and `left` (steps until it pauses) besides what every
`FormState` has. Two runs of other settings can be trained side by side.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, Protocol, TypeVar

from model.errors import DivergedError
from playground import input_errors as errors
from playground.turns import TURN, work

MILESTONE = 100  # steps between two places that are remembered though training went on
KEPT = 64  # places of one training besides, those used longest ago forgotten first
ROOM = 64_000_000  # numbers remembered in all: 256 MB
READY = 16  # runs that stand ready where they were left
FAILED = 256  # trainings of which it is remembered that they diverge

Settings = TypeVar("Settings", bound=Hashable)


class Run(Protocol):
    """A training that stands somewhere."""

    @property
    def step(self) -> int: ...

    @property
    def size(self) -> int:
        """Numbers that a record of it holds."""

    def advance(self) -> None:
        """One step. Raises a `DivergedError` and stays where it is."""

    def record(self) -> Any:
        """All that is needed to stand here again."""


class Runs(Generic[Settings]):
    """The trainings of one tab, shared by all people. `build(settings, record)` stands where the
    record was made, or at the beginning without one."""

    def __init__(self, build: Callable[[Settings, Any], Any], room: int = ROOM) -> None:
        self.build, self.room, self.lock = build, room, threading.Lock()
        self.forget()

    def forget(self) -> None:
        self.places: OrderedDict[Settings, OrderedDict[int, Any]] = OrderedDict()
        self.sizes: dict[Settings, int] = {}  # numbers in each record of a training
        self.ready: OrderedDict[tuple[Settings, int], Any] = OrderedDict()
        self.failed: OrderedDict[Settings, DivergedError] = OrderedDict()

    def known(self, every: tuple[Settings, ...], step: int) -> int:
        """The last step, not after `step`, at which all of them are known; 0 always is."""
        with self.lock:
            found = [{s for s in self.places.get(one, ()) if s <= step} for one in every]
            last = max(set.intersection(*found), default=0)
            for one in every:
                if last in self.places.get(one, ()):
                    self.places.move_to_end(one)
                    self.places[one].move_to_end(last)
        return last

    def keep(self, settings: Settings, run: Any) -> None:
        """Remember where `run` stands."""
        record = run.record()
        with self.lock:
            places = self.places.setdefault(settings, OrderedDict())
            self.places.move_to_end(settings)
            self.sizes[settings] = run.size
            places[run.step] = record
            places.move_to_end(run.step)
            for old in [step for step in places if step % MILESTONE][:-KEPT]:
                del places[old]
            while self.size() > self.room and len(self.places) > 1:
                gone, _ = self.places.popitem(last=False)
                del self.sizes[gone]

    def size(self) -> int:
        return sum(len(places) * self.sizes[one] for one, places in self.places.items())

    @contextmanager
    def borrowed(self, settings: Settings, step: int) -> Iterator[Any]:
        """A run that stands at `step`, for oneself; where it is left, the next finds it."""
        run = self.take(settings, step)
        try:
            yield run
        finally:
            with self.lock:
                self.ready[settings, run.step] = run
                while len(self.ready) > READY:
                    self.ready.popitem(last=False)

    def take(self, settings: Settings, step: int) -> Any:
        known = self.known((settings,), step)
        with self.lock:
            run = self.ready.pop((settings, step), None)
            record = self.places.get(settings, {}).get(known)
        run = run or self.build(settings, record)
        while run.step < step:  # only where it was forgotten a moment ago: see `settled`
            run.advance()
        return run

    def stopped_by(self, settings: Settings) -> DivergedError | None:
        """Why a training cannot go on, where it was found that it cannot."""
        return self.failed.get(settings)

    # What a state may do

    def settled(self, state: Any, every: tuple[Settings, ...]) -> Any:
        """A training that is not known here is done again, in turns, and rests where it was."""
        known = self.known(every, state.step)
        if known == state.step:
            return state
        left = state.step - known + (state.left if state.running else 0)
        return state.but(step=known, left=left, running=True)

    def turn(self, state: Any, every: tuple[Settings, ...], end: int) -> Any:
        """The next turn on the way to step `end`: a step of each run, again and again."""
        runs: dict[Settings, Any] = {}
        with ExitStack() as stack:

            def one() -> bool:
                if not runs:
                    for settings in every:
                        runs[settings] = stack.enter_context(self.borrowed(settings, state.step))
                return self.advance(runs, end)

            try:
                place = work(state.ticket, one)
            except DivergedError:
                return state.but(left=0, running=False, place=0)
            for settings, run in runs.items():
                self.keep(settings, run)
            step = min((run.step for run in runs.values()), default=state.step)
        return state.but(step=step, left=end - step, place=place, running=step < end)

    def once(self, state: Any, every: tuple[Settings, ...], most: int) -> Any:
        """A single step of each. Raises `TooManyError` at the last one, or a `DivergedError`."""
        if state.step >= most:
            raise errors.TooManyError(most=most, found=most + 1)
        with ExitStack() as stack:
            runs = {one: stack.enter_context(self.borrowed(one, state.step)) for one in every}
            with TURN:
                self.advance(runs, most)
            for settings, run in runs.items():
                self.keep(settings, run)
        left = max(0, state.left - 1)
        return state.but(step=state.step + 1, left=left, running=False, place=0)

    def advance(self, runs: dict[Settings, Any], end: int) -> bool:
        """A step of each; whether there are more before `end`."""
        for settings, run in runs.items():
            if run.step >= end:
                continue
            try:
                run.advance()
            except DivergedError as error:
                with self.lock:
                    self.failed[settings] = error
                    while len(self.failed) > FAILED:
                        self.failed.popitem(last=False)
                raise
            if run.step % MILESTONE == 0:
                self.keep(settings, run)
        return any(run.step < end for run in runs.values())


def begin(state: Any, action: Any) -> Any:
    """Back to before the first step; what was learned is still remembered."""
    return state.but(step=0, left=0, running=False, place=0)
