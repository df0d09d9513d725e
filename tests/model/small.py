"""Small GPTs with weights all over, and the short text written for these tests."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from model import GPT, GPTConfig
from model.checkpoint import gpt2_names, with_weights

SHORT = Path(__file__).parent.parent / "data" / "short.txt"
SIZES = {"vocab_size": 19, "block_size": 8, "n_layer": 2, "n_head": 2, "n_embd": 12}


def small_gpt(*, seed: int = 1, dtype: torch.dtype = torch.float64, **sizes: object) -> GPT:
    """A GPT ready to be asked, every number of it drawn: LayerNorms and biases as well."""
    gpt = GPT(GPTConfig(**{**SIZES, **sizes})).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in gpt.parameters():
            p.normal_(std=0.4, generator=generator)
    return gpt.eval()


def with_theirs(**sizes: int) -> tuple[GPT, GPT2LMHeadModel]:
    """A GPT and transformers' GPT-2 with the same random weights, as float32."""
    torch.manual_seed(2)
    sizes = {**SIZES, **sizes}
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=sizes["vocab_size"],
            n_positions=sizes["block_size"],
            n_layer=sizes["n_layer"],
            n_head=sizes["n_head"],
            n_embd=sizes["n_embd"],
            bos_token_id=None,
            eos_token_id=None,
            initializer_range=0.4,  # spread wide, so that no two tokens are nearly equal
        )
    ).eval()
    weights = gpt2_names(theirs.state_dict())
    return with_weights(GPTConfig(**sizes), weights, Path("theirs")), theirs
