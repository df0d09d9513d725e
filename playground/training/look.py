"""What the run of some settings shows at a step: its losses and answers, its attention, one weight.

Asked of a run that stands there. Attention in float64 on a copy, so that every sum in the
glass box comes out to its last digit.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from model.gpt import GPT, ModelTrace
from model.gradients import Difference
from model.live import LiveSettings, WeightStep, gradient, one_step, two_gradients
from model.looking import trace_of
from model.tasks import QUESTION_STEP, Answer, ask
from playground.training.runs import ASKED, RUNS


@dataclass(frozen=True)
class Learned:
    """`answers`: by step, those of the marks passed, and those of now."""

    losses: tuple[float, ...]
    answers: dict[int, list[Answer]]

    @property
    def now(self) -> list[Answer]:
        return self.answers[len(self.losses)]


@lru_cache(maxsize=64)
def learned(settings: LiveSettings, step: int) -> Learned:
    with RUNS.borrowed(settings, step) as watched:
        run, answers = watched.run, dict(watched.answers)
        if step not in answers:
            answers[step] = ask(run.gpt, run.task, ASKED)
        return Learned(tuple(run.losses), answers)


@dataclass(frozen=True)
class Attended:
    """A traced pass over the first question and its right answer, T characters in all."""

    gpt: GPT
    trace: ModelTrace
    characters: str


@lru_cache(maxsize=32)
def attended(settings: LiveSettings, step: int) -> Attended:
    with RUNS.borrowed(settings, step) as watched:
        task, gpt = watched.run.task, copy.deepcopy(watched.run.gpt).double()
    gpt.requires_grad_(False)
    ids = task.rows(QUESTION_STEP, ASKED, 1)[0, :-1].tolist()  # what a step of training reads
    return Attended(gpt, trace_of(gpt, ids), task.decode(ids))


@dataclass(frozen=True)
class Opened:
    """The next step of one weight, beside its tensor and the gradient of the whole of it."""

    tensor: Tensor
    gradient: Tensor
    step: WeightStep
    autograd: float  # in float64, as `tried` is
    tried: Difference


@lru_cache(maxsize=32)
def opened(settings: LiveSettings, step: int, name: str, index: tuple[int, ...]) -> Opened:
    with RUNS.borrowed(settings, step) as watched:
        run = watched.run
        autograd, tried = two_gradients(run, name, index)
        tensor, slopes = run.weights[name].detach().clone(), gradient(run, name)
        return Opened(tensor, slopes, one_step(run, name, index), autograd, tried)
