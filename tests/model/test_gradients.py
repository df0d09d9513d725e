"""Finite differences: polynomials by hand, and every weight of a small GPT and of small blocks."""

from __future__ import annotations

import itertools

import pytest
import torch

from model import GPT, GPTConfig
from model.block import Block
from model.errors import RangeError
from model.gpt import next_token_loss
from model.gradients import finite_difference

RELATIVE = 1e-3
# A key's bias adds the same to a whole row of scores, which softmax does not see: its gradient
# is 0, and the difference of two losses of about 2 is rounding, up to 2⁻⁵² · 2 / 1e-5 ≈ 4e-11
ABSOLUTE = 1e-10


def disagreeing(loss, parameters) -> list[str]:
    """Weights whose two gradients differ by more than rounding and 1e-3 of them."""
    parameters = dict(parameters)
    gradients = torch.autograd.grad(loss(), parameters.values())
    wrong = []
    for (name, p), gradient in zip(parameters.items(), gradients, strict=True):
        for index in itertools.product(*map(range, p.shape)):
            ours, theirs = finite_difference(loss, p, index), gradient[index].item()
            if abs(ours - theirs) > ABSOLUTE + RELATIVE * abs(theirs):
                wrong.append(f"{name}{list(index)}: {ours} ≠ {theirs}")
    return wrong


@pytest.mark.parametrize(
    "switches",
    [{}, {"causal": False}, {"positions": False}, {"n_head": 1, "n_layer": 1}, {"bias": False}],
    ids=str,
)
def test_every_weight_of_a_gpt(switches):
    sizes = {"vocab_size": 5, "block_size": 4, "n_layer": 2, "n_head": 2, "n_embd": 4}
    gpt = GPT(GPTConfig(**sizes | switches), torch.Generator().manual_seed(1), std=0.4).double()
    idx = torch.randint(5, (3, 4), generator=torch.Generator().manual_seed(2))
    learned = [(name, p) for name, p in gpt.named_parameters() if p.requires_grad]
    assert len(learned) >= 12
    assert disagreeing(lambda: next_token_loss(gpt(idx), idx.roll(-1, dims=1)), learned) == []


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_every_weight_of_a_block(activation, norm, residual):
    generator = torch.Generator().manual_seed(3)
    block = Block(4, 2, activation=activation, norm=norm, residual=residual).double()
    with torch.no_grad():
        for p in block.parameters():
            p.normal_(std=0.5, generator=generator)
    x, wanted = torch.randn(2, 2, 3, 4, generator=generator, dtype=torch.float64)
    unused = ("ln_",) if norm == "none" else ()
    learned = [(n, p) for n, p in block.named_parameters() if not n.startswith(unused or "-")]
    assert disagreeing(lambda: (block(x) - wanted).square().mean(), learned) == []


@pytest.mark.parametrize("h", [1e-5, 0.1])
def test_a_cube_is_off_by_exactly_h_squared(h):
    """((w + h)³ − (w − h)³) / 2h = 3w² + h²."""
    w = torch.tensor([2.0, 1.5], dtype=torch.float64)
    got = finite_difference(lambda: w[1] ** 3, w, (1,), h)
    assert got == pytest.approx(3 * 1.5**2 + h**2, rel=1e-9)
    assert finite_difference(lambda: w[1] ** 3, w, (0,), h) == 0


def test_the_weight_is_put_back_also_when_the_loss_cannot_be_had():
    w = torch.tensor([0.1, 0.3], dtype=torch.float64, requires_grad=True)
    finite_difference(lambda: w.sum(), w, (0,))
    assert w.tolist() == [0.1, 0.3]
    with pytest.raises(ZeroDivisionError):
        finite_difference(lambda: 1 / 0, w, (0,))
    assert w.tolist() == [0.1, 0.3]


@pytest.mark.parametrize("h", [0, -1e-5, float("nan")])
def test_a_step_that_is_none(h):
    with pytest.raises(RangeError) as caught:
        finite_difference(lambda: torch.tensor(1.0), torch.ones(1), (0,), h)
    assert all(str(h) in caught.value.text(lang) for lang in ("en", "ko"))
