"""Each mistake against its own wrong computation, in wrong_attentions.py and wrong_steps.py."""

from __future__ import annotations

import inspect
from itertools import combinations

import pytest
import torch

from model import AttentionTrace, attend, causal_mask, draw_keep, multi_head, steps
from model.mistakes import MISTAKES, in_every_head, names
from tests.model.wrong_attentions import (
    BETWEEN_HEADS,
    D_MODEL,
    DROPOUT,
    GIVEN,
    HIDDEN,
    HS,
    IN_ONE_ATTENTION,
    KEEP,
    N_HEAD,
    W_KEY,
    W_OUT,
    W_QUERY,
    W_VALUE,
    K,
    Q,
    T,
    V,
    hide,
    rest,
    softmax,
    split,
)
from tests.model.wrong_steps import LOGITS, RIGHT, WRONG

IN_ATTENTION = (*names("attend"), *names("multi_head"))
IN_A_STEP = tuple(name for name in MISTAKES if name not in IN_ATTENTION)


def steps_of(trace):
    """All steps in order, by name; `output` of the heads comes before `concat` and `output`."""
    if isinstance(trace, AttentionTrace):
        return {name: getattr(trace, name) for name in AttentionTrace.AXES}
    heads = {("heads.output" if n == "output" else n): s for n, s in steps_of(trace.heads).items()}
    return heads | {"concat": trace.concat, "output": trace.output}


def options_of(name):
    """The keywords under which the mistake shows."""
    if name == "scale_by_d_model":
        return {"d_model": D_MODEL}
    return {"dropout": DROPOUT, "keep": KEEP} if name.startswith("dropout") else {}


def run(name, mask=None, **options):
    spoiled = MISTAKES[name]
    return spoiled(*((Q, K, V) if spoiled.spoils == "attend" else GIVEN), mask, **options)


def run_right(name, mask=None, **options):
    options.pop("d_model", None)
    if MISTAKES[name].spoils == "attend":
        return attend(Q, K, V, mask, **options)
    return multi_head(*GIVEN, mask, **options)


def close(actual, expected):
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=0, equal_nan=True)


def same(actual, expected):
    return torch.equal(actual.nan_to_num(nan=1e99), expected.nan_to_num(nan=1e99))


def test_every_mistake_is_tested():
    assert len(MISTAKES) >= 10
    assert {n for n, m in MISTAKES.items() if m.spoils == "attend"} == set(IN_ONE_ATTENTION)
    assert {n for n, m in MISTAKES.items() if m.spoils == "multi_head"} == set(BETWEEN_HEADS)
    assert {spoiled: names(spoiled) for spoiled in RIGHT} == {s: tuple(WRONG[s]) for s in RIGHT}
    assert len(IN_A_STEP) == sum(map(len, WRONG.values()))
    assert all(name == spoiled.name for name, spoiled in MISTAKES.items())


@pytest.mark.parametrize("name", IN_ATTENTION)
def test_a_mistake_is_the_wrong_attention_it_says(name):
    step, output = (IN_ONE_ATTENTION | BETWEEN_HEADS)[name]()
    steps = steps_of(run(name, causal_mask(T), **options_of(name)))
    close(steps[MISTAKES[name].step], step)
    close(steps["output"], output)


@pytest.mark.parametrize("name", IN_ATTENTION)
def test_a_mistake_shows_exactly_from_its_step_on(name):
    wrong = steps_of(run(name, causal_mask(T), **options_of(name)))
    right = steps_of(run_right(name, causal_mask(T), **options_of(name)))
    order = list(right)
    first = order.index(MISTAKES[name].step)
    for before in order[:first]:
        assert same(wrong[before], right[before]), before
    spoiled = order[first]
    assert not torch.isclose(wrong[spoiled], right[spoiled], atol=1e-3, equal_nan=True).all()
    assert not torch.isclose(wrong["output"], right["output"], atol=1e-3).all()


@pytest.mark.parametrize("name", IN_ATTENTION)
def test_after_its_step_a_mistake_goes_on_rightly(name):
    """Under other settings too: the later steps follow from the spoiled one by the formula."""
    if name in BETWEEN_HEADS:
        trace = run(name, None, scale=False)
        if name != "no_output_projection":
            close(trace.output, trace.concat @ W_OUT)
        heads, v, hidden, keep = trace.heads, trace.heads.v, None, None
    else:
        options = {"dropout": DROPOUT, "keep": KEEP} | options_of(name)
        heads, v, hidden, keep = run(name, causal_mask(T), **options), V, HIDDEN, KEEP
    order = list(AttentionTrace.AXES)
    step = MISTAKES[name].step
    done = order.index(step) if name in IN_ONE_ATTENTION else 2
    if done < order.index("scaled"):
        close(heads.scaled, heads.scores if hidden is None else heads.scores / 2)
    if done < order.index("masked"):
        close(heads.masked, heads.scaled if hidden is None else hide(heads.scaled))
    if done < order.index("weights"):
        close(heads.weights, softmax(heads.masked))
    if done < order.index("dropped"):
        close(heads.dropped, heads.weights if keep is None else heads.weights * keep / 0.8)
    close(heads.output, rest(heads.dropped, v))


# Where a mistake cannot show, it gives the right numbers


def unspoiled(name, mask=None, **options):
    wrong, right = steps_of(run(name, mask, **options)), steps_of(run_right(name, mask, **options))
    for step in right:
        assert same(wrong[step], right[step]), step


@pytest.mark.parametrize("name", [name for name in IN_ATTENTION if "mask" in name])
def test_without_a_mask_no_mistake_about_masks(name):
    unspoiled(name)


@pytest.mark.parametrize("name", [name for name in IN_ATTENTION if "dropout" in name])
def test_without_dropout_no_mistake_about_dropout(name):
    unspoiled(name, causal_mask(T))


def test_dividing_by_p_does_not_show_at_one_half():
    unspoiled("dropout_divides_by_p", causal_mask(T), dropout=0.5, keep=KEEP)


def test_scaling_by_the_width_does_not_show_in_a_single_head():
    unspoiled("scale_by_d_model", causal_mask(T), d_model=HS)


def test_forgetting_the_scale_does_not_show_where_there_is_none():
    unspoiled("no_scale", causal_mask(T), scale=False)


def test_nan_where_a_row_has_nothing_left():
    """`attend` refuses a fully masked row; these two mistakes show what it would give."""
    first = MISTAKES["mask_diagonal"](Q, K, V, causal_mask(T))
    assert first.weights[:, 0].isnan().all()
    assert not first.weights[:, 1:].isnan().any()
    last = MISTAKES["mask_inverted"](Q, K, V, causal_mask(T))
    assert last.weights[:, -1].isnan().all()
    assert not last.weights[:, :-1].isnan().any()


# The same mistake in every head of a multi-head attention


@pytest.mark.parametrize("name", IN_ONE_ATTENTION)
def test_a_mistake_in_every_head_is_the_mistake_in_each(name):
    keep = draw_keep((2, N_HEAD, T, T), DROPOUT, torch.Generator().manual_seed(6))
    options = options_of(name) | ({"keep": keep} if name.startswith("dropout") else {})
    trace = in_every_head(MISTAKES[name], *GIVEN, causal_mask(T), **options)
    outputs = []
    for h in range(N_HEAD):
        q, k, v = (split(w)[:, h] for w in (W_QUERY, W_KEY, W_VALUE))
        own = options | ({"keep": keep[:, h]} if "keep" in options else {})
        outputs.append(MISTAKES[name](q, k, v, causal_mask(T), **own).output)
    close(trace.concat, torch.cat(outputs, dim=-1))
    close(trace.output, torch.cat(outputs, dim=-1) @ W_OUT)


# Mistakes in the small steps


def numbers(result):
    return torch.as_tensor(result, dtype=torch.float64)


def test_every_small_step_has_two_mistakes():
    written = inspect.getmembers(
        steps, lambda m: inspect.isfunction(m) and m.__module__ == steps.__name__
    )
    assert {name for name, _ in written} == set(RIGHT)
    assert all(len(names(step)) >= 2 for step in RIGHT)


@pytest.mark.parametrize("step", RIGHT)
def test_without_a_mistake_a_step_gives_the_right_numbers(step):
    given, expected = RIGHT[step]
    torch.testing.assert_close(
        numbers(getattr(steps, step)(*given)), numbers(expected), atol=1e-5, rtol=0
    )


@pytest.mark.parametrize("name", IN_A_STEP)
def test_a_mistake_in_a_step_is_the_wrong_number_it_says(name):
    step = MISTAKES[name].spoils
    given, _ = RIGHT[step]
    torch.testing.assert_close(
        numbers(MISTAKES[name](*given)), numbers(WRONG[step][name]), atol=1e-5, rtol=0
    )


@pytest.mark.parametrize("step", RIGHT)
def test_right_and_wrong_numbers_can_be_told_apart(step):
    """Somewhere in the result any two are further apart than rounding to two decimals."""
    given, _ = RIGHT[step]
    right = getattr(steps, step)(*given)
    made = {"right": right} | {name: MISTAKES[name](*given) for name in names(step)}
    for one, other in combinations(made, 2):
        first, second = numbers(made[one]), numbers(made[other])
        assert first.shape == second.shape == numbers(right).shape
        assert (first - second).abs().max() > 0.02, (one, other)


@pytest.mark.parametrize("name", IN_A_STEP)
def test_a_mistake_takes_what_its_step_takes(name):
    def taken(function):
        return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]

    spoiled = MISTAKES[name]
    assert taken(spoiled.function) == taken(getattr(steps, spoiled.spoils))
    assert spoiled.step in ("", *spoiled.function.__code__.co_varnames)
    assert spoiled.function.__doc__.endswith(".")
    assert "\n" not in spoiled.function.__doc__


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("dot_ignores_signs", (Q[0].abs(), Q[0].abs())),
        ("norm_keeps_mean", (torch.tensor([[1.0, -1.0]]),)),
        ("norm_by_variance", (torch.tensor([[1.0, -1.0]]),)),
        ("position_forgotten", (Q, 0 * Q)),
        ("temperature_multiplied", (LOGITS, 1.0)),
        ("temperature_after_softmax", (LOGITS, 1.0)),
        ("temperature_ignored", (LOGITS, 1.0)),
        ("top_k_not_renormalised", (LOGITS, 4)),
        ("top_k_off_by_one", (LOGITS, 4)),
        ("top_k_filled_with_zero", (LOGITS, 4)),
        ("top_p_as_threshold", (LOGITS, 0.35)),
        ("top_p_not_renormalised", (LOGITS, 1.0)),
        ("loss_summed", (LOGITS[None], torch.tensor([2]))),
        ("loss_of_the_largest", (LOGITS[None], torch.tensor([0]))),
        ("step_without_rate", (Q, K, 1.0)),
        ("bias_per_input", (8, 8)),
        ("parameters_per_head_times_n", (12, 1)),
        ("parameters_of_slices", (12, 1)),
        ("cost_of_the_visible", (1, 4)),
        ("cache_of_one_layer", (1, 12, 6, 4)),
        ("one_byte_a_character", ("cat",)),
        ("two_bytes_a_hangul", ("cat",)),
    ],
)
def test_where_a_mistake_cannot_show_the_number_is_right(name, given):
    right = getattr(steps, MISTAKES[name].spoils)(*given)
    torch.testing.assert_close(numbers(MISTAKES[name](*given)), numbers(right), atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["top_p_drops_crossing", "top_p_as_threshold"])
def test_the_most_probable_token_is_always_kept(name):
    p = {"top_p_drops_crossing": 0.2, "top_p_as_threshold": 0.9}[name]
    assert MISTAKES[name](LOGITS, p).tolist() == [1, 0, 0, 0]
