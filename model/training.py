"""Training: a generator of steps. Each step guesses, measures the surprise, and turns every knob.

    loss = −1/(BT) Σ ln p(next token)      forward
    gradient = ∂loss/∂weights              backward
    weights −= learning rate × direction   optimizer

The direction is AdamW's, or for the matrices inside the blocks Muon's: the
momentum with all its singular values made about equal.

Nothing is printed here: `train` yields, the caller shows. A `TrainingState` with
a folder lets a killed run go on where it was. Under `torchrun` each
process takes its share of every batch (DistributedDataParallel).

Sources: Kingma & Ba 2015 (Adam), Loshchilov & Hutter 2019 (AdamW), Jordan et al.
2024 (Muon), Loshchilov & Hutter 2017, equation 5 (cosine).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model import errors
from model.batches import Batch
from model.gpt import GPT, n_counted, next_token_loss
from model.processes import Processes
from model.training_state import Curve, TrainingState


@dataclass(frozen=True)
class TrainingConfig:
    """How to train. Rates are those at the top of the schedule.

    Raises `SizeError` for a count below 1, `ChoiceError` for an unknown optimizer.
    """

    steps: int = 1000
    learning_rate: float = 1e-3  # AdamW's
    optimizer: str = "adamw"  # or "muon", for the matrices inside the blocks
    muon_learning_rate: float = 3e-3
    weight_decay: float = 0.1
    warmup_steps: int = 100
    final_rate: float = 0.1  # the last learning rate as a fraction of the highest
    clip: float = 1.0  # the longest gradient allowed
    bfloat16: bool = False  # matrix products in half precision: faster where the processor has it
    evaluate_every: int = 250
    patience: int = 8  # evaluations without a new best before stopping early
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "evaluate_every", "patience"):
            if getattr(self, name) < 1:
                raise errors.SizeError(name=name, found=getattr(self, name))
        if self.optimizer not in ("adamw", "muon"):
            raise errors.ChoiceError(name="optimizer", found=self.optimizer, choices="adamw | muon")


@dataclass(frozen=True)
class Step:
    """What one step did. `val_loss` and `sample` only now and then."""

    step: int
    loss: float  # nats per token, on this step's batch
    learning_rate: float
    tokens: int  # read so far
    tokens_per_second: float
    val_loss: float | None = None  # as `evaluate` counts it
    sample: str | None = None


def train(
    gpt: GPT,
    batch: Callable[[int], Batch],
    config: TrainingConfig | None = None,
    *,
    evaluate: Callable[[GPT], float] | None = None,
    sample: Callable[[GPT], str] | None = None,
    state: TrainingState | None = None,
) -> Iterator[Step]:
    """Train `gpt` in place, yielding a `Step` after each step.

    `batch(step)` gives that step's inputs and targets; being a function of the step
    alone, it makes a resumed run the same run. `evaluate(gpt)` is a loss on held-out
    text, asked every `evaluate_every` steps: the weights with the lowest are those
    that `gpt` holds in the end, and training stops after `patience` that are not
    lower. `state` counts, keeps the curve and, with a folder, lets a killed run go on.
    Raises `DivergedError` where the loss is no longer a number.
    """
    config = config or TrainingConfig()
    processes = Processes.started(config.seed, next(gpt.parameters()).device)
    wrapped = processes.wrap(gpt)
    optimizers = make_optimizers(gpt, config)
    state = state or TrainingState()
    state.load(gpt, optimizers)
    gpt.train()
    while state.step < config.steps and state.since_best < config.patience:
        began = time.perf_counter()
        rate = schedule(state.step, config)
        for group in (g for o in optimizers for g in o.param_groups):
            group["lr"] = rate * group["peak"]
        torch.manual_seed(processes.seed(state.step))  # dropout: the same in a resumed run
        idx, targets = batch(state.step)
        mean_loss = update(wrapped, idx, targets, optimizers, config, processes)
        if not math.isfinite(mean_loss):
            raise errors.DivergedError(step=state.step, loss=mean_loss, rate=rate)
        tokens = n_counted(targets)
        state.step += 1
        state.tokens += tokens
        seconds = time.perf_counter() - began
        state.seconds += seconds
        val_loss = text = None
        if evaluate and (state.step % config.evaluate_every == 0 or state.step == config.steps):
            val_loss = evaluate(gpt.eval())
            text = sample(gpt) if sample else None
            gpt.train()
            state.curve.append(Curve(state.step, mean_loss, val_loss))
            state.keep_best(gpt, val_loss)
            if processes.first:
                state.save(gpt, optimizers)
        yield Step(
            state.step,
            mean_loss,
            rate * config.learning_rate,
            state.tokens,
            tokens / seconds,
            val_loss,
            text,
        )
    state.take_best(gpt)
    gpt.eval()
    processes.finish()


def update(
    wrapped: nn.Module,
    idx: Tensor,
    targets: Tensor,
    optimizers: list[torch.optim.Optimizer],
    config: TrainingConfig,
    processes: Processes,
) -> float:
    """One step on a whole batch, shared among the processes: forward, backward, every knob turned.

    Returns the loss before it, the mean over all that is counted.
    """
    counted, device = n_counted(targets), next(wrapped.parameters()).device
    idx, targets = (processes.share(part).to(device) for part in (idx, targets))
    with torch.autocast(device.type, torch.bfloat16, enabled=config.bfloat16):
        logits = wrapped(idx)  # (B, T) -> (B, T, V)
    loss = next_token_loss(logits, targets)
    if processes.count > 1:  # a share that counts more tokens weighs more in the mean
        loss = loss * n_counted(targets) * processes.count / counted
    loss.backward()
    nn.utils.clip_grad_norm_(wrapped.parameters(), config.clip)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return processes.mean(loss.detach())


def make_optimizers(gpt: GPT, config: TrainingConfig) -> list[torch.optim.Optimizer]:
    """AdamW for everything; or Muon for the matrices of the blocks and AdamW for the rest.

    Weight decay pulls at matrices only: embeddings, biases and LayerNorms are left free
    under Muon, biases and LayerNorms under AdamW, as nanoGPT does.
    """
    parameters = dict(gpt.named_parameters())
    matrices = [p for p in parameters.values() if p.dim() == 2]
    vectors = [p for p in parameters.values() if p.dim() < 2]
    optimizers: list[torch.optim.Optimizer] = []
    if config.optimizer == "muon":
        inner = [p for name, p in parameters.items() if p.dim() == 2 and name.startswith("blocks")]
        matrices = [p for name, p in parameters.items() if not name.startswith("blocks")]
        matrices, vectors = [], vectors + [p for p in matrices if p.dim() == 2]
        optimizers.append(
            torch.optim.Muon(
                inner,
                lr=config.muon_learning_rate,
                weight_decay=config.weight_decay,
                adjust_lr_fn="match_rms_adamw",
            )
        )
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    optimizers.append(
        torch.optim.AdamW(
            [g for g in groups if g["params"]], lr=config.learning_rate, betas=(0.9, 0.99)
        )
    )
    for group in (g for o in optimizers for g in o.param_groups):
        group["peak"] = group["lr"]
    return optimizers


def schedule(step: int, config: TrainingConfig) -> float:
    """The learning rate at `step` as a fraction of the highest: up a line, down half a cosine.

    final + (1 − final) · ½(1 + cos πt), t from 0 to 1 after the warm-up.

    >>> c = TrainingConfig(steps=110, warmup_steps=10, final_rate=0.0)
    >>> [round(schedule(s, c), 2) for s in (0, 9, 10, 60, 110)]
    [0.1, 1.0, 1.0, 0.5, 0.0]
    """
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    t = (step - config.warmup_steps) / max(1, config.steps - config.warmup_steps)
    return config.final_rate + (1 - config.final_rate) * 0.5 * (1 + math.cos(math.pi * t))
