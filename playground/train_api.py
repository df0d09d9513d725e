"""The named API of live training: a tiny GPT learns a task, its loss streamed while it does.

Each step is taken while no other is, so that a few trainings share the processor fairly
and others are answered beside them; a client that goes away stops its training within
a few steps.
"""

# No `from __future__ import annotations` here: Gradio reads the real types.
import time

from model.errors import ChoiceError
from model.live import HIGHEST_RATE, LIMITS, LiveRun, LiveSettings
from model.tasks import TASKS, ask
from playground import errors
from playground.errors import shown
from playground.gpt_api import check_whole, is_number
from playground.turns import TURN

MAX_STEPS = 2_000
MAX_SECONDS = 180  # of computing; waiting for others is not counted
STEPS_A_VALUE = 10
OFFERED = tuple(name for name in TASKS if name != "text")  # it would need an argument more
AT_ONCE = 2  # trainings; others wait in the queue


class TrainingLongError(errors.InputError):
    """More than one person may take from all others on two cores."""

    en = "Stopped after {limit} seconds of training, at step {step} of {steps}. Ask for fewer steps or a smaller model."
    ko = "학습에 {limit}초가 넘게 걸려 {steps}걸음 가운데 {step}걸음에서 멈췄습니다. 걸음 수를 줄이거나 더 작은 모델로 학습하십시오."


def train(
    task: str,
    steps: int,
    n_layer: int,
    n_head: int,
    n_embd: int,
    causal: bool,
    positions: bool,
    learning_rate: float,
    seed: int,
) -> dict:  # of each value: Gradio derives the outputs from it
    """A tiny GPT learns a task live: a stream of {step, loss}, at the end {losses, chance, sample}.

    Adam with a constant learning rate on batches of 16 rows: copy abcdef|abcdef, reverse
    abcdef|fedcba, sort fcadeb|abcdef, count 7890123456789. The same arguments give the same
    losses. 2 layers, 4 heads, 16 wide and a learning rate of 0.005 learn each within a few
    hundred steps. Queued.

    Parameters:
        task: copy, reverse, sort or count
        steps: training steps, 1 to 2000, in at most 180 seconds of computing
        n_layer: blocks, 1 to 4
        n_head: attention heads; it must divide n_embd
        n_embd: width of the residual stream, 4 to 64
        causal: false lets every token see the future
        positions: false leaves out the position embeddings
        learning_rate: Adam's, the same for each step, above 0 up to 10
        seed: a whole number from 0 to 2147483647, for weights and rows alike
    Returns:
        an object: step and loss (of that step) every few steps; in the last one losses (one a step, each before its update, nats, the mean over every predicted position), chance (ln of the number of different characters) and sample (a new question and the model's answer, each time its most probable character)
    """
    check_whole("steps", steps, 1, MAX_STEPS)
    run = LiveRun(settings(task, n_layer, n_head, n_embd, causal, positions, learning_rate, seed))
    seconds = 0.0
    while run.step < steps:
        with TURN:
            began = time.perf_counter()
            loss = run.advance()
            seconds += time.perf_counter() - began
        if seconds > MAX_SECONDS:
            raise TrainingLongError(limit=MAX_SECONDS, step=run.step, steps=steps)
        if run.step % STEPS_A_VALUE == 0 or run.step == steps:
            yield {"step": run.step, "loss": loss}
    with TURN:
        (answer,) = ask(run.gpt, run.task, seed, count=1)
    yield {
        "losses": run.losses,
        "chance": run.task.chance,
        "sample": answer.question + answer.given,
    }


def settings(
    task: object,
    n_layer: object,
    n_head: object,
    n_embd: object,
    causal: object,
    positions: object,
    learning_rate: object,
    seed: object,
) -> LiveSettings:
    """What was asked for, each of its own kind and within its limits, or a `PlaygroundError`."""
    if not isinstance(task, str):
        raise errors.NotTextError(name="task", value=shown(task))
    if task not in OFFERED:
        raise ChoiceError(name="task", found=shown(task), choices=" | ".join(OFFERED))
    sizes = {"n_layer": n_layer, "n_head": n_head, "n_embd": n_embd, "seed": seed}
    for name, value in sizes.items():
        check_whole(name, value, *LIMITS[name])
    for name, value in (("causal", causal), ("positions", positions)):
        if not isinstance(value, bool):
            raise errors.NotBooleanError(name=name, value=shown(value))
    if not (is_number(learning_rate) and learning_rate <= HIGHEST_RATE):
        value = shown(learning_rate)
        raise errors.NumberRangeError(name="learning_rate", value=value, low=0, high=HIGHEST_RATE)
    return LiveSettings(
        task, causal=causal, positions=positions, learning_rate=learning_rate, **sizes
    )
