"""The trainings of the encoder–decoder tab: where they pause, and what a state may do."""

from __future__ import annotations

from model.plus_two import RECIPES, PlusTwoRun, PlusTwoState
from playground.encoder_decoder.state import MOST, EncoderDecoderState, checked
from playground.form.form import Action
from playground.form.runs import Runs

LONGER = 800  # a pause on the way to the last step

Training = tuple[str, int, float]  # recipe, seed, rate


class Standing(PlusTwoRun):
    """A run that can be remembered."""

    @property
    def size(self) -> int:
        return 3 * sum(p.numel() for p in self.model.parameters())  # weights, Adam's m and v

    def record(self) -> PlusTwoState:
        return self.state()


def build(training: Training, found: PlusTwoState | None) -> Standing:
    run = Standing(*training)
    if found is not None:
        run.restore(found)
    return run


RUNS: Runs[Training] = Runs(build)


def training_of(state: EncoderDecoderState) -> Training:
    return state.recipe, state.seed, state.rate


def settle(state: EncoderDecoderState) -> EncoderDecoderState:
    """What must agree does, and a training that is not known here is done again, in turns."""
    state = checked(state)
    return RUNS.settled(state, (training_of(state),))


def next_pause(state: EncoderDecoderState) -> int:
    """The step at which training pauses by itself: as it was going to, or the recipe's last and on."""
    if state.left:
        return state.step + state.left
    pauses = (RECIPES[state.recipe].steps, LONGER, MOST)
    return next((pause for pause in pauses if pause > state.step), MOST)


def more(state: EncoderDecoderState) -> EncoderDecoderState:
    """The next turn of training."""
    return RUNS.turn(state, (training_of(state),), next_pause(state))


def once(state: EncoderDecoderState, action: Action) -> EncoderDecoderState:
    """A single training step."""
    return RUNS.once(state, (training_of(state),), MOST)
