"""The named API of live training: the loop one would write, streams, and streams broken off."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from gradio_client import Client

from model.live import LiveRun, LiveSettings
from model.tasks import ask
from playground import train_api
from tests.conftest import AppServer
from tests.playground.calls import call, events, join, streamed
from tests.playground.own_server import ended
from tests.playground.own_training import started

SMALL = (1, 2, 8)  # n_layer, n_head, n_embd


def training(task: str = "copy", steps: int = 25, **changes: Any) -> list[Any]:
    """The arguments in order."""
    settings = {"causal": True, "positions": True, "learning_rate": 0.005, "seed": 0, **changes}
    return [task, steps, *SMALL, *settings.values()]


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("copy", {}),
        ("reverse", {"causal": False}),
        ("sort", {"positions": False, "seed": 2**31 - 1}),
        ("count", {"learning_rate": 0.03}),
    ],
)
def test_a_stream_is_the_loop_one_would_write(
    client: httpx.Client, task: str, changes: dict[str, Any]
) -> None:
    *values, again, last = streamed(client, "train", *training(task, 25, **changes))
    assert again == last  # Gradio sends a stream's last value once more
    seed = changes.get("seed", 0)
    run = LiveRun(LiveSettings(task, n_layer=1, n_head=2, n_embd=8, **changes))
    theirs = LiveRun(run.settings).gpt
    rate = changes.get("learning_rate", 0.005)
    adam = torch.optim.Adam([p for p in theirs.parameters() if p.requires_grad], lr=rate)
    losses = []
    for step in range(10):  # rounding parts two routes after a while
        idx, targets = run.task.batch(step, seed)
        loss = torch.nn.functional.cross_entropy(theirs(idx).flatten(0, 1), targets.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert last["losses"][:10] == pytest.approx(losses, rel=2e-3)
    for _ in range(25):
        run.advance()
    assert last["losses"] == run.losses
    assert last["chance"] == pytest.approx(math.log(10 if task == "count" else 9))
    (answer,) = ask(run.gpt, run.task, seed, count=1)
    assert last["sample"] == answer.question + answer.given
    assert set(last) == {"losses", "chance", "sample"}
    assert values == [{"step": n, "loss": run.losses[n - 1]} for n in (10, 20, 25)]


def test_the_same_seed_gives_the_same_curve_and_another_another(client: httpx.Client) -> None:
    first, again, other = (
        streamed(client, "train", *training(seed=seed))[-1] for seed in (3, 3, 4)
    )
    assert first == again
    assert not set(first["losses"]) & set(other["losses"])


def test_it_learns_and_its_sample_shows_it(client: httpx.Client) -> None:
    last = streamed(client, "train", "copy", 250, 2, 4, 16, True, True, 0.005, 1)[-1]
    assert last["losses"][0] == pytest.approx(last["chance"], abs=0.4)
    assert last["losses"][-1] < last["chance"] / 2
    question, answer = last["sample"].split("|")
    assert len(question) == 6
    assert answer == question


@pytest.mark.parametrize("steps", [1, 10, 11])
def test_the_last_step_is_told(client: httpx.Client, steps: int) -> None:
    *values, _, last = streamed(client, "train", *training(steps=steps))
    assert len(last["losses"]) == steps == values[-1]["step"]


@pytest.mark.parametrize("sizes", [(1, 1, 4), (4, 64, 64)])
def test_the_smallest_and_the_largest_are_trained(
    client: httpx.Client, sizes: tuple[int, int, int]
) -> None:
    last = streamed(client, "train", "sort", 3, *sizes, True, True, 1e-3, 0)[-1]
    assert len(last["losses"]) == 3


def test_gradio_client_streams_the_same(app_url: AppServer, client: httpx.Client) -> None:
    theirs = Client(app_url.url, verbose=False, analytics_enabled=False)
    try:
        job = theirs.submit(*training(steps=40), api_name="/train")
        assert job.result(timeout=60) == streamed(client, "train", *training(steps=40))[-1]
        assert [value["step"] for value in job.outputs()[:-1]] == [10, 20, 30, 40]
    finally:
        theirs.close()


def test_four_at_once_learn_what_each_alone_would_and_others_are_answered(
    client: httpx.Client,
) -> None:
    def learn(seed: int) -> dict[str, Any]:
        return streamed(client, "train", *training("sort", 150, seed=seed))[-1]

    with ThreadPoolExecutor(4) as pool:
        learning, answered = [pool.submit(learn, seed) for seed in range(4)], 0
        while not all(job.done() for job in learning):
            got = call(client, "attention", [[1, 0], [0, 2]], None, None, None, False, False)
            assert got["scores"] == [[1, 0], [0, 4]]
            answered += 1
    for seed, job in enumerate(learning):
        run = LiveRun(LiveSettings("sort", n_layer=1, n_head=2, n_embd=8, seed=seed))
        for _ in range(150):
            run.advance()
        assert job.result()["losses"] == run.losses
    assert answered >= 5


# A client that goes away


def test_a_stream_that_nobody_reads_any_more_ends(tmp_path: Path) -> None:
    """As many as may run at once are left; one more, which needs a place, is then answered."""
    long = ["sort", 2_000, 1, 2, 8, True, True, 1e-3, 0]
    with started(tmp_path) as app, httpx.Client(base_url=f"{app.url}/gradio_api") as client:
        for n in range(train_api.AT_ONCE):
            with client.stream("GET", join(client, "train", long)) as reply:
                heard = events(reply.iter_lines())
                assert next(heard)[1][0]["step"] == 10
            assert 10 <= ended(app, before=n) < 2_000
        assert len(streamed(client, "train", *training(steps=5))[-1]["losses"]) == 5
        assert "Traceback" not in app.log()


def test_a_generator_that_is_closed_takes_no_step_more(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    stream = train_api.train(*training(steps=2_000))
    assert next(stream)["step"] == 10
    stream.close()
    assert taken() == 10
    assert not train_api.TURN.locked()


def test_steps_are_taken_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds the turn keeps all trainings from stepping, and they go on after it."""
    taken = counted(monkeypatch)
    stream = train_api.train(*training(steps=20))
    next(stream)
    with train_api.TURN, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, stream)
        assert not threading.Event().wait(0.2)
        assert (taken(), waiting.done()) == (10, False)
        train_api.TURN.release()
        assert waiting.result(timeout=30)["step"] == 20
        train_api.TURN.acquire()
    assert taken() == 20


def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many steps were taken, of any run."""
    steps, advance = [], LiveRun.advance
    monkeypatch.setattr(LiveRun, "advance", lambda run: steps.append(run) or advance(run))
    return lambda: len(steps)
