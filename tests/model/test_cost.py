"""The counts beside PyTorch's own counter, and the bytes beside real tensors."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import GPT2Config

from model import Block, GPTConfig, load_checkpoint
from model.cost import (
    GPT2_SIZES,
    all_score_bytes,
    block_work,
    cache_bytes,
    even_length,
    known_sizes,
)
from model.errors import SizeError
from model.gpt import ModelTrace
from tests.model.small import small_gpt


def counted(block: Block, T: int) -> int:
    """Multiply–adds that PyTorch counts in one pass, every step of attention computed."""
    width = block.ln_1.normalized_shape[0]
    with torch.no_grad(), FlopCounterMode(display=False) as flops:
        block(torch.randn(1, T, width), trace=[])
    return flops.get_total_flops() // 2  # it counts a multiply–add as two


@pytest.mark.parametrize(
    ("T", "n_embd", "n_head", "hidden"),
    [(1, 4, 1, None), (7, 12, 3, None), (50, 64, 4, None), (9, 12, 2, 20), (128, 32, 8, 64)],
)
def test_the_work_of_a_block_is_what_pytorch_counts(T, n_embd, n_head, hidden):
    block = Block(n_embd, n_head, hidden=hidden)
    assert block_work(T, n_embd, hidden).total == counted(block, T)


def test_the_work_of_a_block_by_hand():
    work = block_work(3, 2)  # T = 3, C = 2, H = 8
    assert (work.qkv, work.out, work.feed_forward) == (36, 12, 96)
    assert (work.scores, work.mixing) == (18, 18)
    assert (work.per_token, work.per_pair, work.total) == (144, 36, 180)


@pytest.mark.parametrize("T", [1, 100, 2048])
def test_twice_the_length_doubles_one_half_and_quadruples_the_other(T):
    once, twice = block_work(T, 64), block_work(2 * T, 64)
    assert twice.per_token == 2 * once.per_token
    assert twice.per_pair == 4 * once.per_pair


def test_the_notes_four_times_is_two_point_two():
    short, long = block_work(512, 768), block_work(1024, 768)
    assert long.scores / short.scores == 4
    assert long.total / short.total == 2.2


@pytest.mark.parametrize(("n_embd", "hidden"), [(768, None), (64, None), (12, 20)])
def test_at_the_even_length_the_halves_weigh_the_same(n_embd, hidden):
    T = even_length(n_embd, hidden)
    work = block_work(T, n_embd, hidden)
    assert work.per_token == work.per_pair
    shorter = block_work(T - 1, n_embd, hidden)
    assert shorter.per_token > shorter.per_pair


@pytest.mark.parametrize("sizes", [(0, 4, None), (3, 0, None), (3, 4, 0)])
def test_sizes_below_one_are_refused(sizes):
    with pytest.raises(SizeError, match="is 0; it must be at least 1"):
        block_work(*sizes)


def test_bytes_of_a_model_are_those_of_its_tensors():
    gpt, trace = small_gpt(dtype=torch.float32), list[ModelTrace]()
    gpt(torch.tensor([[1, 2, 3, 4, 5]]), trace=trace)
    heads = [block.attn.heads for block in trace[0].blocks]
    assert all_score_bytes(gpt.config, 5) == sum(h.scores.nbytes for h in heads)
    assert cache_bytes(gpt.config, 5) == sum(h.k.nbytes + h.v.nbytes for h in heads)
    assert cache_bytes(gpt.config, 5, 2) * 2 == cache_bytes(gpt.config, 5)


@pytest.mark.parametrize("name", ["shakespeare", "shakespeare-64", "korean"])
def test_the_shipped_sizes_are_those_of_the_models(name):
    assert known_sizes()[name] == load_checkpoint(name).gpt.config


def test_gpt2_is_the_hubs_gpt2():
    theirs = GPT2Config()  # its defaults are the smallest size
    assert GPT2_SIZES["gpt2"] == GPTConfig(
        vocab_size=theirs.vocab_size,
        block_size=theirs.n_positions,
        n_layer=theirs.n_layer,
        n_head=theirs.n_head,
        n_embd=theirs.n_embd,
    )


@pytest.mark.parametrize(
    ("name", "millions"),  # as the hub lists them; the paper's own table forgot some
    [("gpt2", 124), ("gpt2-medium", 355), ("gpt2-large", 774), ("gpt2-xl", 1558)],
)
def test_the_gpt2_sizes_have_their_known_parameters(name, millions):
    c = GPT2_SIZES[name]
    block = 12 * c.n_embd**2 + 13 * c.n_embd  # weights, and biases and LayerNorms
    embeddings = (c.vocab_size + c.block_size) * c.n_embd
    assert round((c.n_layer * block + embeddings + 2 * c.n_embd) / 1e6) == millions
    assert c.n_embd // c.n_head == 64
