"""Writing quickly and writing plainly: the same logits, the same tokens, within the window and beyond."""

from __future__ import annotations

import pytest
import torch

from model import GPT, generate
from model.decoding import Decoder
from model.errors import TooLongError
from tests.model.small import small_gpt, with_theirs

IDS = [3, 1, 4, 1, 5, 9]


# The decoder beside the modules


@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("sizes", [{}, {"n_layer": 1, "n_head": 1}, {"n_head": 6, "n_embd": 24}])
def test_next_is_the_forward_pass_with_a_cache(exact, bias, sizes):
    gpt = small_gpt(bias=bias, **sizes)
    decoder, cache = Decoder(gpt), gpt.new_cache()
    exact.close(decoder.read(IDS[:2]), gpt(torch.tensor([IDS[:2]]), cache=cache)[0, -1])
    for n, token in enumerate(IDS[2:], start=3):
        logits = decoder.next(token)
        exact.close(logits, gpt(torch.tensor([[token]]), cache=cache)[0, -1])
        exact.close(logits, gpt(torch.tensor([IDS[:n]]))[0, -1])
        for ours, theirs in zip(decoder.cache, cache, strict=True):
            assert ours.length == theirs.length == n


def test_reading_again_forgets(exact):
    gpt = small_gpt()
    decoder = Decoder(gpt)
    decoder.read([7, 7, 7])
    decoder.next(7)
    exact.close(decoder.read(IDS), gpt(torch.tensor([IDS]))[0, -1])
    exact.close(decoder.next(2), gpt(torch.tensor([[*IDS, 2]]))[0, -1])


def test_nothing_is_kept_unless_asked(exact):
    gpt = small_gpt()
    decoder = Decoder(gpt)
    exact.close(decoder.read(IDS, keep=False), gpt(torch.tensor([IDS]))[0, -1])
    assert decoder.cache == []


def test_more_than_the_window_holds_is_refused():
    with pytest.raises(TooLongError) as caught:
        Decoder(small_gpt()).read([0] * 9)
    assert caught.value.values == {"length": 9, "block_size": 8}


# Writing


def written(gpt: GPT, ids: list[int], n: int, **options: object) -> tuple[list[int], torch.Tensor]:
    """Tokens, and the logits `(n, V)` they came from."""
    steps = list(generate(gpt, torch.tensor(ids), n, **options))
    return [step.token for step in steps], torch.stack([step.logits for step in steps])


def written_plainly(gpt: GPT, ids: list[int], n: int) -> tuple[list[int], torch.Tensor]:
    """The stated rule word for word, the whole window read for every token."""
    window, tokens, rows = list(ids), [], []
    size = gpt.config.block_size
    for _ in range(n):
        if len(window) > size:  # full: the earlier half is let go
            window = window[-max(1, size // 2) :]
        rows.append(gpt(torch.tensor([window]))[0, -1].detach())
        tokens.append(int(rows[-1].argmax()))
        window.append(tokens[-1])
    return tokens, torch.stack(rows)


@pytest.mark.parametrize("use_cache", [True, False], ids=["cache", "no cache"])
@pytest.mark.parametrize("block_size", [1, 2, 3, 8])
@pytest.mark.parametrize("prompt", [1, 7, 8, 9, 30])
def test_beyond_the_window_the_later_half_is_read_afresh(exact, prompt, block_size, use_cache):
    gpt = small_gpt(block_size=block_size)
    ids = torch.randint(gpt.config.vocab_size, (prompt,)).tolist()
    tokens, logits = written(gpt, ids, 25, temperature=0, use_cache=use_cache)
    expected, expected_logits = written_plainly(gpt, ids, 25)
    assert tokens == expected
    exact.close(logits, expected_logits)


@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("options", [{}, {"temperature": 0.8, "top_k": 5, "top_p": 0.9}])
def test_a_cache_changes_nothing(exact, bias, options):
    gpt = small_gpt(bias=bias)
    (with_tokens, with_logits), (without_tokens, without_logits) = (
        written(gpt, IDS, 30, use_cache=use, generator=torch.Generator().manual_seed(4), **options)
        for use in (True, False)
    )
    assert with_tokens == without_tokens
    exact.close(with_logits, without_logits)


@pytest.mark.parametrize("use_cache", [True, False], ids=["cache", "no cache"])
def test_greedy_is_transformers_generate(use_cache):
    ours, theirs = with_theirs(block_size=32, vocab_size=101)
    expected = theirs.generate(
        torch.tensor([IDS]), max_new_tokens=26, do_sample=False, pad_token_id=0
    )
    tokens, _ = written(ours, IDS, 26, temperature=0, use_cache=use_cache)
    assert IDS + tokens == expected[0].tolist()
    assert len(set(tokens)) > 5  # no loop of one token, which any fault might also give


@pytest.mark.parametrize("n", [0, 1, 2, 23])
def test_exactly_as_many_steps_as_asked(n):
    for use_cache in (True, False):
        assert len(list(generate(small_gpt(), torch.tensor(IDS), n, use_cache=use_cache))) == n


def test_a_row_and_a_batch_of_one_are_the_same_prompt():
    gpt = small_gpt()
    (flat,), (row,) = (generate(gpt, idx, 1) for idx in (torch.tensor(IDS), torch.tensor([IDS])))
    assert torch.equal(flat.logits, row.logits)


def test_the_prompt_is_left_as_it_was():
    idx = torch.tensor([IDS])
    list(generate(small_gpt(), idx, 9))
    assert idx.tolist() == [IDS]


@pytest.mark.parametrize("outside", [True, False])
def test_between_steps_gradients_are_as_the_caller_left_them(outside):
    """A `no_grad` held open across a `yield` would switch off the learning of whoever asks."""
    gpt = small_gpt()
    with torch.set_grad_enabled(outside):
        for step in generate(gpt, torch.tensor(IDS), 12):
            assert torch.is_grad_enabled() is outside
            assert not step.logits.requires_grad
    steps = generate(gpt, torch.tensor(IDS), 12)
    next(steps)
    gpt(torch.tensor([IDS])).sum().backward()
    assert gpt.wte.weight.grad is not None
    next(steps)


def test_two_writers_do_not_disturb_each_other():
    gpt = small_gpt()
    prompts = torch.tensor([[1, 2, 3]]), torch.tensor([[9, 8]])
    alone = [[s.token for s in generate(gpt, idx, 20, temperature=0)] for idx in prompts]
    together: tuple[list[int], list[int]] = ([], [])
    for both in zip(*(generate(gpt, idx, 20, temperature=0) for idx in prompts), strict=True):
        for tokens, step in zip(together, both, strict=True):
            tokens.append(step.token)
    assert list(together) == alone
