"""The state of a training run in a folder: tensors as safetensors, the rest as JSON.

Nothing is pickled, so a folder from someone else can do no harm. Files are
written beside the old ones and put in their place at once: a run killed while
saving keeps the state before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import errors
from model.gpt import GPT


@dataclass(frozen=True)
class Curve:
    """A point of the loss curve."""

    step: int
    loss: float
    val_loss: float


class TrainingState:
    """Counters, the loss curve and the best weights so far; with a `folder`, kept there.

    `about` says what is being learned and how, as text by name: a folder that was
    about something else is not gone on with.
    """

    def __init__(self, folder: Path | None = None, about: dict[str, str] | None = None) -> None:
        self.folder, self.about = folder, about or {}
        self.step = self.tokens = 0
        self.seconds = 0.0
        self.curve: list[Curve] = []
        self.best_loss = float("inf")
        self.since_best = 0
        self.best: dict[str, Tensor] = {}

    def keep_best(self, gpt: GPT, val_loss: float) -> None:
        """Remember the weights if they are the best so far."""
        self.since_best += 1
        if val_loss < self.best_loss:
            self.best_loss, self.since_best = val_loss, 0
            self.best = {name: p.detach().clone() for name, p in gpt.named_parameters()}

    def take_best(self, gpt: GPT) -> None:
        """Put the best weights into the model."""
        with torch.no_grad():
            for name, p in gpt.named_parameters():
                if self.best:
                    p.copy_(self.best[name])

    def save(self, gpt: GPT, optimizers: list[torch.optim.Optimizer]) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {f"now.{name}": p.detach() for name, p in gpt.named_parameters()}
        tensors |= {f"best.{name}": p for name, p in self.best.items()}
        for n, optimizer in enumerate(optimizers):
            for i, entry in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{n}.{i}.{key}": value for key, value in entry.items()}
        numbers = {
            "about": self.about,
            "step": self.step,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "best_loss": self.best_loss,
            "since_best": self.since_best,
            "curve": [asdict(point) for point in self.curve],
        }
        replace(
            self.folder / "state.safetensors",
            lambda path: save_file(tensors, path, metadata={"numbers": json.dumps(numbers)}),
        )

    def load(self, gpt: GPT, optimizers: list[torch.optim.Optimizer]) -> None:
        """Go on from the folder's state, if it has one. Raises `StateError` where it does not fit."""
        path = self.folder / "state.safetensors" if self.folder else None
        if path is None or not path.exists():
            return
        try:
            with safe_open(path, "pt") as file:
                numbers = json.loads(file.metadata()["numbers"])
            check_about(numbers.pop("about", {}), self.about)
            tensors = load_file(path)
            check_fit(tensors, gpt, optimizers)
            with torch.no_grad():
                for name, p in gpt.named_parameters():
                    p.copy_(tensors[f"now.{name}"])
            for n, optimizer in enumerate(optimizers):
                saved = optimizer.state_dict()
                for key, value in tensors.items():
                    if key.startswith(f"optimizer.{n}."):
                        _, _, i, name = key.split(".", 3)
                        saved["state"].setdefault(int(i), {})[name] = value
                optimizer.load_state_dict(saved)
        except Exception as error:
            raise errors.StateError(folder=self.folder, reason=str(error)[:200]) from error
        self.best = {
            k.removeprefix("best."): v for k, v in tensors.items() if k.startswith("best.")
        }
        self.curve = [Curve(**point) for point in numbers.pop("curve")]
        for name, value in numbers.items():
            setattr(self, name, value)


def check_about(found: dict[str, str], wanted: dict[str, str]) -> None:
    """The same text learned in the same way; else `ValueError` with the first difference."""
    for name in sorted(found.keys() | wanted.keys()):
        if found.get(name) != wanted.get(name):
            raise ValueError(f"{name} {found.get(name)} ≠ {wanted.get(name)}")


def check_fit(
    tensors: dict[str, Tensor], gpt: GPT, optimizers: list[torch.optim.Optimizer]
) -> None:
    """As many optimizers with as many parameters, and the model's own weights; else `ValueError`.

    PyTorch would take the state of another optimizer, and fail or go wrong at the next step.
    """
    expected = {f"now.{name}": tuple(p.shape) for name, p in gpt.named_parameters()}
    found = {name: tuple(t.shape) for name, t in tensors.items() if name.startswith("now.")}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise ValueError(f"{name} {found.get(name)} ≠ {expected.get(name)}")
    held = {
        f"optimizer.{n}.{i}"
        for n, optimizer in enumerate(optimizers)
        for i in range(sum(len(group["params"]) for group in optimizer.param_groups))
    }
    if held != {n.rsplit(".", 1)[0] for n in tensors if n.startswith("optimizer.")}:
        wanted = " + ".join(type(optimizer).__name__ for optimizer in optimizers)
        raise ValueError(f"optimizer ≠ {wanted}")


def replace(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file beside `path`, then put it in its place."""
    beside = path.with_name(path.name + ".new")
    write(beside)
    os.replace(beside, path)
