"""The held-out loss against a plain loop that scores one token at a time."""

from __future__ import annotations

import math

import pytest
import torch

from model import GPT, GPTConfig, Tokenizer
from model.evaluation import HeldOutLoss, held_out_loss, overlapping
from model.tokenizer import train_merges
from tests.model.small import SHORT, small_gpt

ENGLISH = SHORT.read_text(encoding="utf-8")
KOREAN = "오늘은 날씨가 좋아요. 🙂 산책하고 싶어요.\n"
V = 270


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_merges(train_merges(ENGLISH + KOREAN * 5, V))


def plain_loss(gpt: GPT, tokenizer: Tokenizer, text: str) -> float:
    """Nats of each token in turn, from its window: moved on by half when it is full."""
    ids = tokenizer.encode("\n") + tokenizer.encode(text)
    n = len(ids) - 1
    end = T = min(gpt.config.block_size, n)
    nats = 0.0
    for at in range(n):
        if at == end:
            end = min(end + max(1, T // 2), n)
        context = torch.tensor([ids[end - T : at + 1]])
        with torch.no_grad():
            probs = gpt(context)[0, -1].softmax(dim=-1)
        nats -= math.log(probs[ids[at + 1]].item())
    return nats


@pytest.mark.parametrize("text", [ENGLISH[:200], KOREAN * 3, "short", "a", "\n\n"])
@pytest.mark.parametrize("block_size", [1, 2, 5, 8])
def test_loss_is_that_of_one_token_at_a_time(tokenizer, text, block_size):
    gpt = small_gpt(vocab_size=V, block_size=block_size)
    loss = held_out_loss(gpt, tokenizer, text)
    assert loss.nats == pytest.approx(plain_loss(gpt, tokenizer, text), abs=1e-8)
    assert loss.tokens == len(tokenizer.encode(text))


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_batches_do_not_matter(tokenizer, batch_size):
    gpt = small_gpt(vocab_size=V)
    loss = held_out_loss(gpt, tokenizer, ENGLISH, batch_size=batch_size)
    assert loss.nats == pytest.approx(held_out_loss(gpt, tokenizer, ENGLISH).nats, abs=1e-8)


def test_a_model_of_equal_chances_is_surprised_by_ln_v():
    """Bytes as tokens and no weights: ln 256 a byte, three times that a Korean syllable."""
    gpt = GPT(GPTConfig(256, 8, n_layer=1, n_head=1, n_embd=4))
    with torch.no_grad():
        for p in gpt.parameters():
            p.zero_()
    loss = held_out_loss(gpt, Tokenizer.from_merges([]), "한글" * 10)
    assert (loss.tokens, loss.characters, loss.bytes) == (60, 20, 60)
    assert loss.per_byte == pytest.approx(math.log(256), abs=1e-5)
    assert loss.per_character == pytest.approx(3 * math.log(256), abs=1e-5)


def test_units():
    loss = HeldOutLoss(nats=6.0, tokens=2, characters=3, bytes=4)
    assert (loss.per_character, loss.per_byte) == (2.0, 1.5)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("T", [1, 2, 3, 8])
def test_windows_count_every_place_once_with_half_a_window_before_it(n, T):
    T = min(T, n)
    counted = []
    for start, seen in overlapping(n, T):
        assert 0 <= start <= n - T
        places = range(start + seen, start + T)
        if start:
            assert seen >= T // 2
        counted += places
    assert counted == list(range(n))
