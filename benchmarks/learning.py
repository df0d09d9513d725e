"""Seconds of learning until a held-out character costs 1.88 nats, beside nanoGPT's recipe.

nanoGPT's setting for a processor: a character model of 4 layers, 4 heads, 128
wide, 64 characters of context, no dropout; its README reports 1.88. Same model,
same first weights, same training loop; only what a recipe may choose differs.

Measured as nanoGPT measures: whole windows, every character counted, none read
twice; here every fourth window of the held-out text, nearly twice as many as nanoGPT
looks at. Seconds are those of one processor thread (an idle machine's clock, whatever
else runs) and leave evaluation out.

Source: github.com/karpathy/nanoGPT, README and config/train_shakespeare_char.py.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks import ROOT, Row, median_row
from benchmarks.generation import threads_set
from model import GPT, GPTConfig, TrainingConfig, train
from model.batches import windows
from model.corpora import read_corpus

WANTED = 1.88  # nats a character
EVERY = 4  # one window of so many of the held-out text is looked at
SIZES = GPTConfig(65, 64, n_layer=4, n_head=4, n_embd=128, bias=False)
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Plan:
    """A recipe: the batch and all that `train` wants to know; how often to look."""

    batch_size: int
    training: TrainingConfig
    look_every: int


THEIRS = Plan(
    12,
    TrainingConfig(
        steps=2000, optimizer="adamw", learning_rate=1e-3, warmup_steps=100, final_rate=0.1
    ),
    look_every=100,
)
OURS = Plan(
    12,
    TrainingConfig(
        steps=660,
        optimizer="muon",
        learning_rate=1e-2,
        muon_learning_rate=2e-2,
        warmup_steps=20,
        final_rate=0.0,
        bfloat16=True,
    ),
    look_every=20,
)


def run() -> list[Row]:
    """Both recipes from the same first weights, one seed after another."""
    text, held_out = characters()
    with threads_set(1):
        pairs = [[learn(plan, text, held_out, seed) for plan in (OURS, THEIRS)] for seed in SEEDS]
    ours, theirs = zip(*pairs, strict=True)
    what = f"learning, to {WANTED} a character"
    if any(there is None for _, there in theirs):
        what += f", or {THEIRS.training.steps:,} steps"  # all the peer's steps and not there yet
    return [
        median_row(
            what,
            [float("inf") if there is None else there for _, there in ours],
            [seconds if there is None else there for seconds, there in theirs],
            unit="s",
            target=0.33,
            peer="nanoGPT's",
        )
    ]


def learn(plan: Plan, text: Tensor, held_out: Tensor, seed: int) -> tuple[float, float | None]:
    """Seconds the plan took in all, and those until the wanted loss, or None if it never came."""
    torch.manual_seed(seed)
    gpt = GPT(SIZES)
    batch = windows(text, SIZES.block_size, plan.batch_size, seed)
    seconds, began = 0.0, time.process_time()
    for step in train(gpt, batch, replace(plan.training, seed=seed)):
        seconds += time.process_time() - began
        last = step.step == plan.training.steps
        if (last or step.step % plan.look_every == 0) and loss(gpt, held_out) <= WANTED:
            return seconds, seconds
        began = time.process_time()
    return seconds, None


@torch.no_grad()
def loss(gpt: GPT, ids: Tensor) -> float:
    """Mean nats a character over every fourth window of `ids` `(N,)`; none overlap."""
    T = SIZES.block_size
    n = (len(ids) - 1) // T
    idx, targets = (part.view(n, T)[::EVERY] for part in (ids[: n * T], ids[1 : n * T + 1]))
    nats = sum(
        F.cross_entropy(gpt(x).flatten(0, 1), y.flatten(), reduction="sum").item()
        for x, y in zip(idx.split(128), targets.split(128), strict=True)
    )
    return nats / targets.numel()


def characters() -> tuple[Tensor, Tensor]:
    """tinyshakespeare as character ids: the text to learn from and the text held out."""
    beside = ROOT.parent / "shared" / "data" / "tinyshakespeare.txt"
    split = read_corpus("tinyshakespeare", beside if beside.exists() else None)
    alphabet = {c: i for i, c in enumerate(sorted(set(split.train + split.held_out)))}
    text, held_out = (
        torch.tensor([alphabet[c] for c in part]) for part in (split.train, split.held_out)
    )
    return text, held_out
