"""Attention the other way round: gradients beside finite differences and autograd's own sums,
losses beside torch's, goals reached from random beginnings."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from model import attend, causal_mask
from model.errors import ChoiceError, NotFiniteError, ProjectionError, RangeError
from model.inverse import (
    FLAT,
    LOSSES,
    MOST,
    RATE,
    REACHED,
    Descent,
    Goal,
    HiddenKeyError,
    How,
    OnlyKeyError,
    TooFastError,
    descend,
    difference,
    points,
    score,
    step,
)

GOAL = Goal(query=2, key=0, share=0.8)


def drawn(T: int, C: int, seed: int, std: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return std * torch.randn(T, C, generator=generator, dtype=torch.float64)


def hows(loss: str) -> dict[str, How]:
    w = [drawn(3, 2, seed) for seed in (7, 8, 9)]
    return {
        "plain": How(loss=loss),
        "not scaled": How(scale=False, loss=loss),
        "causal": How(mask=causal_mask(4), loss=loss),
        "with W": How(w_query=w[0], w_key=w[1], w_value=w[2], loss=loss),
    }


CASES = [(name, loss) for loss in LOSSES for name in hows(loss)]


# The losses


@pytest.mark.parametrize("share", [0.05, 0.5, 0.8])
def test_cross_entropy_is_torchs_kl_of_goal_and_weights(exact, share):
    x = drawn(4, 3, 1)
    trace = attend(x, x, x)
    w = trace.weights[2, 0]
    weights, target = (
        torch.stack([p, 1 - p]) for p in (w, torch.tensor(share, dtype=torch.float64))
    )
    expected = F.kl_div(weights.log(), target, reduction="sum")
    exact.close(score(trace, Goal(2, 0, share)), expected)


def test_squares_are_squares_of_the_distance(exact):
    x = drawn(4, 3, 1)
    trace = attend(x, x, x)
    expected = F.mse_loss(trace.weights[2, 0], torch.tensor(0.8, dtype=torch.float64))
    exact.close(score(trace, GOAL, "squares"), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_is_nothing_at_the_goal_and_something_elsewhere(loss):
    x = drawn(4, 3, 2)
    trace = attend(x, x, x)
    share = trace.weights[2, 0].item()
    assert score(trace, Goal(2, 0, share), loss).item() == pytest.approx(0, abs=1e-15)
    assert score(trace, Goal(2, 0, share + 0.01), loss).item() > 1e-5
    assert score(trace, Goal(2, 0, share - 0.01), loss).item() > 1e-5


def test_a_weight_that_rounds_to_nothing_still_has_a_loss():
    x = torch.tensor([[0.0], [40.0], [40.0]]).double()
    trace = attend(x, x, x, scale=False)  # scores 0, 1600, 1600: e^−1600 is 0 in floats
    assert trace.weights[2, 0] == 0
    expected = 0.8 * (math.log(0.8) + 1600 + math.log(2)) + 0.2 * math.log(0.2)
    assert score(trace, GOAL).item() == pytest.approx(expected)


def test_points_by_hand():
    assert points(0.8, GOAL) == 100
    assert points(0.0, GOAL) == pytest.approx(0)
    assert points(1.0, GOAL) == pytest.approx(75)  # 0.2 off, of at most 0.8
    assert points(1.0, Goal(0, 1, 0.1)) == pytest.approx(0)


# The gradient


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_the_gradient_is_the_finite_difference(name, loss):
    x, how = drawn(4, 3, 3), hows(loss)[name]
    gradient = step(x, GOAL, how=how).gradient
    assert gradient.abs().max() > 0.01
    for row in range(4):
        for column in range(3):
            slope = difference(x, GOAL, row, column, how).slope
            assert slope == pytest.approx(gradient[row, column].item(), rel=1e-3, abs=1e-8)


def test_a_finite_difference_is_made_of_its_two_losses():
    x = drawn(4, 3, 3)
    found = difference(x, GOAL, 2, 1)
    moved = x.clone()
    moved[2, 1] += found.h
    assert found.above == pytest.approx(score(attend(moved, moved, moved), GOAL).item(), rel=1e-12)
    assert found.slope == (found.above - found.below) / (2 * found.h)
    assert found.above != found.below


def test_the_gradient_of_the_scores_by_hand(exact):
    """w − t at the key; the others share the opposite as they share the rest of the weight."""
    x = drawn(4, 3, 4)
    here = step(x, GOAL)
    weights = here.trace.weights[2]
    expected = torch.zeros(4, 4).double()
    expected[2] = -(weights[0] - 0.8) * weights / (1 - weights[0])
    expected[2, 0] = weights[0] - 0.8
    exact.close(here.score_gradient, expected)
    exact.close(here.score_gradient.sum(), torch.tensor(0.0).double())


def test_the_gradient_of_squares_has_the_slope_of_softmax(exact):
    here = step(drawn(4, 3, 4), GOAL, how=How(loss="squares"))
    w = here.weight
    exact.close(here.score_gradient[2, 0].item(), 2 * (w - 0.8) * w * (1 - w))


def test_the_gradient_of_the_vectors_from_that_of_the_scores(exact):
    """Each vector is a query and a key: (G X + Gᵀ X) / √C."""
    x = drawn(4, 3, 5)
    here = step(x, GOAL)
    G = here.score_gradient
    exact.close(here.gradient, (G @ x + G.mT @ x) / 3**0.5)


def test_values_have_no_part_in_it(exact):
    x, other = drawn(4, 3, 6), How(w_value=drawn(3, 5, 6))
    exact.close(step(x, GOAL).gradient, step(x, GOAL, how=other).gradient)
    assert step(x, GOAL, how=other).trace.output.shape == (4, 5)


def test_hidden_tokens_stay_where_they_are():
    here = step(drawn(5, 3, 7), GOAL, how=How(mask=causal_mask(5)))
    assert (here.gradient[3:] == 0).all()
    assert (here.gradient[:3] != 0).all()


def test_a_step_is_sgds(exact):
    x = drawn(4, 3, 8)
    leaf = torch.nn.Parameter(x.clone())
    optimizer = torch.optim.SGD([leaf], lr=0.3)
    score(attend(leaf, leaf, leaf), GOAL).backward()
    optimizer.step()
    here = step(x, GOAL, 0.3)
    exact.close(here.after, leaf.detach())
    exact.close(here.vectors, x)


def test_a_step_leaves_what_it_was_given_alone():
    x = drawn(4, 3, 8)
    kept = x.clone()
    with torch.no_grad():  # as a page that computes everything without gradients
        step(x, GOAL)
    assert torch.equal(x, kept)
    assert not x.requires_grad


# Reaching the goal


def last(found) -> tuple[int, Descent]:
    steps = list(found)
    return len(steps), steps[-1]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("T", "C"), [(3, 2), (3, 3), (6, 3), (6, 16)])
def test_eighty_percent_is_reached_within_100_steps(seed, T, C):
    """From normal vectors, at the rate the page begins with, for any query and key."""
    generator = torch.Generator().manual_seed(100 + seed)
    query, key = torch.randint(T, (2,), generator=generator).tolist()
    x = drawn(T, C, seed)
    _, end = last(descend(x, Goal(query, key, 0.8), RATE, most=100))
    assert end.state == "reached"
    w = attend(end.vectors, end.vectors, end.vectors).weights  # computed once more, from the end
    assert abs(w[query, key].item() - 0.8) <= REACHED


@pytest.mark.parametrize("share", [0.05, 0.5])
@pytest.mark.parametrize("seed", range(10))
def test_other_shares_are_reached_too(share, seed):
    _, end = last(descend(drawn(6, 3, seed), Goal(4, 1, share)))
    assert end.state == "reached"


@pytest.mark.parametrize("seed", range(10))
def test_the_loss_falls_at_every_step(seed):
    steps = list(descend(drawn(6, 3, seed), Goal(4, 1, 0.8)))
    assert len(steps) > 1
    assert all(b.loss < a.loss for a, b in pairwise(steps))
    assert all(torch.equal(a.after, b.vectors) for a, b in pairwise(steps))


def test_under_a_mask_a_key_that_is_seen_is_reached():
    _, end = last(descend(drawn(5, 3, 9), GOAL, how=How(mask=causal_mask(5))))
    assert end.state == "reached"


# Where it ends before the goal


def test_vectors_of_nothing_are_flat_and_end_at_once():
    found = list(descend(torch.zeros(3, 2), GOAL))
    assert [d.state for d in found] == ["flat"]
    assert torch.equal(found[0].after, torch.zeros(3, 2).double())
    assert found[0].weight == pytest.approx(1 / 3)


SATURATED = torch.tensor([[1.0, 0.0], [4.0, 4.0], [5.0, 3.0]]).double()


def test_a_saturated_softmax_leaves_squares_no_gradient_and_cross_entropy_a_whole_one():
    squares = step(SATURATED, GOAL, how=How(scale=False, loss="squares"))
    assert squares.state == "flat"
    assert len(list(descend(SATURATED, GOAL, how=How(scale=False, loss="squares")))) == 1
    assert squares.weight < 1e-6
    assert squares.gradient.abs().max() < FLAT
    entropy = step(SATURATED, GOAL, how=How(scale=False))
    assert entropy.state == "moving"
    assert entropy.score_gradient[2, 0].item() == pytest.approx(-0.8)


def test_a_descent_ends_when_it_is_told_to():
    assert len(list(descend(drawn(6, 3, 1), Goal(4, 1, 0.8), 1e-5, most=7))) == 7
    steps, end = last(descend(drawn(3, 2, 1), GOAL, 1e-7))
    assert (steps, end.state) == (MOST, "moving")


# What is refused


def refused(error, says, *arguments, **options):
    with pytest.raises(error) as caught:
        step(*arguments, **options)
    for lang in ("en", "ko"):
        for wanted in says:
            assert wanted in caught.value.text(lang)


@pytest.mark.parametrize(
    ("goal", "error", "says"),
    [
        (Goal(0, 2, 0.8), HiddenKeyError, ["1", "3"]),  # tokens are counted from 1, as people do
        (Goal(0, 0, 0.8), OnlyKeyError, ["1", "100 %", "80 %"]),
        (Goal(3, 0, 0.8), RangeError, ["query", "3", "0 … 2"]),
        (Goal(1, -1, 0.8), RangeError, ["key", "-1", "0 … 2"]),
        (Goal(1, 0, 1.0), RangeError, ["share", "1.0"]),
        (Goal(1, 0, 0.0), RangeError, ["share", "0.0"]),
        (Goal(1, 0, math.nan), RangeError, ["share", "nan"]),
    ],
)
def test_a_goal_that_cannot_be_reached(goal, error, says):
    refused(error, says, drawn(3, 2, 1), goal, how=How(mask=causal_mask(3)))


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_a_rate_that_goes_nowhere(rate):
    refused(RangeError, ["rate", str(rate)], drawn(3, 2, 1), GOAL, rate)


def test_too_high_a_rate_a_single_token_and_a_loss_that_is_none():
    with pytest.raises(TooFastError) as caught:
        list(descend(drawn(3, 2, 1), GOAL, 1e300))
    assert all("1e+300" in caught.value.text(lang) for lang in ("en", "ko"))
    refused(OnlyKeyError, ["1", "80 %"], drawn(1, 2, 1), Goal(0, 0, 0.8))
    refused(ChoiceError, ["loss", "cubes"], drawn(3, 2, 1), GOAL, how=How(loss="cubes"))


def test_what_attention_refuses_is_refused():
    x = drawn(3, 2, 1)
    x[1, 1] = math.nan
    refused(NotFiniteError, ["nan"], x, GOAL)
    refused(ProjectionError, ["5", "2"], drawn(3, 2, 1), GOAL, how=How(w_query=drawn(5, 2, 1)))
