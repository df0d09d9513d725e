"""Wrong calls of /train, each with words that its answer must hold."""

from __future__ import annotations

import math
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from playground import train_api
from tests.conftest import AppServer
from tests.playground.calls import listen, post, streamed

RIGHT = {
    "task": "copy",
    "steps": 2,
    "n_layer": 1,
    "n_head": 2,
    "n_embd": 8,
    "causal": True,
    "positions": True,
    "learning_rate": 0.005,
    "seed": 0,
}


def training(**wrong: Any) -> list[Any]:
    return list((RIGHT | wrong).values())


def whole(name: str, low: int, high: int) -> list[tuple[list[Any], str]]:
    """What a whole number from `low` to `high` cannot be."""
    bad = {
        low - 1: str(low - 1),
        high + 1: str(high + 1),
        2.5: "2.5",
        "2": '"2"',
        None: "null",
        True: "true",
    }
    return [
        (training(**{name: value}), f"{name} is {shown}; it must be a whole number from {low} to {high}")
        for value, shown in bad.items()
    ]  # fmt: skip


BAD: list[tuple[list[Any], str]] = [
    (training(task=7), "task is 7; it must be text"),
    (training(task=None), "task is null; it must be text"),
    (training(task="multiply"), 'task is "multiply"; it must be one of: copy | reverse | sort | count.'),
    (training(task="text"), 'task is "text"; it must be one of: copy | reverse | sort | count.'),
    (training(task="\ud800"), "task is "),
    (training(task={"a": 1}), "task holds an object"),
    *whole("steps", 1, 2000),
    *whole("n_layer", 1, 4),
    *whole("n_embd", 4, 64),
    *whole("seed", 0, 2**31 - 1),
    *whole("n_head", 1, 64),
    (training(n_head=3), "A width of 8 cannot be split among 3 heads; n_head must divide 8"),
    (training(causal=1), "causal is 1; it must be true or false"),
    (training(positions="yes"), 'positions is "yes"; it must be true or false'),
    (training(positions=None), "positions is null; it must be true or false"),
    *(
        (training(learning_rate=rate), f"learning_rate is {shown}; it must be a number from 0 to 10")
        for rate, shown in [(math.nan, "NaN"), (math.inf, "Infinity"), ("1", '"1"'), (None, "null"), (True, "true"), (10.5, "10.5")]
    ),
    (training(learning_rate=0), "learning_rate is 0; it must be 0 < learning_rate ≤ 10"),
    (training(learning_rate=-0.1), "learning_rate is -0.1; it must be 0 < learning_rate ≤ 10"),
    (training()[:8], "train got 8 arguments but takes 9: [task, steps, n_layer, n_head, n_embd, causal,"),
    ([*training(), 1], "train got 10 arguments but takes 9"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_a_wrong_stream_is_one_error(
    app_url: AppServer, client: httpx.Client, arguments: list[Any], words: str
) -> None:
    ((event, data),) = listen(client, "train", *arguments)
    assert event == "error"
    assert words in data["error"]
    assert "Traceback" not in app_url.log()


def test_what_is_right_is_trained(client: httpx.Client) -> None:
    assert len(streamed(client, "train", *training())[-1]["losses"]) == 2


def test_a_stream_cannot_be_had_past_the_queue(app_url: AppServer, client: httpx.Client) -> None:
    answer = post(client, "train", training())
    assert answer.status_code == 404
    assert "join the queue" in answer.json()["error"]
    assert "Traceback" not in app_url.log()


def test_gradio_client_hears_the_sentence_and_goes_on(app_url: AppServer) -> None:
    theirs = Client(app_url.url, verbose=False, analytics_enabled=False)
    try:
        with pytest.raises(AppError, match="steps is 0; it must be a whole number from 1 to 2000"):
            theirs.predict(*training(steps=0), api_name="/train")
        with pytest.raises(AppError, match="A width of 8 cannot be split among 5 heads"):
            theirs.predict(*training(n_head=5), api_name="/train")
        assert len(theirs.predict(*training(), api_name="/train")["losses"]) == 2
    finally:
        theirs.close()
    assert "Traceback" not in app_url.log()


@pytest.mark.parametrize("body", [b"", b"cat", b"[1]", b'{"data": ["\xff"]}'])
def test_a_malformed_body_is_answered(
    app_url: AppServer, client: httpx.Client, body: bytes
) -> None:
    answer = client.post("/call/train", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]
    assert "Traceback" not in app_url.log()


def test_the_documentation_names_and_types_every_argument(client: httpx.Client) -> None:
    endpoint = client.get("/info").json()["named_endpoints"]["/train"]
    taken = {p["parameter_name"]: p["python_type"]["type"] for p in endpoint["parameters"]}
    assert taken == {
        **dict.fromkeys(("steps", "n_layer", "n_head", "n_embd", "seed"), "int"),
        **{"task": "str", "causal": "bool", "positions": "bool", "learning_rate": "float"},
    }
    assert list(taken) == list(RIGHT)
    assert len(endpoint["returns"]) == 1
    for fact in ("losses", "chance", "sample", "Queued", "same arguments", "copy"):
        assert fact in endpoint["description"], fact


def test_a_training_ends_after_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps taken before are there; both numbers and the way out are said."""
    monkeypatch.setattr(train_api, "MAX_SECONDS", 0)
    stream = train_api.train(**(RIGHT | {"steps": 20}))
    with pytest.raises(train_api.TrainingLongError, match=r"at step 1 of 20\."):
        next(stream)
