"""One process, or several started by `torchrun`: each takes its share of a batch.

Gradients are averaged between them (DistributedDataParallel), so that two
processes with half a batch each do what one does with the whole.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from model import errors


@dataclass(frozen=True)
class Processes:
    """`rank` of `count` processes; the usual case is 0 of 1."""

    rank: int
    count: int
    base_seed: int

    @classmethod
    def started(cls, seed: int, device: torch.device) -> Processes:
        """Join the group that `torchrun` announces in the environment, if any."""
        count = int(os.environ.get("WORLD_SIZE", "1"))
        if count == 1:
            return cls(0, 1, seed)
        if not dist.is_initialized():
            if device.type == "cuda":
                torch.cuda.set_device(device)
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), count, seed)

    @property
    def first(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def seed(self, step: int) -> int:
        """Each process drops other numbers out."""
        return (self.base_seed * 1_000_003 + step) * self.count + self.rank

    def wrap(self, module: nn.Module) -> nn.Module:
        if self.count == 1:
            return module
        return nn.parallel.DistributedDataParallel(module)

    def share(self, batch: Tensor) -> Tensor:
        """`(B, ...)` -> this process's `(B / count, ...)`. Raises `ShareError` where B does not divide."""
        if batch.size(0) % self.count:
            raise errors.ShareError(batch=batch.size(0), count=self.count)
        return batch.chunk(self.count)[self.rank]

    def mean(self, value: Tensor) -> float:
        """The mean over all processes."""
        if self.count > 1:
            dist.all_reduce(value)
            value = value / self.count
        return value.item()

    def finish(self) -> None:
        """Wait for one another before parting: gloo aborts now and then without."""
        if self.count > 1:
            dist.barrier()
            dist.destroy_process_group()
