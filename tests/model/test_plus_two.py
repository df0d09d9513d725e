"""Document 3's "+2": what its recipe learns, what the mended one learns."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.errors import (
    ChoiceError,
    LiveDivergedError,
    NotFiniteError,
    PlaygroundError,
    RangeError,
    RankError,
)
from model.plus_two import (
    ADDED,
    LENGTH,
    PRINTED,
    RECIPES,
    NumberTranslator,
    PlusTwoRun,
    constant_loss,
    evenly_spaced,
    off,
    with_answers,
)

SEEDS = (1, 4, 7)  # station 13 holds what its experiments show on ten
DOWN = PRINTED.flip(-1)  # 50, 40, 30, 20, 10
UNSEEN = evenly_spaced(300, torch.Generator().manual_seed(999_999))


def trained(recipe: str, seed: int, steps: int, **options: float) -> PlusTwoRun:
    run = PlusTwoRun(recipe, seed, **options)
    while run.step < steps:
        run.advance()
    return run


def apart(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()


# What the recipes learn


@pytest.mark.parametrize("seed", SEEDS)
def test_as_printed_it_does_not_learn_plus_two(seed):
    """300 steps more than printed: three numbers by heart, the source unread."""
    run = trained("as_printed", seed, 800)
    assert RECIPES["as_printed"].steps - 1 == 500
    assert run.losses[-1] < constant_loss() / 2
    recited = run.free(PRINTED)
    assert apart(recited[:, :3], PRINTED[:, :3] + ADDED) < 3
    for src in (PRINTED + 1, DOWN):
        assert apart(run.free(src), recited) < 0.5
    assert off(run.free(DOWN), DOWN) > 15


@pytest.mark.parametrize("seed", SEEDS)
def test_mended_it_learns_plus_two(seed):
    """Sequences it never saw, also left to itself."""
    run = trained("mended", seed, RECIPES["mended"].steps)
    forced, free = off(run.forced(UNSEEN), UNSEEN), off(run.free(UNSEEN), UNSEEN)
    assert forced < 2  # an echo, nothing added, would be off by 2
    assert forced < free < 5
    assert UNSEEN.std() > 20  # small beside how far the numbers lie apart
    assert run.losses[0] > 100 > 10 > sum(run.losses[-50:]) / 50
    assert apart(run.free(DOWN), run.free(PRINTED)) > 25  # it reads the source
    assert max(off(run.free(src), src) for src in (PRINTED, DOWN)) < 7


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_drown_in_numbers_that_are_not_scaled(seed):
    louder = {}
    for recipe in RECIPES:
        run = PlusTwoRun(recipe, seed)
        place = run.model.positions.float()
        x = run.trace(PRINTED, torch.zeros(1, 1)).encoder[0].resid_pre[0]
        louder[recipe] = ((x - place).norm() / place.norm()).item()
    assert louder["as_printed"] > 50
    assert louder["mended"] < 8


# A training is the same training each time


def test_same_seed_same_curve_another_seed_another():
    before = torch.get_rng_state()
    for recipe in RECIPES:
        curve = trained(recipe, 3, 5).losses
        torch.rand(7)
        assert trained(recipe, 3, 5).losses == curve
        assert trained(recipe, 4, 5).losses[0] != curve[0]
        assert trained(recipe, 3, 5, learning_rate=0.01).losses[1] != curve[1]
    torch.set_rng_state(before)


def test_nobody_elses_random_numbers_are_touched():
    before = torch.get_rng_state()
    for recipe in RECIPES:
        run = trained(recipe, 1, 2)
        run.free(PRINTED)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_restored_run_goes_on_as_the_first_did(recipe):
    run = trained(recipe, 5, 4)
    state, answers = run.state(), run.forced(PRINTED)
    later = [run.advance() for _ in range(4)]
    fresh = PlusTwoRun(recipe, 5).state()
    run.restore(fresh)  # to the very beginning
    assert [run.advance() for _ in range(4)] == list(state.losses)
    run.restore(state)
    assert run.step == 4
    assert torch.equal(run.forced(PRINTED), answers)
    other = PlusTwoRun(recipe, 5)
    other.restore(state)
    for again in (run, other):  # neither changed what the state holds
        assert [again.advance() for _ in range(4)] == later
        assert again.losses == [*state.losses, *later]


def test_asking_changes_no_training():
    asked, alone = PlusTwoRun("as_printed", 2), PlusTwoRun("as_printed", 2)
    for _ in range(3):
        asked.free(DOWN)
        asked.trace(PRINTED, torch.zeros(1, 1))
        assert asked.advance() == alone.advance()
    assert torch.equal(asked.forced(DOWN), asked.forced(DOWN))  # no dropout in an answer


def test_one_step_is_adams():
    """The first step by hand: each weight moves by the rate against its gradient's sign."""
    run = PlusTwoRun("mended", 1, learning_rate=0.01)
    before = [p.detach().clone() for p in run.model.parameters()]
    loss = run.advance()
    for p, old in zip(run.model.parameters(), before, strict=True):
        # Kingma & Ba, algorithm 1, at t = 1: m / (√v + ε) = g / (|g| + ε)
        expected = old - 0.01 * p.grad / (p.grad.abs() + 1e-8)
        torch.testing.assert_close(p.detach(), expected, atol=1e-6, rtol=0)
    src = evenly_spaced(16, torch.Generator().manual_seed(100_001))
    fresh = PlusTwoRun("mended", 1).forced(src)
    assert loss == pytest.approx((fresh - src - ADDED).square().mean().item(), rel=1e-4)


# What goes in and what comes out


def test_the_decoder_reads_the_answers_one_place_behind():
    tgt, target = with_answers(PRINTED)
    assert tgt.tolist() == [[0, 12, 22, 32, 42]]  # document 3's own lines
    assert target.tolist() == [[12, 22, 32, 42, 52]]


def test_free_running_feeds_each_answer_back():
    run = trained("mended", 1, 3)
    free = run.free(UNSEEN[:4])
    fed = F.pad(free[:, :-1], (1, 0))
    torch.testing.assert_close(run.answers(UNSEEN[:4], fed), free, atol=1e-4, rtol=0)
    assert torch.equal(free[:, 0], run.answers(UNSEEN[:4], torch.zeros(4, 1))[:, 0])


def test_the_trace_holds_all_three_attentions():
    run = PlusTwoRun("mended", 1)
    found = run.trace(UNSEEN[:2], with_answers(UNSEEN[:2])[0][:, :3])
    assert len(found.encoder) == len(found.decoder) == 2
    for encoder, decoder in zip(found.encoder, found.decoder, strict=True):
        for attention, shape in (
            (encoder.attn, (2, 2, LENGTH, LENGTH)),
            (decoder.attn, (2, 2, 3, 3)),
            (decoder.cross, (2, 2, 3, LENGTH)),
        ):
            weights = attention.heads.weights
            assert weights.shape == shape
            torch.testing.assert_close(weights.sum(-1), torch.ones(shape[:-1]))
    answers = run.model.head(found.output)[..., 0] * run.recipe.scale
    expected = run.forced(UNSEEN[:2])[:, :3]
    torch.testing.assert_close(answers, expected, atol=1e-4, rtol=0)


def test_positions_tell_equal_numbers_apart():
    run = PlusTwoRun("mended", 1)
    same = torch.full((1, LENGTH), 20.0)
    assert run.trace(same, torch.zeros(1, 1)).memory[0].std(0).max() > 0.01


def test_weights_are_drawn_as_pytorch_draws_them():
    ours = NumberTranslator(0.0, torch.Generator().manual_seed(1))
    theirs = nn.Transformer(16, 2, 2, 2, 32, batch_first=True)
    pairs = [
        (ours.stacks.encoder[0].attn.c_attn, theirs.encoder.layers[0].self_attn.in_proj_weight),
        (ours.stacks.decoder[1].cross.c_proj, theirs.decoder.layers[1].self_attn.out_proj.weight),
        (ours.stacks.decoder[0].mlp.c_fc, theirs.decoder.layers[0].linear1.weight),
    ]
    for linear, weight in pairs:
        bound = math.sqrt(6 / sum(weight.shape))  # Glorot & Bengio 2010, equation 16
        for drawn in (linear.weight, weight):
            assert 0.95 * bound < drawn.abs().max() <= bound
            assert drawn.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.15)
    assert (ours.stacks.decoder[0].cross.c_attn.bias == 0).all()
    assert 0.15 < ours.stacks.encoder[0].mlp.c_fc.bias.abs().max() <= 0.25  # 1/√16
    assert 0.5 < ours.embed.weight.abs().max() <= 1
    assert (ours.stacks.ln_f.weight == 1).all()


def test_the_measures_are_those_of_torch():
    answers = evenly_spaced(7, torch.Generator().manual_seed(1))
    src = evenly_spaced(7, torch.Generator().manual_seed(2))
    assert off(answers, src) == pytest.approx(F.mse_loss(answers, src + 2).item() ** 0.5)
    always = torch.full_like(PRINTED, 32.0)
    assert constant_loss() == F.mse_loss(always, PRINTED + ADDED).item()


def test_in_float64_it_answers_the_same():
    run = trained("mended", 1, 3)
    answers = run.free(UNSEEN[:4])
    run.model.double()
    exact = run.free(UNSEEN[:4].double())
    assert exact.dtype == torch.float64
    torch.testing.assert_close(exact.float(), answers, atol=1e-3, rtol=0)


# Bad input


@pytest.mark.parametrize(
    ("ask", "raised", "named"),
    [
        (lambda: PlusTwoRun("mend", 1), ChoiceError, "as_printed | mended"),
        (lambda: PlusTwoRun("mended", -1), RangeError, "-1"),
        (lambda: PlusTwoRun("mended", 1, 0.0), RangeError, "0.0"),
        (lambda: PlusTwoRun("mended", 1, math.nan), RangeError, "nan"),
        (lambda: PlusTwoRun("mended", 1).forced(PRINTED[0]), RankError, "src"),
        (lambda: PlusTwoRun("mended", 1).free(PRINTED[:, :4]), RangeError, "4"),
        (lambda: PlusTwoRun("mended", 1).trace(PRINTED, torch.zeros(1, 6)), RangeError, "6"),
        (lambda: PlusTwoRun("mended", 1).forced(PRINTED / 0), NotFiniteError, "inf"),
    ],
)
def test_what_cannot_be_asked_is_said_in_both_languages(ask, raised, named):
    with pytest.raises(PlaygroundError) as told:
        ask()
    assert type(told.value) is raised
    assert named in str(told.value)
    assert named in told.value.text("ko")


def test_a_loss_that_is_no_number_stops_the_run_and_costs_nothing():
    run = trained("mended", 1, 2)
    with torch.no_grad():
        run.model.head.bias.fill_(math.inf)
    state = run.state()
    with pytest.raises(LiveDivergedError, match=r"step 3; the learning rate 0\.002 "):
        run.advance()
    assert run.losses == list(state.losses)
    assert torch.equal(run.state().weights, state.weights)
