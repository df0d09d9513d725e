"""Runs: trained in turns, and remembered so that going on does not mean training them again.

A run is a function of its settings and a step. What is remembered here saves time and
nothing else: where it was forgotten, or never known, it is computed anew, in turns.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from model.errors import LiveDivergedError
from model.live import LiveRun, LiveSettings, Snapshot
from model.tasks import Answer, ask
from playground import input_errors as errors
from playground.form.form import Action
from playground.training.state import MOST, TrainingState, agreed, refused, runs_of
from playground.turns import TURN, work

PAUSES = (300, 1000, MOST)  # steps at which training pauses by itself
MARKS = (0, 50, 100, 200, 300, 500, 1000, 1500, MOST)  # whose answers are kept to be looked at
ASKED = 1  # seed of the questions: the same for every run of a task
MILESTONE = 100  # steps between two states that are kept though the training went on
KEPT = 32  # states of a run besides
ROOM = 64_000_000  # numbers remembered in all: 256 MB
PARKED = 16  # runs that stand ready


class Watched:
    """A run, and what it answered at the marks it has passed."""

    def __init__(self, settings: LiveSettings, record: Record | None = None) -> None:
        self.run, self.answers = LiveRun(settings), {}
        if record is None:
            self.note()
        else:
            self.run.restore(record.snapshot)
            self.answers = dict(record.answers)

    @property
    def key(self) -> tuple[LiveSettings, int]:
        return self.run.settings, self.run.step

    def advance(self) -> None:
        self.run.advance()
        self.note()

    def note(self) -> None:
        if self.run.step in MARKS:
            self.answers[self.run.step] = ask(self.run.gpt, self.run.task, ASKED)

    def record(self) -> Record:
        numbers = 3 * self.run.gpt.n_parameters  # weights, and Adam's m and v
        return Record(self.run.snapshot(), dict(self.answers), numbers)


@dataclass(frozen=True)
class Record:
    snapshot: Snapshot
    answers: dict[int, list[Answer]]
    size: int


class Memory:
    """Where runs stand, the least recently used forgotten first. Shared by all people."""

    def __init__(self, room: int = ROOM) -> None:
        self.room, self.lock = room, threading.Lock()
        self.records: OrderedDict[LiveSettings, dict[int, Record]] = OrderedDict()
        self.parked: OrderedDict[tuple[LiveSettings, int], Watched] = OrderedDict()
        self.diverged: dict[LiveSettings, LiveDivergedError] = {}

    def known(self, runs: tuple[LiveSettings, ...], step: int) -> int:
        """The last step, not after `step`, at which all of them are known; 0 always is."""
        with self.lock:
            found = [{s for s in self.records.get(run, {}) if s <= step} for run in runs]
        return max(set.intersection(*found), default=0)

    def keep(self, watched: Watched) -> None:
        (settings, step), record = watched.key, watched.record()
        with self.lock:
            steps = self.records.setdefault(settings, {})
            self.records.move_to_end(settings)
            steps[step] = record
            between = [s for s in steps if s % MILESTONE]
            for old in between[:-KEPT]:
                del steps[old]
            while self.size() > self.room and len(self.records) > 1:
                self.records.popitem(last=False)

    def size(self) -> int:
        return sum(record.size for steps in self.records.values() for record in steps.values())

    def take(self, settings: LiveSettings, step: int) -> Watched:
        """A run of one's own that stands at `step`."""
        known = self.known((settings,), step)
        with self.lock:
            watched = self.parked.pop((settings, step), None)
            record = self.records.get(settings, {}).get(known)
            if record:
                self.records.move_to_end(settings)
        watched = watched or Watched(settings, record)
        while watched.run.step < step:  # only where it was forgotten a moment ago: see `settle`
            watched.advance()
        return watched

    def park(self, watched: Watched) -> None:
        """Stand it where the next who needs it at its step takes it without building another."""
        with self.lock:
            self.parked[watched.key] = watched
            while len(self.parked) > PARKED:
                self.parked.popitem(last=False)


MEMORY = Memory()


@contextmanager
def borrowed(settings: LiveSettings, step: int) -> Iterator[Watched]:
    watched = MEMORY.take(settings, step)
    try:
        yield watched
    finally:
        MEMORY.park(watched)


def stopped_by(settings: LiveSettings) -> LiveDivergedError | None:
    """Why a run cannot go on, where it was found that it cannot."""
    return MEMORY.diverged.get(settings)


# What a state may do


def settle(state: TrainingState) -> TrainingState:
    """A training that is not known here, from a link say, is done again, in turns."""
    state = agreed(state)
    if refused(state):
        return state
    known = MEMORY.known(runs_of(state), state.step)
    if known == state.step:
        return state
    left = state.step - known + (state.left if state.running else 0)
    return state.but(step=known, left=left, running=True)


def next_pause(state: TrainingState) -> int:
    """The step at which training pauses by itself."""
    if state.left:
        return state.step + state.left
    return next((pause for pause in PAUSES if pause > state.step), MOST)


def last_pause(state: TrainingState) -> int:
    """Where the stretch of training ends that a state is in, or has just come to the end of."""
    return next(pause for pause in PAUSES if pause >= state.step)


def more(state: TrainingState) -> TrainingState:
    """The next turn: a step of each run, again and again."""
    if refused(state):
        return state.but(running=False)
    runs, end = runs_of(state), next_pause(state)
    taken: list[Watched] = []
    with ExitStack() as stack:

        def one() -> bool:
            if not taken:
                taken.extend(stack.enter_context(borrowed(run, state.step)) for run in runs)
            return advanced(taken, end)

        try:
            place = work(state.ticket or f"{hash(runs)}", one)
        except LiveDivergedError:
            return state.but(left=0, running=False, place=0)
        for watched in taken:
            MEMORY.keep(watched)
        step = taken[0].run.step if taken else state.step
    return state.but(step=step, left=end - step, place=place, running=step < end)


def advanced(taken: list[Watched], end: int) -> bool:
    """A step of each, remembered; whether there are more before `end`."""
    for watched in taken:
        if watched.run.step < end:
            try:
                watched.advance()
            except LiveDivergedError as error:
                MEMORY.diverged[watched.run.settings] = error
                raise
            if watched.run.step % MILESTONE == 0:
                MEMORY.keep(watched)
    return taken[0].run.step < end


def once(state: TrainingState, action: Action) -> TrainingState:
    """A single step of each run."""
    if state.step == MOST:
        raise errors.TooManyError(most=MOST, found=MOST + 1)
    runs = runs_of(state)
    with ExitStack() as stack:
        taken = [stack.enter_context(borrowed(run, state.step)) for run in runs]
        with TURN:
            advanced(taken, MOST)
        for watched in taken:
            MEMORY.keep(watched)
    left = max(0, state.left - 1)
    return state.but(step=state.step + 1, left=left, running=False, place=0)


def begin(state: TrainingState, action: Action) -> TrainingState:
    """Back to before the first step; what was learned is still remembered."""
    return state.but(step=0, left=0, running=False, place=0)
