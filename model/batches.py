"""What each training step reads: inputs and the targets they should have foretold.

A batch is a function of the step alone, so that a resumed run is the same run: windows
of one long text, or rows of many short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from model import errors
from model.ngram import NgramModel

Batch = tuple[Tensor, Tensor]  # idx (B, T), targets (B, T) or, as chances, (B, T, V)


def windows(ids: Tensor, block_size: int, batch_size: int, seed: int) -> Callable[[int], Batch]:
    """Random windows of a text's ids `(N,)`: step -> idx, targets, each `(batch_size, block_size)`.

    Targets are the same windows one token later. Raises `ShortTextError` when the
    text is not longer than a window.
    """
    if len(ids) <= block_size:
        raise errors.ShortTextError(found=len(ids), needed=block_size + 1)

    def batch(step: int) -> Batch:
        generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
        starts = torch.randint(len(ids) - block_size, (batch_size, 1), generator=generator)
        at = starts + torch.arange(block_size)  # (B, 1) + (T,) -> (B, T)
        return ids[at], ids[at + 1]

    return batch


def separate_texts(
    texts: list[list[int]], block_size: int, batch_size: int, seed: int
) -> Callable[[int], Batch]:
    """Short texts' ids, each a row from its own beginning: step -> idx, targets `(batch_size, T)`.

    Every text begins with a start token; half the steps leave it out, so that the model
    can begin without it too. Texts of like length share a batch; what a shorter one lacks is
    filled, and its targets there are −100, which no loss counts.
    """
    order = torch.randperm(len(texts), generator=torch.Generator().manual_seed(seed)).tolist()
    by_length = sorted((texts[i] for i in order), key=len)

    def batch(step: int) -> Batch:
        generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
        last = max(0, len(texts) - batch_size)
        start = int(torch.randint(1 - batch_size, last + batch_size, (), generator=generator))
        start = min(max(start, 0), last)  # the shortest and the longest as often as any
        skip = int(torch.randint(2, (), generator=generator))
        rows = [text[skip:] for text in by_length[start : start + batch_size]]
        T = min(max(map(len, rows)) - 1, block_size)
        idx, targets = torch.zeros(len(rows), T, dtype=torch.long), torch.full((len(rows), T), -100)
        for row, ids in enumerate(rows):
            n = min(len(ids) - 1, T)
            idx[row, :n] = torch.tensor(ids[:n])
            targets[row, :n] = torch.tensor(ids[1 : n + 1])
        return idx, targets

    return batch


def tutored(
    batch: Callable[[int], Batch], tutor: NgramModel, share: float
) -> Callable[[int], Batch]:
    """Let an n-gram model soften the targets: `(B, T)` ids -> `(B, T, V)` chances.

    target = (1 − share) · the token that came + share · what the tutor expects

    A small text says of a context only what came once; counting knows what else might
    have. Source: Hinton, Vinyals & Dean 2015, "Distilling the Knowledge in a Neural
    Network", section 2.
    """

    def softened(step: int) -> Batch:
        idx, targets = batch(step)
        counted = targets != -100
        came = F.one_hot(targets.clamp(min=0), tutor.n_symbols)  # (B, T) -> (B, T, V)
        mixed = torch.lerp(came.float(), tutor.expected(idx), share)
        return idx, mixed * counted.unsqueeze(-1)

    return softened


def in_turn(batches: Sequence[Callable[[int], Batch]]) -> Callable[[int], Batch]:
    """Step 0 takes the first's batch, step 1 the second's, and so on round."""
    return lambda step: batches[step % len(batches)](step)
