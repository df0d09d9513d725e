"""A trained model in a folder: weights, configuration, BPE ranks and a card.

    model.safetensors   the weights, in half precision (loaded as float32)
    config.json         GPTConfig
    ranks.tiktoken      the tokenizer's tokens
    card.json           what it was trained on, how, how long, and how well it does

`load_gpt2` reads the layout of Hugging Face's GPT-2 as well. Only safetensors and
JSON are read: nothing is unpickled, so a stranger's folder can do no harm.
"""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import errors
from model.downloads import cache_folder, download
from model.gpt import GPT, GPTConfig
from model.tokenizer import Tokenizer, gpt2_tokenizer, load_ranks, save_ranks

SHIPPED = Path(__file__).parent / "checkpoints"
NAMES = ("shakespeare", "shakespeare-64", "korean")
LATER = {"causal": True, "positions": True}  # settings that older files do not have
GPT2_SETTINGS = {  # another value means another computation, and so other logits
    "model_type": "gpt2",
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "tie_word_embeddings": True,
}
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
WEIGHTS, CONFIG, RANKS, CARD = "model.safetensors", "config.json", "ranks.tiktoken", "card.json"


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to use, its tokenizer, and its card."""

    gpt: GPT
    tokenizer: Tokenizer
    card: dict[str, Any]

    @property
    def separator(self) -> str:
        """What the short texts it learned end with; "" where it learned one long text.

        A person's own card may hold anything: what is no text is none.
        """
        found = self.card.get("separator")
        return found if isinstance(found, str) else ""


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the four files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    half = {
        name: p.detach().to("cpu", torch.float16).contiguous()
        for name, p in checkpoint.gpt.named_parameters()  # lm_head shares wte: saved once
    }
    save_file(half, folder / WEIGHTS)
    (folder / WEIGHTS).chmod(0o644)  # safetensors leaves it to its owner alone
    write_json(folder / CONFIG, asdict(checkpoint.gpt.config))
    save_ranks(checkpoint.tokenizer, folder / RANKS)
    write_json(folder / CARD, checkpoint.card)


def load_checkpoint(name_or_folder: str | Path) -> Checkpoint:
    """A shipped model by its name, any other by its folder; GPT-2's layout is read too.

    Raises a `CheckpointError` that says which file is missing, damaged or does not fit.
    """
    shipped = str(name_or_folder) in NAMES
    folder = SHIPPED / name_or_folder if shipped else Path(name_or_folder)
    if not os.path.isfile(folder / CONFIG):  # False too for a name no file can have
        raise errors.CheckpointMissingError(
            folder=name_or_folder, names=" | ".join(NAMES), file=CONFIG
        )
    found = read_json(folder, CONFIG)
    if "model_type" in found:  # Hugging Face's layout
        gpt, tokenizer = load_gpt2(folder), gpt2_tokenizer()
        check_vocabulary(tokenizer, gpt.config, folder, CONFIG)
        return Checkpoint(gpt, tokenizer, {"name": folder.name})
    known = {field.name for field in fields(GPTConfig)}
    try:
        config = GPTConfig(**{name: (LATER | found)[name] for name in known})
    except (KeyError, TypeError, ValueError) as error:
        raise errors.CheckpointFileError(folder=folder, file=CONFIG, reason=error) from error
    gpt = with_weights(config, read_weights(folder), folder)
    try:
        tokenizer = load_ranks(folder / RANKS, folder.name)
    except (OSError, ValueError) as error:
        raise errors.CheckpointFileError(folder=folder, file=RANKS, reason=error) from error
    check_vocabulary(tokenizer, config, folder, RANKS)
    return Checkpoint(gpt, tokenizer, read_json(folder, CARD))


def check_vocabulary(tokenizer: Tokenizer, config: GPTConfig, folder: Path, file: str) -> None:
    """The model has a row for each token; else `CheckpointFileError`, naming `file`."""
    if tokenizer.n_vocab != config.vocab_size:
        reason = f"{tokenizer.n_vocab} tokens ≠ vocab_size {config.vocab_size}"
        raise errors.CheckpointFileError(folder=folder, file=file, reason=reason)


def load_gpt2(folder_or_hub_name: str | Path) -> GPT:
    """The weights of a GPT-2 in Hugging Face's layout (config.json, model.safetensors).

    A name that is no folder, "openai-community/gpt2", is fetched from the hub.
    Raises a `CheckpointError`.
    """
    folder = Path(folder_or_hub_name)
    if not os.path.isdir(folder):
        folder = from_hub(str(folder_or_hub_name))
    found = read_json(folder, CONFIG)
    for key, value in GPT2_SETTINGS.items():
        if found.get(key, value) != value:
            reason = f"{key} {found[key]!r} ≠ {value!r}"
            raise errors.CheckpointFileError(folder=folder, file=CONFIG, reason=reason)
    try:
        C = found["n_embd"]
        sizes = {name: found[name] for name in ("vocab_size", "n_layer", "n_head", "n_embd")}
        inner, block_size = found.get("n_inner") or 4 * C, found["n_positions"]
        config = GPTConfig(**sizes, block_size=block_size)
    except (KeyError, TypeError, ValueError) as error:
        raise errors.CheckpointFileError(folder=folder, file=CONFIG, reason=error) from error
    if inner != 4 * C:
        reason = f"n_inner {inner} ≠ 4 × {C}"
        raise errors.CheckpointFileError(folder=folder, file=CONFIG, reason=reason)
    return with_weights(config, gpt2_names(read_weights(folder)), folder)


def gpt2_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Hugging Face's names -> ours. Its Conv1D keeps matrices as (in, out): they are turned."""
    ours = {}
    for name, tensor in tensors.items():
        name = name.removeprefix("transformer.")
        if name == "lm_head.weight" or name.endswith((".attn.bias", ".attn.masked_bias")):
            continue  # lm_head shares wte; the others are masks, not weights
        turned = name.startswith("h.") and tensor.dim() == 2
        ours[name.replace("h.", "blocks.", 1) if name.startswith("h.") else name] = (
            tensor.mT if turned else tensor
        )
    return ours


def with_weights(config: GPTConfig, tensors: Mapping[str, Tensor], folder: Path) -> GPT:
    """A GPT of that configuration holding those weights as float32, ready to be asked."""
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    c = config
    first = {"wte.weight": (c.vocab_size, c.n_embd), "wpe.weight": (c.block_size, c.n_embd)}
    check_shapes(folder, {name: found.get(name) for name in first}, first)
    if c.n_layer > len(tensors):  # nothing that large is built only to be refused
        raise errors.CheckpointShapeError(
            folder=folder, tensor="blocks", found=f"≤ {len(tensors)}", expected=c.n_layer
        )
    gpt = GPT(config)
    check_shapes(folder, found, {name: tuple(p.shape) for name, p in gpt.named_parameters()})
    gpt.load_state_dict(
        {n: t.float().contiguous() for n, t in tensors.items()}
        | {"lm_head.weight": tensors["wte.weight"].float()},
        assign=True,
    )
    gpt.lm_head.weight = gpt.wte.weight
    return gpt.eval()


def check_shapes(folder: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """The same names with the same shapes; else `CheckpointShapeError` for the first that differs."""
    for name in sorted(found.keys() | expected.keys()):
        if found.get(name) != expected.get(name):
            raise errors.CheckpointShapeError(
                folder=folder, tensor=name, found=found.get(name), expected=expected.get(name)
            )


def from_hub(name: str) -> Path:
    """The folder of a model on the hub, its two files downloaded.

    Raises `CheckpointMissingError` for what cannot be a name there, `CheckpointFileError`.
    """
    if not HUB_NAME.fullmatch(name):
        raise errors.CheckpointMissingError(folder=name, names=" | ".join(NAMES), file=CONFIG)
    folder = cache_folder() / name.replace("/", "--")
    for file in (CONFIG, WEIGHTS):
        address = f"https://huggingface.co/{name}/resolve/main/{file}"
        try:
            download(address, folder / file)
        except OSError as error:
            reason = f"{address}: {error}"
            raise errors.CheckpointFileError(folder=name, file=file, reason=reason) from error
    return folder


def read_weights(folder: Path) -> dict[str, Tensor]:
    try:
        return load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise errors.CheckpointFileError(folder=folder, file=WEIGHTS, reason=error) from error


def read_json(folder: Path, file: str) -> dict[str, Any]:
    try:
        found = json.loads((folder / file).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise errors.CheckpointFileError(folder=folder, file=file, reason=error) from error
    if not isinstance(found, dict):
        raise errors.CheckpointFileError(folder=folder, file=file, reason=type(found).__name__)
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
