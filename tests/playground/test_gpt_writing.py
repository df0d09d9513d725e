"""Writing in the GPT tab, beside `generate` itself: the same windows, probabilities and draws."""

from __future__ import annotations

import pytest
import torch

from model.sampling import generate, prompt_ids
from playground import input_errors as errors
from playground import models
from playground.gpt import text
from playground.gpt.state import MAX_WRITTEN, GptState
from tests.playground.test_gpt_actions import SMALL, all_written, do, put, refused
from tests.playground.test_gpt_state import THERE


@pytest.mark.parametrize("name", THERE)
@pytest.mark.parametrize("prompt", ["", "ROMEO:\n", "오늘 날씨 좋다\n", "word " * 180])
def test_probabilities_are_those_that_generate_saw(name, prompt):
    """Every written token, also beyond block_size, also after a prompt that is longer than it."""
    checkpoint = models.checkpoint(name)
    gpt, count = checkpoint.gpt, 30 if prompt else checkpoint.gpt.config.block_size + 70
    ids = prompt_ids(checkpoint.tokenizer, prompt)
    seed = torch.Generator().manual_seed(4)
    steps = list(generate(gpt, torch.tensor(ids), count, generator=seed))
    state = GptState(model=name, prompt=prompt, written=[step.token for step in steps][:MAX_WRITTEN])  # fmt: skip
    found = text.of(state)
    assert found.shape == (count + 1, gpt.config.vocab_size)
    expected = torch.stack([step.probs for step in steps])
    torch.testing.assert_close(found[:-1].softmax(-1), expected, atol=1e-4, rtol=0)


def test_both_borders_of_the_window_were_crossed_above():
    for name in THERE:
        checkpoint = models.checkpoint(name)
        assert len(checkpoint.tokenizer.encode("word " * 180)) > checkpoint.gpt.config.block_size


@pytest.mark.parametrize("block_size", [1, 2, 3, 7, 8])
def test_windows_are_those_of_a_plain_loop(block_size):
    """What `generate` holds at each token, written down one at a time."""
    for prompt in range(1, 20):
        total = prompt + 25
        seen, start = [], 0
        for at in range(prompt, total):
            if at - start > block_size:
                start = at - max(1, block_size // 2)
            seen.append((start, at))
        found = [
            (start, at)
            for start, first, end in text.windows(prompt, total, block_size)
            for at in range(first, end)
        ]
        assert found == seen


def test_the_text_never_reads_more_than_the_model_can():
    for prompt in range(1, 20):
        for start, _, end in text.windows(prompt, 60, 8):
            assert 1 <= end - 1 - start <= 8


def test_writing_in_chunks_is_writing_all_at_once():
    state = put(SMALL, "count", "20")
    chunks = all_written(state)
    assert len(chunks.written) == 20
    single = state
    for _ in range(20):
        single = single.but(written=[*single.written, text.next_token(single)])
    assert chunks.written == single.written
    assert all_written(state) == chunks  # a seed repeats
    assert do(state, "write").left == 17  # the page is painted before the rest
    assert all_written(put(state, "seed", "2")).written != chunks.written


def test_writing_in_two_goes_is_writing_in_one():
    whole = all_written(SMALL.but(count=14)).written
    first = all_written(SMALL.but(count=5))
    assert all_written(first.but(count=9)).written == whole


@pytest.mark.parametrize("settings", [{"temperature": 0.0}, {"top_k": 1}, {"top_p": 0.01}, {"temperature": 1e-300}])  # fmt: skip
def test_the_narrowest_settings_write_the_most_probable_token(settings):
    state = all_written(SMALL.but(count=12, **settings))
    logits = text.of(state)
    assert state.written == logits[:-1].argmax(-1).tolist()


def test_a_token_is_drawn_with_its_probability():
    """Over many seeds the first token comes as often as it should: within four deviations."""
    state = SMALL.but(temperature=1.3, top_k=5)
    probs = text.sampling(state)
    expected = (text.of(state)[-1] / probs.temperature).topk(5)
    p = expected.values.softmax(-1)
    draws = [text.next_token(state.but(seed=seed)) for seed in range(600)]
    assert set(draws) <= set(expected.indices.tolist())
    for i, share in zip(expected.indices.tolist(), p.tolist(), strict=True):
        assert abs(draws.count(i) - 600 * share) < 4 * (600 * share * (1 - share)) ** 0.5 + 1


def test_stop_and_clear():
    writing = do(SMALL, "write")
    stopped = do(writing, "stop")
    assert stopped == writing.but(left=0)
    assert do(stopped, "more") == stopped
    assert do(do(stopped, "pick", at=1), "clear") == SMALL


def test_there_is_room_for_so_many_tokens():
    nearly = SMALL.but(written=[5] * (MAX_WRITTEN - 2), count=40)
    full = do(nearly, "write")
    assert (len(full.written), full.left) == (MAX_WRITTEN, 0)
    assert do(full.but(left=7), "more").left == 0
    error = refused(errors.TooManyError, full, {"do": "write"})
    assert error.values["most"] == MAX_WRITTEN
    refused(errors.ActionError, full, {"do": "choose", "at": MAX_WRITTEN, "id": 1})
