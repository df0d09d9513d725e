"""Each verdict of "Check the notes" says what the numbers computed for it say."""

from __future__ import annotations

import importlib
import re
import string
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import tiktoken
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from lessons.answers import grade
from lessons.course import CONTENT, Asked, read_station
from lessons.questions import made, verdict
from lessons.words import LANGUAGES, Words
from model import Block
from model.plus_two import RECIPES
from model.steps import gradient_step

STATION = "17_check_the_notes"
CACHE = Path(__file__).parents[2].parent / "shared" / "data" / "tiktoken_cache"
CLAIMS = {
    asked.quiz_id.split("/")[1]: asked
    for asked in read_station(CONTENT / STATION).questions
    if asked.claim
}
TRUE = {  # the claims that hold as they stand; all others are refuted, or need a condition
    "stream_shape", "fused_qkv", "flash_identical", "order_blind",
    "second_context_vector", "dropout_doubles", "naive_softmax",
}  # fmt: skip


def module(name: str) -> ModuleType:
    """One of the station's own; its folder begins with a digit, so `import` cannot."""
    return importlib.import_module(f"lessons.content.{STATION}.{name}")


def numbers(text: object) -> list[float]:
    """The numbers in a text with true minus signs.

    >>> numbers("−0.5, 1,024")
    [-0.5, 1024.0]
    """
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", str(text).replace("−", "-"))
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", plain)]


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def computed(name: str) -> Mapping[str, object]:
    return CLAIMS[name].compute()


def number(name: str, blank: str) -> float:
    """The only number in one blank of a claim."""
    (found,) = numbers(computed(name)[blank])
    return found


def size(said: object) -> float:
    """A difference as verdicts write it.

    >>> size("2 × 10⁻⁷")
    2e-07
    """
    digit, _, power = str(said).partition(" × 10")
    return float(f"{digit}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')) or 0}")


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """GPT-2's tokenizer is nowhere: no file, and every download is refused."""
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    asked_for = module("document_2").asked_for
    asked_for.cache_clear()
    yield
    asked_for.cache_clear()


# All claims alike


@pytest.mark.parametrize("asked", CLAIMS.values(), ids=CLAIMS)
def test_every_blank_of_a_verdict_is_filled_in_both_languages(asked: Asked):
    found = asked.compute()
    for lang in LANGUAGES:
        assert blanks(getattr(asked.verdict, lang)) == set(found)  # nothing computed in vain
        said = verdict(made(asked, 1), lang)
        assert "{" not in said
        assert "}" not in said
        for value in found.values():
            assert (value(lang) if isinstance(value, Words) else str(value)) in said


@pytest.mark.parametrize("asked", CLAIMS.values(), ids=CLAIMS)
def test_an_answer_is_met_by_its_reason_and_the_verdict(asked: Asked):
    question = made(asked, 1)
    for choice in asked.choices:
        graded = grade(question, choice.value, "en")
        assert graded.correct == choice.right
        assert choice.why.en in graded.feedback
        assert verdict(question, "en") in graded.feedback


def test_not_every_claim_is_false():
    said = {name: CLAIMS[name].verdict.en for name in CLAIMS}
    held = {name for name, text in said.items() if re.search(r"\bclaim holds\b", text)}
    assert held == TRUE


def test_nobody_elses_random_numbers_are_touched():
    before = torch.get_rng_state()
    for name in CLAIMS:
        computed(name)
    assert torch.equal(before, torch.get_rng_state())


def test_two_visitors_at_once_share_one_training(monkeypatch):
    plus_two = module("plus_two")
    recipe = replace(RECIPES["as_printed"], steps=20)
    monkeypatch.setitem(RECIPES, "as_printed", recipe)
    alone = plus_two.trained("as_printed", 1).losses
    together = module("said").once(lambda: plus_two.trained("as_printed", 1))
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(lambda _: together(), range(4))
    assert first.losses == alone
    assert all(other is first for other in others)


# Document 1


def test_three_voices():
    found = computed("three_voices")
    v = torch.tensor([[10.0, 10], [100, 100], [5, 5]])
    assert numbers(found["scores"]) == (v @ v[0]).tolist() == [200, 2000, 100]
    assert numbers(found["weights"]) == torch.softmax(v @ v[0], -1).tolist() == [0, 1, 0]
    assert numbers(found["scaled"]) == [0, 1, 0]


def test_high_scores_raise_nothing():
    found = computed("high_scores_raise")
    assert found["grown"] == 0
    assert numbers(found["after"]) == [1, 80, 0.5]
    assert number("high_scores_raise", "sum") == 81.5


def test_the_original_is_still_there():
    assert number("original_gone", "heard") == 81.5
    assert number("original_gone", "own") == 1
    assert number("original_gone", "stream") == 91.5


def test_all_four_heads_read_all_inputs():
    assert computed("four_sixteens") == {"heads": 4, "sliced": 1, "matrix": "64 × 16"}


def test_backward_changes_no_weight():
    assert number("backward_changes", "backward") == 0
    assert number("backward_changes", "gradient") > number("backward_changes", "step") > 0


def test_the_step_is_that_of_sgd():
    weight = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    weight.square().sum().backward()
    expected = gradient_step(weight.detach().clone(), weight.grad, 0.1)
    optimizer.step()
    torch.testing.assert_close(weight.detach(), expected)


def test_the_stream_keeps_batch_time_and_width():
    found = computed("stream_shape")
    assert found["shape"] == "4, 8, 64"
    assert found["one"] == "1, 8, 64"
    assert found["blocks"] >= 1


# Document 2


def test_third_row():
    found = computed("third_row")
    right = torch.softmax(torch.tensor([0.7, 1.8, 2.2]), -1)
    assert numbers(found["row"]) == [0.118, 0.354, 0.528]
    assert numbers(found["row"]) == [round(w, 3) for w in right.tolist()]
    assert numbers(found["rounded"]) == [0.1, 0.4, 0.5] != [0.1, 0.3, 0.6]
    assert number("third_row", "off") == pytest.approx(0.6 - 0.528, abs=1e-9)


def test_the_other_printed_rows_are_right():
    scores = module("document_2").SCORES
    printed = {0: [1.0], 1: [0.2, 0.8], 3: [0.1, 0.2, 0.3, 0.4]}
    for i, row in printed.items():
        assert [round(w, 1) for w in torch.softmax(scores[i, : i + 1], -1).tolist()] == row


def test_the_first_token_sees_itself_alone():
    found = computed("first_token_ahead")
    assert numbers(found["top"]) == [1, 0, 0]
    assert numbers(found["future"]) == [0]
    assert (found["ahead"], found["printed"]) == (6, 15)


def test_romeo_without_gpt2_is_told():
    found = computed("romeo")
    assert "not on this computer" in found["gpt2"].en
    assert "없어" in found["gpt2"].ko
    assert found["korean"].en.count("|") > found["shakespeare"].en.count("|") == 0


def test_romeo_is_two_tokens_of_gpt2(monkeypatch):
    if not CACHE.is_dir():
        pytest.skip("GPT-2's files are not beside the repository")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(CACHE))
    said = computed("romeo")["gpt2"]
    for lang in LANGUAGES:
        assert "ROM | EO" in said(lang)
        assert numbers(said(lang))[1:] == [2]  # the first number is the 2 of GPT-2


def test_a_slow_network_keeps_nobody_waiting(monkeypatch):
    document_2 = module("document_2")
    monkeypatch.setattr(document_2, "WAIT", 0.01)
    monkeypatch.setattr(document_2, "asked_for", document_2.Future)  # one that never answers
    assert document_2.gpt2() is None


def test_dot_of_three():
    assert numbers(computed("dot_of_three")["products"]) == [0.02, 0.15, 0.02]
    assert number("dot_of_three", "dot") == 0.19
    assert number("dot_of_three", "missing") == 0.18


def test_no_two_tokens_look_at_each_other():
    found = computed("both_ways")
    assert found["both"] == 0
    assert found["pairs"] > 100
    assert number("both_ways", "forward") == 0 < number("both_ways", "back") <= 1


def test_the_word_itself_is_not_asked():
    assert number("query_of_the_word", "moved") == 0 < number("query_of_the_word", "later")
    assert computed("query_of_the_word")["asked"] == "에"


def test_the_hook_collects_nothing():
    found = computed("hook")
    assert found["collected"] == 0
    assert found["error"].startswith("IndexError")


def test_twice_the_length():
    assert number("twice_the_length", "scores") == 4
    assert number("twice_the_length", "block") == 2.2
    assert number("twice_the_length", "share") == 10
    assert 3.8 < number("twice_the_length", "long") < 4


@pytest.mark.parametrize("T", [512, 1024])
def test_the_multiplications_are_those_of_a_block(T):
    with torch.device("meta"):  # counted, not run
        block, x = Block(768, 12), torch.empty(1, T, 768)
    with FlopCounterMode(display=False) as counted:
        block(x)
    assert counted.get_total_flops() == 2 * module("document_2").block_cost(T)  # one × and one +


def test_memory_of_scores():
    found = computed("memory_of_scores")
    assert numbers(found["sizes"]) == [4, 64, 1024]
    assert number("memory_of_scores", "gpt2") == 4 * 144
    assert number("memory_of_scores", "long") == 144


def test_fnet_weighs_nothing_by_content():
    assert size(computed("fnet")["fnet"]) < 1e-12
    assert number("fnet", "attention") > 0.1


@pytest.mark.parametrize(
    ("name", "blank", "bound"),
    [
        ("fused_qkv", "difference", 1e-4),
        ("flash_identical", "double", 1e-12),
        ("flash_identical", "single", 1e-4),
        ("random_init", "difference", 1e-12),
        ("renormalised", "difference", 1e-12),
        ("fnet", "fnet", 1e-12),
        ("order_blind", "bare", 1e-12),
    ],
)
def test_differences_of_rounding(name, blank, bound):
    assert 0 <= size(computed(name)[blank]) < bound


def test_fused_and_separate_weigh_the_same():
    found = computed("fused_qkv")
    assert found["fused"] == found["separate"]


# Document 3


def test_scores_to_88():
    found = computed("scores_to_88")
    scores = torch.tensor([5.0, 95, 12]).double()
    assert numbers(found["weights"]) == [0, 1, 0]
    assert numbers(found["scaled"]) == [round(w, 5) for w in (scores / 8).softmax(-1).tolist()]
    divisors = numbers(found["divisors"])
    assert max(divisors) > 2 * min(divisors)


def test_the_recipe_does_not_learn_plus_two():
    found = computed("plus_two_learns")
    assert found["epochs"] == 500
    assert number("plus_two_learns", "loss") > number("plus_two_learns", "constant") == 200
    assert number("plus_two_learns", "first") > 2 * number("plus_two_learns", "loss")
    answer = torch.tensor(numbers(found["answer"]))
    assert answer[1:].max() - answer[1:].min() < 1  # four of the five are alike
    assert (answer - torch.tensor([12.0, 22, 32, 42, 52])).abs().max() > 20


def test_the_recipe_ignores_its_input():
    found = computed("plus_two_listens")
    up, other, down = (torch.tensor(numbers(found[name])) for name in ("up", "other", "down"))
    assert (up - other).abs().max() < 0.5
    assert (up - down).abs().max() < 0.5


def test_left_to_itself_the_mended_recipe_errs_more():
    found = computed("plus_two_alone")
    forced, free = number("plus_two_alone", "forced"), number("plus_two_alone", "free")
    assert forced < 3 < computed("plus_two_learns")["epochs"]
    assert free > 1.3 * forced
    assert numbers(found["example_forced"])[0] == numbers(found["example_free"])[0]  # same start


def test_untrained_heads_are_nearly_even():
    assert number("untrained_88", "median") == 0.35
    assert number("untrained_88", "most") < 0.88
    assert computed("untrained_88")["reached"] == 0


def test_fresh_layers_are_drawn_as_linear_draws_them():
    document_3 = module("document_3")
    weight, bias = document_3.linear(64, 32, torch.Generator().manual_seed(0))
    theirs = nn.Linear(64, 32).requires_grad_(False)
    for ours, other in ((weight, theirs.weight), (bias, theirs.bias)):
        assert ours.abs().max() <= 0.125  # 1/√64
        assert other.abs().max() <= 0.125
        assert ours.std().item() == pytest.approx(other.std().item(), rel=0.4)


def test_six_simple_blocks_forget():
    one, of = numbers(computed("six_blocks")["simple"])
    assert one == 1
    assert of > 10_000
    assert number("six_blocks", "whole") > 0.5


def test_order_needs_positions_or_a_mask():
    assert size(computed("order_blind")["bare"]) < 1e-12
    assert min(number("order_blind", "placed"), number("order_blind", "causal")) > 0.1


# Document 4


def test_second_context_vector():
    found = computed("second_context_vector")
    assert numbers(found["plain"]) == [0.4419, 0.6515, 0.5683]
    assert number("second_context_vector", "off") < 0.0001
    assert numbers(found["scaled"]) != numbers(found["plain"])


def test_the_two_classes_differ_in_shape():
    assert (number("random_init", "wrapper"), number("random_init", "fused")) == (4, 2)


def test_renormalising_fails_only_at_extremes():
    assert computed("renormalised")["detour"] == "NaN, NaN"
    assert numbers(computed("renormalised")["straight"]) == [1, 0]


def test_dropout_divides_by_what_is_kept():
    assert (number("dropout_doubles", "half"), number("dropout_doubles", "fifth")) == (2, 1.25)
    assert number("dropout_doubles", "least") < 1 < number("dropout_doubles", "most")


def test_naive_softmax():
    found = computed("naive_softmax")
    assert found["power"] == "∞"
    assert found["naive"] == "0.0, NaN, 0.0"
    assert numbers(found["safe"]) == [0, 1, 0]
