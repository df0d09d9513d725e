"""Trainings: done in turns, and remembered so that going on does not mean doing them again.

A training is a function of recipe, seed, rate and step. What is remembered here saves
time and nothing else: where it was forgotten, or never known, it is computed anew.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict

from model.plus_two import RECIPES, PlusTwoRun, PlusTwoState
from playground import input_errors as errors
from playground.encoder_decoder.state import MOST, EncoderDecoderState, checked
from playground.form.form import Action
from playground.turns import TURN, work

REMEMBERED = 256  # states of 0.2 MB
LONGER = 800  # a pause on the way to the last step
MILESTONE = 250  # steps between two states that are kept though all have gone on

Training = tuple[str, int, float]  # recipe, seed, rate


class Memory:
    """Where trainings stand: wherever a person does, and at milestones. Shared by all.

    A whole class may train the same. Where all have gone on from is needed no more; beyond
    `room`, what was used longest ago is forgotten.
    """

    def __init__(self, room: int = REMEMBERED) -> None:
        self.room, self.lock = room, threading.Lock()
        self.states: OrderedDict[tuple[Training, int], PlusTwoState] = OrderedDict()
        self.standing: Counter[tuple[Training, int]] = Counter()  # how many came there and stayed

    def last_known(self, training: Training, step: int) -> int:
        """The last remembered step that is not after `step`; 0 needs no remembering."""
        with self.lock:
            steps = [known for name, known in self.states if name == training and known <= step]
        return max(steps, default=0)

    def get(self, training: Training, step: int) -> PlusTwoState | None:
        with self.lock:
            if (training, step) in self.states:
                self.states.move_to_end((training, step))
            return self.states.get((training, step))

    def keep(self, training: Training, run: PlusTwoRun) -> None:
        """Remember where `run` stands, for one person more."""
        place, state = (training, run.step), run.state()
        with self.lock:
            self.standing[place] += 1
            self.states[place] = state
            self.states.move_to_end(place)
            while len(self.states) > self.room:
                forgotten, _ = self.states.popitem(last=False)
                del self.standing[forgotten]

    def leave(self, training: Training, step: int) -> None:
        """One person goes on from `step`; when the last has, only a milestone is remembered."""
        place = (training, step)
        with self.lock:
            if place not in self.states:
                return
            self.standing[place] -= 1
            if self.standing[place] <= 0 and step % MILESTONE:
                del self.standing[place]
                self.states.pop(place, None)


MEMORY = Memory()


def training_of(state: EncoderDecoderState) -> Training:
    return state.recipe, state.seed, state.rate


def run_at(training: Training, step: int) -> PlusTwoRun:
    """A run of one's own that stands at `step`, from the last one known before it."""
    run = PlusTwoRun(*training)
    found = MEMORY.get(training, MEMORY.last_known(training, step))
    if found is not None:
        run.restore(found)
    while run.step < step:  # only where it was forgotten a moment ago: `settle` sees to the rest
        run.advance()
    return run


# What a state may do


def settle(state: EncoderDecoderState) -> EncoderDecoderState:
    """A training that is not known here, from a link say, is done again, in turns."""
    state = checked(state)
    known = MEMORY.last_known(training_of(state), state.step)
    if known == state.step:
        return state
    left = state.step - known + (state.left if state.running else 0)
    return state.but(step=known, left=left, running=True)


def next_pause(state: EncoderDecoderState) -> int:
    """The step at which training pauses by itself: as it was going to, or the recipe's last and on."""
    if state.left:
        return state.step + state.left
    pauses = (RECIPES[state.recipe].steps, LONGER, MOST)
    return next((pause for pause in pauses if pause > state.step), MOST)


def more(state: EncoderDecoderState) -> EncoderDecoderState:
    """The next turn of training."""
    training, end, runs = training_of(state), next_pause(state), []

    def one() -> bool:
        if not runs:
            runs.append(run_at(training, state.step))
        if runs[0].step < end:
            runs[0].advance()
            if runs[0].step % MILESTONE == 0 and runs[0].step < end:
                MEMORY.keep(training, runs[0])
        return runs[0].step < end

    place = work(state.ticket, one)
    step = state.step
    if runs:
        step = runs[0].step
        MEMORY.keep(training, runs[0])
        MEMORY.leave(training, state.step)
    return state.but(step=step, left=end - step, place=place, running=step < end)


def once(state: EncoderDecoderState, action: Action) -> EncoderDecoderState:
    """A single training step."""
    if state.step == MOST:
        raise errors.TooManyError(most=MOST, found=MOST + 1)
    training = training_of(state)
    run = run_at(training, state.step)
    with TURN:
        run.advance()
    MEMORY.keep(training, run)
    MEMORY.leave(training, state.step)
    return state.but(step=run.step, left=max(0, state.left - 1), running=False, place=0)
