"""The decoder block and both stacks against PyTorch's own, and what may look at what."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.encoder_decoder import (
    DecoderBlock,
    DecoderBlockTrace,
    DrawnDropout,
    EncoderDecoder,
    EncoderDecoderTrace,
)
from model.errors import ChoiceError, DropoutError, HeadsError

B, S, T, C, HEADS = 2, 6, 4, 12, 3
PARTS = {  # PyTorch's names -> ours, within a layer
    "self_attn.in_proj_": "attn.c_attn.",
    "self_attn.out_proj.": "attn.c_proj.",
    "multihead_attn.in_proj_": "cross.c_attn.",
    "multihead_attn.out_proj.": "cross.c_proj.",
    "linear1.": "mlp.c_fc.",
    "linear2.": "mlp.c_proj.",
    "norm1.": "ln_1.",
    "norm2.": "ln_2.",
    "norm3.": "ln_3.",
}
STACKS = {  # and around the layers
    "encoder.layers.": "encoder.",
    "decoder.layers.": "decoder.",
    "encoder.norm.": "ln_memory.",
    "decoder.norm.": "ln_f.",
}


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """A torch layer's or a torch Transformer's weights under our names."""
    found = {}
    for name, tensor in weights.items():
        for theirs, ours in (STACKS | PARTS).items():
            name = name.replace(theirs, ours)
        found[name] = tensor
    return found


def gpt2_gelu(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


def draw(module: nn.Module) -> None:
    """Weights all over, LayerNorms and biases as well."""
    with torch.no_grad():
        for p in module.parameters():
            p.normal_(std=0.4)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("activation", "hidden"), [("gelu", 48), ("relu", 20)])
def test_a_decoder_block_is_pytorchs_decoder_layer(precision, bias, norm, activation, hidden):
    theirs = nn.TransformerDecoderLayer(
        C,
        HEADS,
        hidden,
        dropout=0.0,
        activation=F.relu if activation == "relu" else gpt2_gelu,
        batch_first=True,
        norm_first=norm == "pre",
        bias=bias,
        dtype=precision.dtype,
    )
    draw(theirs)
    ours = DecoderBlock(C, HEADS, bias=bias, hidden=hidden, activation=activation, norm=norm)
    ours.to(precision.dtype).load_state_dict(renamed(theirs.state_dict()))
    x, memory = precision.normal(B, T, C), precision.normal(B, S, C)
    hide = nn.Transformer.generate_square_subsequent_mask(T, dtype=precision.dtype)
    precision.close(ours(x, memory), theirs(x, memory, tgt_mask=hide))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # PyTorch's, of a speed-up of its own
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_the_stacks_are_pytorchs_transformer(precision, norm, activation):
    theirs = nn.Transformer(
        C,
        HEADS,
        2,
        2,
        20,
        dropout=0.0,
        activation=F.relu if activation == "relu" else gpt2_gelu,
        batch_first=True,
        norm_first=norm == "pre",
        dtype=precision.dtype,
    )
    draw(theirs)
    ours = EncoderDecoder(C, HEADS, 2, hidden=20, activation=activation, norm=norm)
    ours.to(precision.dtype).load_state_dict(renamed(theirs.state_dict()))
    src, tgt = precision.normal(B, S, C), precision.normal(B, T, C)
    hide = nn.Transformer.generate_square_subsequent_mask(T, dtype=precision.dtype)
    memory = ours.encode(src)
    precision.close(memory, theirs.encoder(src))
    precision.close(ours.decode(tgt, memory), theirs.decoder(tgt, memory, tgt_mask=hide))
    precision.close(ours(src, tgt), theirs(src, tgt, tgt_mask=hide))


@pytest.fixture
def stacks(exact) -> EncoderDecoder:
    found = EncoderDecoder(C, HEADS, 2, hidden=20).to(exact.dtype)
    draw(found)
    return found


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_a_decoder_blocks_trace_adds_up(exact, norm):
    """Every step follows from the one before, and the end is that of the fast route."""
    block = DecoderBlock(C, HEADS, norm=norm).to(exact.dtype)
    draw(block)
    x, memory = exact.normal(B, T, C), exact.normal(B, S, C)
    found: list[DecoderBlockTrace] = []
    exact.close(block(x, memory, trace=found), block(x, memory))
    (t,) = found

    def normal(ln: nn.LayerNorm, y: Tensor) -> Tensor:
        return F.layer_norm(y, (C,), ln.weight, ln.bias)

    stream = x
    for ln, read, added, after in (
        (block.ln_1, t.normed_1, t.attn_out, t.resid_mid),
        (block.ln_2, t.normed_2, t.cross_out, t.resid_crossed),
        (block.ln_3, t.normed_3, t.mlp_out, t.resid_post),
    ):
        exact.close(read, normal(ln, stream) if norm == "pre" else stream)
        exact.close(after, normal(ln, stream + added) if norm == "post" else stream + added)
        stream = after
    exact.close(t.attn.output, t.attn_out)
    exact.close(t.cross.output, t.cross_out)
    exact.close(block.mlp.c_proj(gpt2_gelu(t.hidden_pre)), t.mlp_out)
    exact.close(t.hidden, gpt2_gelu(t.hidden_pre))


def test_the_trace_of_both_stacks_ends_where_they_end(exact, stacks):
    src, tgt = exact.normal(B, S, C), exact.normal(B, T, C)
    found: list[EncoderDecoderTrace] = []
    exact.close(stacks(src, tgt, trace=found), stacks(src, tgt))
    (t,) = found
    exact.close(t.memory, stacks.encode(src))
    exact.close(t.output, stacks(src, tgt))
    assert [b.attn.heads.weights.shape for b in t.encoder] == [(B, HEADS, S, S)] * 2
    assert [b.attn.heads.weights.shape for b in t.decoder] == [(B, HEADS, T, T)] * 2
    assert [b.cross.heads.weights.shape for b in t.decoder] == [(B, HEADS, T, S)] * 2
    for block in t.decoder:
        assert (block.attn.heads.weights.triu(1) == 0).all()  # causal: exactly 0
        assert (block.cross.heads.weights > 0).all()  # no mask
        exact.close(block.cross.heads.weights.sum(-1), torch.ones(B, HEADS, T, dtype=exact.dtype))
    assert all((block.attn.heads.weights > 0).all() for block in t.encoder)


def test_later_targets_change_nothing_before_them_and_every_source_does(exact, stacks):
    src, tgt = exact.normal(1, S, C), exact.normal(1, T, C)
    before = stacks(src, tgt)
    changed = tgt.clone()
    changed[:, 2] += exact.normal(C)
    after = stacks(src, changed)
    exact.close(after[:, :2], before[:, :2])
    assert (after[:, 2:] - before[:, 2:]).abs().amax(-1).min() > 1e-6
    for s in range(S):
        other = src.clone()
        other[:, s] += exact.normal(C)
        assert (stacks(other, tgt) - before).abs().amax(-1).min() > 1e-6  # also the first answer


def test_dropout_draws_from_its_own_generator(exact):
    before = torch.get_rng_state()
    drop, x = DrawnDropout(0.25, torch.Generator().manual_seed(3)), torch.ones(200, 200)
    kept = drop(x)
    assert torch.equal(torch.get_rng_state(), before)
    assert set(kept.unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert kept.mean().item() == pytest.approx(1, abs=0.02)  # 40,000 draws
    again = DrawnDropout(0.25, torch.Generator().manual_seed(3))
    assert torch.equal(again(x), kept)
    assert torch.equal(drop.eval()(x), x)


def test_dropout_falls_on_both_stacks(exact):
    generator = torch.Generator().manual_seed(1)
    stacks = EncoderDecoder(C, HEADS, 1, dropout=0.5, generator=generator).to(exact.dtype)
    src, tgt = exact.normal(1, S, C), exact.normal(1, T, C)
    before = torch.get_rng_state()
    assert not torch.equal(stacks.encode(src), stacks.encode(src))
    assert not torch.equal(stacks.decode(tgt, src), stacks.decode(tgt, src))
    assert torch.equal(stacks.eval()(src, tgt), stacks(src, tgt))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("make", "error", "named"),
    [
        (lambda: DecoderBlock(12, 5), HeadsError, "12"),
        (lambda: DecoderBlock(12, 3, norm="before"), ChoiceError, "before"),
        (lambda: EncoderDecoder(12, 3, 1, activation="tanh"), ChoiceError, "tanh"),
        (lambda: EncoderDecoder(12, 3, 1, dropout=1.0), DropoutError, r"1\.0"),
    ],
)
def test_what_cannot_be_built_is_refused(make, error, named):
    with pytest.raises(error, match=named):
        make()
