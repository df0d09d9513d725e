"""`python -m tests.playground.own_model FOLDER PORT`: the app, slow, with a person's own model.

As `python app.py --model FOLDER`, but each token of a generation takes as long as on a
slow machine, and the log says after how many tokens a generation ended.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from model.sampling import GenerationStep
from playground import gpt_api
from playground.server import serve

SECONDS_A_TOKEN = 0.02
generation = gpt_api.generation


def counted(*arguments: Any, **settings: Any) -> Iterator[GenerationStep]:
    """The steps of `generate`, counted."""
    count = 0
    try:
        for step in generation(*arguments, **settings):
            count += 1
            time.sleep(SECONDS_A_TOKEN)
            yield step
    finally:
        print(f"ended after {count} tokens", flush=True)


if __name__ == "__main__":
    gpt_api.generation = counted
    folder, port = sys.argv[1:]
    raise SystemExit(serve(["--model", folder, "--port", port]))
