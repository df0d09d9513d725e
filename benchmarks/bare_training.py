"""The same training without Gradio: `python -m benchmarks.bare_training SEED STEPS` prints its seconds."""

from __future__ import annotations

import sys
import time

import torch

from model.live import LiveRun, LiveSettings

WARM_UP = 50  # steps of another run: PyTorch's first are slower


def main(seed: int, steps: int) -> None:
    torch.set_num_threads(1)  # as the app serves
    other = LiveRun(LiveSettings(seed=seed + 1))
    for _ in range(WARM_UP):
        other.advance()
    run = LiveRun(LiveSettings(seed=seed))
    began = time.perf_counter()
    for _ in range(steps):
        run.advance()
    print(time.perf_counter() - began)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
