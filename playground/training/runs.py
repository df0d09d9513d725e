"""The runs of the Training tab: what is noted on the way, where they pause, what a state may do."""

from __future__ import annotations

from model.live import LiveRun, LiveSettings, Snapshot
from model.tasks import Answer, ask
from playground.form.form import Action
from playground.form.runs import Runs
from playground.training.state import MOST, TrainingState, agreed, refused, runs_of

PAUSES = (300, 1000, MOST)  # steps at which training pauses by itself
MARKS = (0, 50, 100, 200, 300, 500, 1000, 1500, MOST)  # whose answers are kept to be looked at
ASKED = 1  # seed of the questions: the same for every run of a task

Noted = tuple[Snapshot, dict[int, list[Answer]]]


class Watched:
    """A run, and what it answered at the marks it has passed."""

    def __init__(self, settings: LiveSettings, noted: Noted | None = None) -> None:
        self.run, self.answers = LiveRun(settings), {}
        if noted is None:
            self.note()
        else:
            self.run.restore(noted[0])
            self.answers = dict(noted[1])

    @property
    def step(self) -> int:
        return self.run.step

    @property
    def size(self) -> int:
        return 3 * self.run.gpt.n_parameters  # weights, and Adam's m and v

    def advance(self) -> None:
        self.run.advance()
        self.note()

    def note(self) -> None:
        if self.run.step in MARKS:
            self.answers[self.run.step] = ask(self.run.gpt, self.run.task, ASKED)

    def record(self) -> Noted:
        return self.run.snapshot(), dict(self.answers)


RUNS: Runs[LiveSettings] = Runs(Watched)


def settle(state: TrainingState) -> TrainingState:
    """What must agree does, and a training that is not known here is done again, in turns."""
    state = agreed(state)
    return state if refused(state) else RUNS.settled(state, runs_of(state))


def next_pause(state: TrainingState) -> int:
    """The step at which training pauses by itself."""
    if state.left:
        return state.step + state.left
    return next((pause for pause in PAUSES if pause > state.step), MOST)


def last_pause(state: TrainingState) -> int:
    """Where the stretch of training ends that a state is in, or has just come to the end of."""
    return next(pause for pause in PAUSES if pause >= state.step)


def more(state: TrainingState) -> TrainingState:
    """The next turn of training."""
    if refused(state):
        return state.but(running=False)
    return RUNS.turn(state, runs_of(state), next_pause(state))


def once(state: TrainingState, action: Action) -> TrainingState:
    """A single training step of each run."""
    return RUNS.once(state, runs_of(state), MOST)
