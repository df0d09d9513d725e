"""The small computations beside PyTorch's own, transformers', or numbers worked out by hand."""

from __future__ import annotations

import math
import statistics

import pytest
import torch
from torch import nn
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper
from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings

from model import Block, MultiHeadAttention, Tokenizer, attend, causal_mask, steps
from model.errors import HeadsError
from model.gpt import ModelTrace, next_token_loss
from tests.model.small import small_gpt

V = 12


def n_numbers(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


# From two vectors to weights


def test_dot_is_pytorchs(precision):
    q, k = precision.normal(2, 5, 7), precision.normal(2, 5, 7)
    precision.close(steps.dot(q, k), torch.linalg.vecdot(q, k))


def test_dot_of_the_notes_three_numbers():
    q, k = torch.tensor([[0.1, 0.5, -0.2], [0.2, 0.3, -0.1]]).double()
    assert steps.dot(q, k).item() == pytest.approx(0.19)


def test_softmax_by_exponentials():
    scores = [2.0, 0.5, -1.0]
    total = math.exp(2) + math.exp(0.5) + math.exp(-1)
    shares = [math.exp(score) / total for score in scores]
    assert steps.softmax(torch.tensor(scores).double()).tolist() == pytest.approx(shares)


def test_softmax_of_large_scores_is_finite():
    assert steps.softmax(torch.tensor([1000.0, 1000.0, -1000.0])).tolist() == [0.5, 0.5, 0]


def test_the_slope_of_softmax_is_autograds(exact):
    scores = exact.normal(6)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    exact.close(steps.softmax_slope(scores), jacobian.diagonal())


# Inside a block


def test_layer_norm_is_pytorchs(precision):
    x = 3 * precision.normal(2, 4, 12) + 1
    theirs = nn.LayerNorm(12, dtype=precision.dtype)
    precision.close(steps.layer_norm(x), theirs(x))


def test_layer_norm_by_the_standard_deviation():
    x = [1.0, 2.0, 6.0, -3.0]
    expected = [(number - 1.5) / statistics.pstdev(x) for number in x]
    assert steps.layer_norm(torch.tensor(x).double()).tolist() == pytest.approx(expected, abs=1e-5)


def test_the_residual_adds_what_was_there():
    assert steps.residual(torch.tensor([10.0]), torch.tensor([81.5])).tolist() == [91.5]


def test_two_pre_norms_are_a_block(exact):
    """A new block's LayerNorms have the weights 1 and the biases 0."""
    block, x = Block(12, 3).to(exact.dtype), exact.normal(2, 5, 12)
    middle = steps.pre_norm(x, block.attn)
    exact.close(steps.pre_norm(middle, block.mlp), block(x, causal=False))


# Positions


def test_embed_is_what_the_first_block_reads():
    gpt, trace = small_gpt(), list[ModelTrace]()
    gpt(torch.tensor([[4, 2, 4]]), trace=trace)
    rows = steps.embed(gpt.wte.weight[[4, 2, 4]], gpt.wpe.weight[:3])
    torch.testing.assert_close(rows, trace[0].embedded[0], atol=0, rtol=0)


@pytest.mark.parametrize("width", [2, 6, 64])
def test_sinusoids_are_transformers(width):
    theirs = create_sinusoidal_embeddings(50, width, torch.zeros(50, width))
    ours = torch.stack([steps.sinusoid(position, width) for position in range(50)])
    torch.testing.assert_close(ours.float(), theirs, atol=1e-6, rtol=0)
    assert ours.dtype == torch.float64


def test_a_sinusoid_by_hand():
    row = [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)]
    assert steps.sinusoid(3, 4).tolist() == pytest.approx(row)


# Choosing the next token


@pytest.mark.parametrize(
    ("step", "setting", "warper"),
    [
        *((steps.temperature, t, TemperatureLogitsWarper) for t in (0.3, 1.0, 2.5)),
        *((steps.top_k, k, TopKLogitsWarper) for k in (1, 3, V, V + 5)),
        *((steps.top_p, p, TopPLogitsWarper) for p in (0.1, 0.6, 0.95, 1.0)),
    ],
)
def test_filters_are_transformers(exact, step, setting, warper):
    logits = 2 * exact.normal(V)
    theirs = warper(setting)(None, logits[None])[0].softmax(-1)
    exact.close(step(logits, setting), theirs)


def test_a_temperature_of_zero_leaves_one():
    assert steps.temperature(torch.tensor([1.0, 3.0, 2.0]), 0).tolist() == [0, 1, 0]


def test_top_p_keeps_the_token_that_crosses():
    probs = steps.top_p(torch.tensor([0.4, 0.3, 0.2, 0.1]).double().log(), 0.8)
    assert probs.tolist() == pytest.approx([4 / 9, 3 / 9, 2 / 9, 0])


# Learning


def test_cross_entropy_is_the_loss_of_training(exact):
    logits, targets = exact.normal(2, 5, V), torch.randint(V, (2, 5))
    exact.close(steps.cross_entropy(logits, targets), next_token_loss(logits, targets))


def test_cross_entropy_by_hand():
    logits = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]).double().log()
    expected = -(math.log(0.25) + math.log(0.8)) / 2
    assert steps.cross_entropy(logits, torch.tensor([1, 1])).item() == pytest.approx(expected)
    alone = steps.cross_entropy(logits[0], torch.tensor(1))
    assert alone.item() == pytest.approx(math.log(4))


def test_a_gradient_step_is_sgds(exact):
    weight, gradient = exact.normal(3, 4), exact.normal(3, 4)
    stepped = nn.Parameter(weight.clone())
    stepped.grad = gradient
    torch.optim.SGD([stepped], lr=0.3).step()
    exact.close(steps.gradient_step(weight, gradient, 0.3), stepped.detach())


# Counting


@pytest.mark.parametrize("T", [1, 2, 7, 64])
def test_visible_pairs_are_what_the_mask_leaves(T):
    assert steps.visible_pairs(T) == causal_mask(T).sum()


@pytest.mark.parametrize(("d_in", "d_out"), [(1, 1), (3, 5), (64, 256)])
def test_the_parameters_of_a_linear_are_pytorchs(d_in, d_out):
    assert steps.linear_parameters(d_in, d_out) == n_numbers(nn.Linear(d_in, d_out))


@pytest.mark.parametrize(("n_embd", "n_head"), [(64, 1), (64, 4), (12, 3), (768, 12)])
def test_the_parameters_of_attention_are_pytorchs_and_ours(n_embd, n_head):
    count = steps.attention_parameters(n_embd, n_head)
    assert count == n_numbers(MultiHeadAttention(n_embd, n_head))
    assert count == n_numbers(nn.MultiheadAttention(n_embd, n_head))
    assert count == 4 * n_embd**2 + 4 * n_embd


def test_heads_that_do_not_divide_the_width():
    with pytest.raises(HeadsError, match=r"64.* 5 "):
        steps.attention_parameters(64, 5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_bytes_of_scores_are_those_of_the_tensor(dtype):
    q = torch.ones(30, 4, dtype=dtype)
    assert steps.score_bytes(30, dtype.itemsize) == attend(q, q, q).scores.nbytes


def test_the_notes_megabytes():
    mebibytes = [steps.score_bytes(T, 4) / 2**20 for T in (1024, 4096, 16384)]
    assert mebibytes == [4, 64, 1024]


def test_the_bytes_of_a_cache_are_those_of_all_keys_and_values():
    gpt, trace = small_gpt(), list[ModelTrace]()
    gpt(torch.tensor([[1, 2, 3, 4, 5]]), trace=trace)
    heads = [block.attn.heads for block in trace[0].blocks]
    expected = sum(h.k.nbytes + h.v.nbytes for h in heads)
    assert steps.kv_cache_bytes(gpt.config.n_layer, gpt.config.n_embd, 5, 8) == expected


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("", 0), ("cat", 3), ("한", 3), ("고양이 cat", 13), ("é", 2), ("🙂", 4)]
)
def test_the_bytes_of_a_text_are_the_tokens_before_any_merge(text, n_bytes):
    assert steps.utf8_bytes(text) == n_bytes
    assert len(Tokenizer.from_merges([]).encode(text)) == n_bytes
