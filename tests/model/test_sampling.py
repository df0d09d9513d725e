"""The filters beside those of transformers; what is drawn; text that waits for its last byte."""

from __future__ import annotations

import re

import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from model import Tokenizer, generate, sampling
from model.errors import PromptError, RangeError
from model.sampling import (
    GenerationStep,
    SamplingConfig,
    TextStream,
    complete,
    heated,
    joined,
    keep_top_k,
    keep_top_p,
)
from model.tokenizer import train_merges
from tests.model.small import SHORT, small_gpt

V = 19
STAGES = ["probs", "probs_temperature", "probs_top_k", "probs_top_p"]


def drawn_logits(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(50, dtype=torch.float64, generator=generator)


def theirs(warper, logits: torch.Tensor) -> torch.Tensor:
    return warper(None, logits[None])[0]


# The filters


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("temperature", [0.1, 0.8, 1.0, 2.5])
def test_temperature_is_transformers(seed, temperature):
    logits = drawn_logits(seed)
    expected = theirs(TemperatureLogitsWarper(temperature), logits)
    torch.testing.assert_close(heated(logits, temperature), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [1, 3, 49, 50, 80])
def test_top_k_is_transformers(seed, k):
    logits = drawn_logits(seed)
    assert torch.equal(keep_top_k(logits, k), theirs(TopKLogitsWarper(k), logits))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9, 0.999, 1.0])
def test_top_p_is_transformers(seed, p):
    logits = drawn_logits(seed)
    assert torch.equal(keep_top_p(logits, p), theirs(TopPLogitsWarper(p), logits))


@pytest.mark.parametrize("seed", range(5))
def test_the_three_stages_are_transformers_in_this_order(seed):
    logits = drawn_logits(seed)
    step = GenerationStep(0, logits, SamplingConfig(temperature=1.7, top_k=12, top_p=0.8))
    expected = logits
    warpers = [None, TemperatureLogitsWarper(1.7), TopKLogitsWarper(12), TopPLogitsWarper(0.8)]
    for stage, warper in zip(STAGES, warpers, strict=True):
        expected = expected if warper is None else theirs(warper, expected)
        torch.testing.assert_close(
            getattr(step, stage), expected.softmax(dim=-1), atol=1e-12, rtol=0
        )


def test_equally_probable_tokens_are_cut_to_exactly_k():
    assert keep_top_k(torch.zeros(6), 2).isfinite().sum() == 2


def test_a_temperature_of_zero_leaves_the_highest_alone():
    step = GenerationStep(2, torch.tensor([1.0, 3.0, 3.5]), SamplingConfig(temperature=0))
    assert step.probs_temperature.tolist() == step.probs_top_p.tolist() == [0, 0, 1]
    assert 0 < step.probs[0] < 1


# The steps


@pytest.mark.parametrize("temperature", [0, 0.5, 1.3])
@pytest.mark.parametrize(("top_k", "top_p"), [(None, None), (4, None), (None, 0.6), (4, 0.6)])
def test_each_stage_is_a_distribution_with_the_token_in_it(temperature, top_k, top_p):
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    for step in generate(small_gpt(), torch.tensor([1, 2]), 5, **options, generator=seeded(3)):
        for stage in STAGES:
            probs = getattr(step, stage)
            assert probs.shape == (V,)
            torch.testing.assert_close(probs.sum().item(), 1.0, atol=1e-12, rtol=0)
            assert probs[step.token] > 0
        if top_k:
            assert (step.probs_top_k > 0).sum() <= top_k


def test_stages_are_computed_when_asked_for_and_once():
    (step,) = generate(small_gpt(), torch.tensor([1]), 1)
    assert vars(step).keys() == {"token", "logits", "config"}
    first = step.probs_top_k
    assert vars(step).keys() == {"token", "logits", "config", "probs_top_k"}
    assert step.probs_top_k is first


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tokens(seed: int, **options: object) -> list[int]:
    written = generate(small_gpt(), torch.tensor([[4, 2]]), 30, generator=seeded(seed), **options)
    return [step.token for step in written]


@pytest.mark.parametrize("options", [{}, {"temperature": 0.7, "top_k": 9, "top_p": 0.95}])
def test_a_seed_gives_its_own_tokens_again(options):
    assert tokens(5, **options) == tokens(5, **options)
    assert len({tuple(tokens(seed, **options)) for seed in range(10)}) == 10


def test_without_a_generator_the_global_seed_counts():
    def written() -> list[int]:
        torch.manual_seed(8)
        return [step.token for step in generate(small_gpt(), torch.tensor([1]), 20)]

    assert written() == written()


class KnownLogits:
    """In the place of the decoder: after token t the logits are `LOGITS` turned by t."""

    LOGITS = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0, -2.0])
    calls = 0

    def __init__(self, gpt: object) -> None: ...

    def read(self, ids: list[int], *, keep: bool = True) -> torch.Tensor:
        return self.next(ids[-1])

    def next(self, token: int) -> torch.Tensor:
        type(self).calls += 1
        return self.LOGITS.roll(token)


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(sampling, "Decoder", KnownLogits)
    monkeypatch.setattr(KnownLogits, "calls", 0)
    return small_gpt(vocab_size=6)


def test_each_token_is_drawn_from_the_logits_after_the_one_before(known):
    assert [s.token for s in generate(known, torch.tensor([4]), 5, temperature=0)] == [4] * 5
    for step, before in paired(generate(known, torch.tensor([4]), 50, generator=seeded(1)), 4):
        assert torch.equal(step.logits, KnownLogits.LOGITS.roll(before))


def paired(written, before: int):
    """Each step with the token before it."""
    for step in written:
        yield step, before
        before = step.token


@pytest.mark.parametrize(
    "options", [{}, {"temperature": 2.0}, {"temperature": 0.7, "top_k": 4}, {"top_p": 0.9}]
)
def test_draws_are_as_frequent_as_they_are_probable(known, options):
    """Pearson's χ² over 6 tokens: above 20.5 once in 1,000 fair runs."""
    draws, counts = 4000, torch.zeros(6)
    for step, before in paired(
        generate(known, torch.tensor([0]), draws, **options, generator=seeded(2)), 0
    ):
        counts[(step.token - before) % 6] += 1
    expected = draws * GenerationStep(0, KnownLogits.LOGITS, SamplingConfig(**options)).probs_top_p
    drawable = expected > 0
    assert counts[~drawable].sum() == 0
    assert ((counts - expected)[drawable].square() / expected[drawable]).sum() < 20.5


def test_asking_for_no_more_steps_stops_the_model(known):
    written = generate(known, torch.tensor([1]), 1000)
    assert KnownLogits.calls == 0
    next(written)
    next(written)
    assert KnownLogits.calls == 2


# What is refused


@pytest.mark.parametrize(
    ("option", "found"),
    [
        ("temperature", -0.1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("top_k", 0),
        ("top_k", -3),
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("top_p", float("nan")),
    ],
)
def test_a_filter_outside_its_range_is_refused_at_once(option, found):
    with pytest.raises(RangeError) as caught:
        generate(small_gpt(), torch.tensor([1]), 3, **{option: found})
    for lang in ("en", "ko"):
        assert option in caught.value.text(lang)
        assert f" {found};" in caught.value.text(lang) or f" {found}입니다" in caught.value.text(
            lang
        )


@pytest.mark.parametrize(
    ("idx", "says"),
    [
        (torch.zeros(0, dtype=torch.long), "(0,)"),
        (torch.zeros(1, 0, dtype=torch.long), "(1, 0)"),
        (torch.zeros(2, 3, dtype=torch.long), "(2, 3)"),
        (torch.zeros(1, 1, 3, dtype=torch.long), "(1, 1, 3)"),
        (torch.tensor(3), "()"),
        (torch.tensor([0, V]), "19"),
        (torch.tensor([-1, 4]), "-1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_prompt_that_cannot_be_read_is_refused_at_once(idx, says):
    with pytest.raises(PromptError) as caught:
        generate(small_gpt(), idx, 3)
    for lang in ("en", "ko"):
        assert re.search(rf"(?<!\d){re.escape(says)}(?!\d)", caught.value.text(lang))


# Text


TEXTS = ["한글", "a👋🏽b", "값이 좋습니다 — ça va?", "👩‍👩‍👧‍👦!", "plain"]


@pytest.mark.parametrize("text", TEXTS)
def test_no_half_character_is_shown(text):
    stream, shown = TextStream(Tokenizer.from_merges([])), ""
    for done, byte in enumerate(text.encode(), start=1):
        shown += stream.add(byte)
        whole = text.encode()[:done].decode(errors="ignore")
        assert shown == whole
    assert shown == text
    assert stream.end() == ""


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_that_cut_characters_come_together_again(text):
    learned = Tokenizer.from_merges(train_merges(SHORT.read_text(encoding="utf-8"), 400))
    assert joined(learned, learned.encode(text)) == text
    assert joined(learned, learned.encode(SHORT.read_text(encoding="utf-8"))) == SHORT.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("한".encode()[:2], "\ufffd"),
        (b"a\xffb", "a\ufffdb"),
        ("한".encode()[:1] + "글".encode(), "\ufffd글"),
    ],
)
def test_bytes_that_are_no_character_show_as_a_replacement(given, shown):
    assert joined(Tokenizer.from_merges([]), given) == shown


@pytest.mark.parametrize("prompt", ["", "오늘", "👋", "a" * 40])
def test_complete_begins_with_the_prompt_and_repeats_with_its_seed(prompt):
    gpt, tokenizer = small_gpt(vocab_size=256), Tokenizer.from_merges([])

    def text(seed: int) -> str:
        return complete(gpt, tokenizer, prompt, 12, seed=seed)

    assert text(1).startswith(prompt)
    assert text(1) == text(1) != text(2)
    after = generate(gpt, torch.tensor(list(prompt.encode() or b"\n")), 12, generator=seeded(1))
    assert text(1) == prompt + joined(tokenizer, [step.token for step in after])
