"""Writing on, beside transformers with the same weights; what a cache saves; what a full trace costs.

The shapes of the shipped Shakespeare models with room for 256 tokens: a prompt of
one token, 255 new ones, the most probable each time, so that both write the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch
import transformers
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks import Row, median_row
from model import GPT, GPTConfig, generate
from model.checkpoint import gpt2_names, with_weights
from model.recipes import RECIPES

NEW, ROUNDS = 255, 3
READ, READINGS = 96, 30
PROMPT = torch.tensor([[0]])
# name: how many times as fast as transformers, and as ourselves without a cache
SHAPES: dict[str, tuple[float, float | None]] = {
    "shakespeare": (1.8, 5.0),
    "shakespeare-64": (3.0, None),
}


def run() -> Iterator[Row]:
    """Each shape on one thread and on two."""
    for name in SHAPES:
        with threads_set(1):
            ours, theirs = same_weights(RECIPES[name].gpt)
        for threads in (1, 2):
            yield from rows(name, ours, theirs, threads)


def rows(name: str, ours: GPT, theirs: GPT2LMHeadModel, threads: int) -> Iterator[Row]:
    """The three comparisons on that many threads."""
    beside_theirs, beside_uncached = SHAPES[name]
    on = f"{name}, {threads} thread{'s' * (threads > 1)}"
    with threads_set(threads):
        cached, uncached, other = in_turns(
            ROUNDS,
            lambda: write(ours, use_cache=True),
            lambda: write(ours, use_cache=False),
            lambda: write_theirs(theirs),
        )
        traced, plain = in_turns(READINGS, lambda: read(ours, []), lambda: read(ours, None))
    speed, slow, their_speed = ([NEW / s for s in taken] for taken in (cached, uncached, other))
    yield median_row(
        f"generate, {on}",
        speed,
        their_speed,
        unit="/s",
        target=beside_theirs,
        peer="transformers",
        more_is_better=True,
    )
    yield median_row(
        f"generate, {on}",
        speed,
        slow,
        unit="/s",
        target=beside_uncached,
        peer="no cache",
        more_is_better=True,
    )
    yield median_row(
        f"traced pass, {on}",
        [s * 1000 for s in traced],
        [s * 1000 for s in plain],
        unit="ms",
        target=2.0,
        peer="plain pass",
    )


def same_weights(shape: GPTConfig) -> tuple[GPT, GPT2LMHeadModel]:
    """Ours and transformers' GPT-2 of that shape, biases in both, with the same random weights."""
    transformers.logging.set_verbosity_error()
    torch.manual_seed(1)
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=shape.vocab_size,
            n_positions=NEW + 1,
            n_layer=shape.n_layer,
            n_head=shape.n_head,
            n_embd=shape.n_embd,
            bos_token_id=None,
            eos_token_id=None,
            initializer_range=0.2,  # spread wide, so that no two tokens are nearly equal
        )
    ).eval()
    config = replace(shape, block_size=NEW + 1, bias=True, dropout=0.0)
    ours = with_weights(config, gpt2_names(theirs.state_dict()), Path("the same weights"))
    tokens = {tuple(write(ours, use_cache=True)), tuple(write_theirs(theirs))}
    if len(tokens) != 1:
        raise RuntimeError("the two models write different tokens: nothing to compare")
    return ours, theirs


def write(gpt: GPT, *, use_cache: bool) -> list[int]:
    """255 tokens by our `generate`."""
    return [s.token for s in generate(gpt, PROMPT, NEW, temperature=0, use_cache=use_cache)]


def write_theirs(theirs: GPT2LMHeadModel) -> list[int]:
    """255 tokens by transformers' `generate`, which keeps a cache."""
    written = theirs.generate(
        PROMPT,
        attention_mask=torch.ones_like(PROMPT),
        max_new_tokens=NEW,
        do_sample=False,
        pad_token_id=0,
    )
    return written[0, 1:].tolist()


@torch.no_grad()
def read(gpt: GPT, trace: list | None) -> Tensor:
    """One pass over 96 tokens, recorded or not."""
    return gpt(torch.arange(READ)[None], trace=trace)


def in_turns(rounds: int, *tasks: Callable[[], object]) -> tuple[list[float], ...]:
    """Seconds of each task in each round, the first round left out."""
    seconds: tuple[list[float], ...] = tuple([] for _ in tasks)
    for n in range(rounds + 1):
        for task, taken in zip(tasks, seconds, strict=True):
            began = time.perf_counter()
            task()
            if n:
                taken.append(time.perf_counter() - began)
    return seconds


@contextmanager
def threads_set(threads: int) -> Iterator[None]:
    """PyTorch with that many threads, for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
