"""Bytes beside PyTorch's profiler, growth from length to length, and that each route really runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from model import measuring
from model.errors import ChoiceError, SizeError
from model.measuring import LENGTHS, ROUTES, WINDOW, Allocations, Measurement, measure, upcoming
from model.steps import score_bytes

HEAD_SIZE = 8


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """One timed run: the figures in seconds are not looked at."""
    monkeypatch.setattr(measuring, "REPEATS", 1)


def inputs(T, n_head=1, head_size=HEAD_SIZE):
    """Bytes of q, k and v."""
    return 3 * n_head * T * head_size * 4


def profiled(route, T, n_head=1):
    """The most bytes at once that PyTorch's profiler sees a route take."""
    qkv = measuring.drawn(T, n_head, HEAD_SIZE)
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        kept = ROUTES[route](*qkv)
    now = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    del kept
    return peak


@pytest.mark.parametrize("route", ["traced", "window", "linear"])
@pytest.mark.parametrize(("T", "n_head"), [(64, 1), (200, 3)])
def test_the_peak_is_what_the_profiler_sees(route, T, n_head):
    found = measure(T, n_head, HEAD_SIZE, route)
    assert found.peak == inputs(T, n_head) + profiled(route, T, n_head)


def test_what_the_fused_kernel_hides_is_a_constant():
    """Its tiles, of the same size at any length that fills them."""
    hidden = [
        inputs(T) + profiled("fused", T) - measure(T, 1, HEAD_SIZE, "fused").peak
        for T in (1024, 2048)
    ]
    assert hidden[0] == hidden[1]
    assert 0 < hidden[0] < score_bytes(512, 4)


@pytest.mark.parametrize("n_head", [1, 3])
@pytest.mark.parametrize("T", [64, 130])
def test_the_traced_route_keeps_three_matrices_of_all_pairs(T, n_head):
    """Scores, scaled, weights; without a mask or dropout `masked` and `dropped` are those."""
    output = inputs(T, n_head) // 3
    kept = measure(T, n_head, HEAD_SIZE, "traced").kept
    assert kept == inputs(T, n_head) + output + 3 * n_head * score_bytes(T, 4)


@pytest.mark.parametrize("route", ["fused", "window"])
def test_a_fast_route_keeps_its_output_only(route):
    assert measure(100, 2, HEAD_SIZE, route).kept == inputs(100, 2) * 4 // 3


def test_growth_from_one_length_to_the_next():
    found = {(r, T): measure(T, 1, HEAD_SIZE, r) for r in ROUTES for T in (512, 1024)}
    for route in ("fused", "window", "linear"):
        short, long = found[route, 512], found[route, 1024]
        assert long.kept <= 2 * short.kept
        assert long.peak <= 2 * short.peak
    pairs = [found["traced", T].kept - inputs(T) * 4 // 3 for T in (512, 1024)]
    assert pairs[1] == 4 * pairs[0]


@pytest.mark.parametrize(
    ("route", "function"),
    [
        ("traced", "attend"),
        ("fused", "attend_fast"),
        ("window", "attend_window"),
        ("linear", "attend_linear"),
    ],
)
def test_measuring_runs_the_route(monkeypatch, route, function):
    """Once for the bytes, then `REPEATS` times, on tensors of the sizes asked for."""
    shapes, real = [], getattr(measuring, function)

    def spy(q, k, v, *args, **options):
        shapes.append(tuple(q.shape))
        return real(q, k, v, *args, **options)

    monkeypatch.setattr(measuring, function, spy)
    monkeypatch.setattr(measuring, "REPEATS", 2)
    found = measure(70, 2, HEAD_SIZE, route)
    assert shapes == [(1, 2, 70, HEAD_SIZE)] * 3
    assert found.spent > found.seconds > 0


def test_a_slow_run_is_not_repeated(monkeypatch):
    runs = []
    monkeypatch.setattr(measuring, "REPEATS", 5)
    monkeypatch.setattr(measuring, "SECONDS", 0.0)
    measuring.best_time(lambda: runs.append(1))
    assert runs == [1]


def test_measuring_leaves_the_global_randomness_alone():
    before = torch.get_rng_state()
    measure(64, 1, HEAD_SIZE, "traced")
    assert torch.equal(torch.get_rng_state(), before)


def test_what_cannot_be_measured_is_refused():
    for sizes in ((0, 1, 4), (4, 0, 4), (4, 1, 0)):
        with pytest.raises(SizeError):
            measure(*sizes, "traced")
    with pytest.raises(ChoiceError, match="warp"):
        measure(4, 1, 4, "warp")


# Following memory


def test_memory_is_followed_until_the_last_view_of_it_goes():
    given = torch.ones(10)
    with Allocations(given) as seen:
        large = torch.ones(1000)
        view = large[:5]
        del large
        assert sum(seen.alive.values()) == 40 + 4000
        del view
        torch.ones(100).add_(1)
    assert sum(seen.alive.values()) == 40
    assert seen.peak == 4040


# What comes next


def made(T, route, spent):
    return Measurement(T, route, 0.1, 0, 0, spent)


def test_all_routes_and_lengths_come_in_order():
    done, order = [], []
    while following := upcoming(done, ("traced", "fused"), 100):
        order.append(following)
        done.append(made(*following, 0.1))
    assert order == [(T, route) for T in LENGTHS for route in ("traced", "fused")]


def test_beyond_the_cap_a_length_is_finished_but_none_begun():
    done = [made(64, "traced", 3.0)]
    assert upcoming(done, ("traced", "fused"), 2) == (64, "fused")
    assert upcoming([*done, made(64, "fused", 0)], ("traced", "fused"), 2) is None
    slow = [replace(m, spent=0.5) for m in (*done, made(64, "fused", 0))]
    assert upcoming(slow, ("traced", "fused"), 2) == (128, "traced")


def test_the_lengths_double_and_the_window_fits_the_shortest():
    assert all(longer == 2 * T for T, longer in pairwise(LENGTHS))
    assert LENGTHS[-1] == 4096
    assert LENGTHS[0] >= WINDOW
