"""How far our modules lie from PyTorch's with the same weights, and gradients from finite differences.

`python -m scripts.exactness` prints the largest difference of each beside what is allowed,
and ends with 1 where one is larger. The tests hold the same, for more kinds.
"""

from __future__ import annotations

import itertools
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model import GPT, Block, GPTConfig
from model.encoder_decoder import DecoderBlock, EncoderDecoder
from model.gpt import next_token_loss
from model.gradients import finite_difference
from tests.model.test_encoder_decoder import draw, renamed

C, HEADS, HIDDEN, LAYERS = 64, 4, 128, 3
B, S, T = 4, 9, 7
EQUAL, GRADIENT = 1e-5, 1e-3  # float32; relative, float64
ROUNDING = 1e-10  # of a difference of two losses: what is smaller has no figures to compare


@torch.no_grad()
def encoder_layer(first: bool) -> float:
    theirs = nn.TransformerEncoderLayer(C, HEADS, HIDDEN, 0.0, F.relu, batch_first=True, norm_first=first)  # fmt: skip
    ours = same(theirs, Block(C, HEADS, hidden=HIDDEN, activation="relu", norm=norm(first)))
    x, hide = torch.randn(B, T, C), nn.Transformer.generate_square_subsequent_mask(T)
    return apart(ours(x), theirs(x, src_mask=hide, is_causal=True))


@torch.no_grad()
def decoder_layer(first: bool) -> float:
    theirs = nn.TransformerDecoderLayer(C, HEADS, HIDDEN, 0.0, F.relu, batch_first=True, norm_first=first)  # fmt: skip
    ours = same(theirs, DecoderBlock(C, HEADS, hidden=HIDDEN, activation="relu", norm=norm(first)))
    x, memory = torch.randn(B, T, C), torch.randn(B, S, C)
    hide = nn.Transformer.generate_square_subsequent_mask(T)
    return apart(ours(x, memory), theirs(x, memory, tgt_mask=hide))


@torch.no_grad()
def transformer(first: bool) -> float:
    theirs = nn.Transformer(C, HEADS, LAYERS, LAYERS, HIDDEN, 0.0, F.relu, batch_first=True, norm_first=first)  # fmt: skip
    ours = same(theirs, EncoderDecoder(C, HEADS, LAYERS, hidden=HIDDEN, norm=norm(first)))
    src, tgt = torch.randn(B, S, C), torch.randn(B, T, C)
    hide = nn.Transformer.generate_square_subsequent_mask(T)
    return apart(ours(src, tgt), theirs(src, tgt, tgt_mask=hide))


def same(theirs: nn.Module, ours: nn.Module) -> nn.Module:
    draw(theirs)
    with torch.no_grad():
        for p in theirs.parameters():
            p.div_(2)  # deviation 0.2: outputs stay near 1
    ours.load_state_dict(renamed(theirs.state_dict()))
    theirs.eval()  # where PyTorch can, it then takes kernels of its own for a whole layer
    return ours.eval()


def norm(first: bool) -> str:
    return "pre" if first else "post"


def apart(ours: Tensor, theirs: Tensor) -> float:
    return (ours - theirs).abs().max().item()


def gradients() -> float:
    """Every weight of a small GPT in float64: the largest |difference − autograd| / |autograd|."""
    config = GPTConfig(vocab_size=5, block_size=4, n_layer=2, n_head=2, n_embd=4)
    gpt = GPT(config, torch.Generator().manual_seed(1), std=0.4).double()
    idx = torch.randint(5, (3, 4), generator=torch.Generator().manual_seed(2))
    parameters = dict(gpt.named_parameters())

    def loss() -> Tensor:
        return next_token_loss(gpt(idx), idx.roll(-1, dims=1))

    worst = 0.0
    for p, found in zip(
        parameters.values(), torch.autograd.grad(loss(), parameters.values()), strict=True
    ):
        for index in itertools.product(*map(range, p.shape)):
            by_autograd, by_trying = found[index].item(), finite_difference(loss, p, index)
            difference = abs(by_autograd - by_trying)
            if difference > ROUNDING:
                worst = max(worst, difference / abs(by_autograd))
    return worst


def main() -> int:
    warnings.filterwarnings("ignore", message="enable_nested_tensor")  # of a speed-up of PyTorch's
    torch.manual_seed(20)
    rows = [
        (f"nn.{name}, {norm(first)}-norm", measure(first), EQUAL)
        for name, measure in (
            ("TransformerEncoderLayer", encoder_layer),
            ("TransformerDecoderLayer", decoder_layer),
            ("Transformer", transformer),
        )
        for first in (True, False)
    ]
    rows.append(("finite differences, every weight of a GPT", gradients(), GRADIENT))
    for what, found, most in rows:
        verdict = "ok" if found <= most else "NOT MET"
        print(f"{what:<44} {found:.1e}  ≤ {most:.0e}  {verdict}")
    return int(any(found > most for _, found, most in rows))


if __name__ == "__main__":
    sys.exit(main())
