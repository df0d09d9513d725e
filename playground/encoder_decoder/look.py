"""What the model of a training answers at a step, and all that goes on inside it.

Asked in float64 on a copy, so that every sum in the glass box comes out to its last digit.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from model.encoder_decoder import EncoderDecoderTrace
from model.plus_two import APART, NumberTranslator, PlusTwoRun, evenly_spaced, off, with_answers
from playground.encoder_decoder.runs import RUNS, Training, training_of
from playground.encoder_decoder.state import EncoderDecoderState

UNSEEN = evenly_spaced(100, torch.Generator().manual_seed(APART - 1)).double()  # no run gets so far


@dataclass(frozen=True)
class Stand:
    """A training at a step, and how far off it is on sequences that it never saw."""

    run: PlusTwoRun  # in float64, to be asked only
    forced: float
    free: float


@lru_cache(maxsize=64)
def stand(training: Training, step: int) -> Stand:
    with RUNS.borrowed(training, step) as standing:
        run = copy.deepcopy(standing)
    run.model.double().requires_grad_(False)
    return Stand(run, off(run.forced(UNSEEN), UNSEEN), off(run.free(UNSEEN), UNSEEN))


@dataclass(frozen=True)
class Asked:
    """The model's answers with one kind of text before the decoder: `(1, T)` each."""

    tgt: Tensor  # what the decoder reads
    answers: Tensor
    trace: EncoderDecoderTrace


@dataclass(frozen=True)
class Look:
    """A training at a step, asked about the person's sequence."""

    stand: Stand
    src: Tensor  # (1, T)
    right: Tensor  # (1, T)
    by: Mapping[str, Asked]  # "right": teacher forcing, "own": free running

    @property
    def model(self) -> NumberTranslator:
        return self.stand.run.model

    @property
    def scale(self) -> float:
        return self.stand.run.recipe.scale


def look(state: EncoderDecoderState) -> Look:
    return looked(training_of(state), state.step, tuple(state.numbers[0]))


@lru_cache(maxsize=64)
def looked(training: Training, step: int, numbers: tuple[float, ...]) -> Look:
    at = stand(training, step)
    src = torch.tensor([numbers], dtype=torch.float64)
    tgt, right = with_answers(src)
    free = at.run.free(src)
    behind = F.pad(free[:, :-1], (1, 0))
    by = {
        "right": Asked(tgt, at.run.forced(src), at.run.trace(src, tgt)),
        "own": Asked(behind, free, at.run.trace(src, behind)),
    }
    return Look(at, src, right, by)
