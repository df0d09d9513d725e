"""Wrong calls of the trained models' API, each with words that its answer must hold."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from playground.gpt_api import InspectedError, inspect_prompt
from tests.conftest import AppServer
from tests.playground.calls import call, listen, post, streamed


def writing(
    prompt: Any = "a",
    model: Any = "shakespeare",
    max_new_tokens: Any = 2,
    temperature: Any = 1,
    top_k: Any = None,
    top_p: Any = None,
    seed: Any = 0,
) -> list[Any]:
    return [prompt, model, max_new_tokens, temperature, top_k, top_p, seed]


BAD: list[tuple[str, list[Any], str]] = [
    ("tokenize", [None, "shakespeare"], "text is null; it must be text"),
    ("tokenize", [["a"], "shakespeare"], "text is […]; it must be text"),
    ("tokenize", [{"path": "/etc/hosts"}, "shakespeare"], "text holds an object"),
    ("tokenize", ["a", 5], "tokenizer is 5; it must be text"),
    ("tokenize", ["a", "gpt3"], "nothing named “gpt3”; choose one of: shakespeare |"),
    ("tokenize", ["a", "\ud800"], "nothing named “?”"),
    ("tokenize", ["a", "../../etc"], "nothing named “../../etc”"),
    ("tokenize", ["a" * 100_001, "shakespeare"], "100,001 characters; at most 100,000"),
    ("tokenize", ["a"], "tokenize got 1 arguments but takes 2: [text, tokenizer]"),
    ("inspect", [False, "shakespeare"], "prompt is false; it must be text"),
    ("inspect", ["a", None], "model is null; it must be text"),
    ("inspect", ["a", "gpt2"], "nothing named “gpt2”"),  # a tokenizer only
    ("inspect", ["7 " * 97, "shakespeare"], "That is 194 tokens; this model reads at most 128"),
    (
        "inspect",
        ["\n7" * 48 + "\n", "shakespeare"],
        "That is 97 tokens; /inspect answers for at most 96",
    ),
    ("inspect", ["가" * 100_001, "shakespeare"], "prompt has 100,001 characters"),
    ("inspect", ["a", "shakespeare", 1], "inspect got 3 arguments but takes 2: [prompt, model]"),
]
BAD_WRITING: list[tuple[list[Any], str]] = [
    (writing(prompt=7), "prompt is 7; it must be text"),
    (writing(prompt={"a": 1}), "prompt holds an object"),
    (writing(prompt="가" * 4_001), "prompt has 4,001 characters; at most 4,000"),
    (writing(model="gpt2"), "nothing named “gpt2”"),
    (writing(model=["shakespeare"]), "model is […]; it must be text"),
    *(
        (writing(max_new_tokens=n), f"max_new_tokens is {shown}; it must be a whole number from 1 to 400")
        for n, shown in [(0, "0"), (401, "401"), (2.5, "2.5"), ("2", '"2"'), (True, "true"), (None, "null")]
    ),
    *(
        (writing(temperature=t), f"temperature is {shown}; it must be a number from 0 to 5")
        for t, shown in [(-0.1, "-0.1"), (5.01, "5.01"), (math.nan, "NaN"), (math.inf, "Infinity"), ("1", '"1"'), (None, "null"), (True, "true"), (6e99, "6e+99")]
    ),
    *(
        (writing(top_k=k), f"top_k is {shown}; it must be a whole number, at least 1, or null")
        for k, shown in [(0, "0"), (-1, "-1"), (1.0, "1.0"), ("all", '"all"'), (True, "true")]
    ),
    *(
        (writing(top_p=p), f"top_p is {shown}; it must be above 0 and at most 1, or null")
        for p, shown in [(0, "0"), (1.01, "1.01"), (-0.5, "-0.5"), (math.nan, "NaN"), ("0.9", '"0.9"')]
    ),
    *(
        (writing(seed=s), f"seed is {shown}; it must be a whole number from 0 to 2147483647")
        for s, shown in [(-1, "-1"), (2**31, "2147483648"), (0.5, "0.5"), (None, "null")]
    ),
    (writing()[:6], "generate got 6 arguments but takes 7: [prompt, model, max_new_tokens"),
    ([*writing(), 1], "generate got 8 arguments but takes 7"),
    ([], "generate got 0 arguments but takes 7"),
]  # fmt: skip


def test_a_prompt_too_long_to_inspect_is_told_in_both_languages() -> None:
    with pytest.raises(InspectedError) as refusal:
        inspect_prompt("\n7" * 48 + "\n", "shakespeare")
    assert refusal.value.text("en") == "That is 97 tokens; /inspect answers for at most 96."
    assert refusal.value.text("ko") == "토큰이 97개입니다. /inspect는 토큰 96개까지 답합니다."


@pytest.mark.parametrize(("name", "arguments", "words"), BAD)
def test_a_wrong_call_is_answered_by_its_trouble(
    app_url: AppServer, client: httpx.Client, name: str, arguments: list[Any], words: str
) -> None:
    answer = post(client, name, arguments)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert "Traceback" not in app_url.log()


@pytest.mark.parametrize(("name", "arguments", "words"), BAD[::4])
def test_gradios_own_way_in_answers_the_same(
    app_url: AppServer, client: httpx.Client, name: str, arguments: list[Any], words: str
) -> None:
    ((event, data),) = listen(client, name, *arguments)
    assert event == "error"
    assert words in data["error"]
    assert "Traceback" not in app_url.log()


@pytest.mark.parametrize(("arguments", "words"), BAD_WRITING)
def test_a_wrong_stream_is_one_error(
    app_url: AppServer, client: httpx.Client, arguments: list[Any], words: str
) -> None:
    ((event, data),) = listen(client, "generate", *arguments)
    assert event == "error"
    assert words in data["error"]
    assert "Traceback" not in app_url.log()


def test_the_edges_of_what_is_allowed_pass(client: httpx.Client) -> None:
    assert len(call(client, "inspect", "\n7" * 48, "shakespeare")["pieces"]) == 96
    assert len(call(client, "tokenize", "한" * 100_000, "shakespeare")["bytes"]) > 100_000
    for arguments in (
        writing(prompt="가" * 4_000, max_new_tokens=1, top_k=10**30, top_p=1, seed=2**31 - 1),
        writing(prompt="\0", temperature=5.0, top_k=1, top_p=1e-9),
    ):
        assert streamed(client, "generate", *arguments)[-1]["text"].startswith(arguments[0])


def test_a_stream_cannot_be_had_past_the_queue(app_url: AppServer, client: httpx.Client) -> None:
    answer = post(client, "generate", writing())
    assert answer.status_code == 404
    assert "join the queue" in answer.json()["error"]
    assert "Traceback" not in app_url.log()


def test_gradio_client_hears_the_sentence_and_goes_on(app_url: AppServer) -> None:
    theirs = Client(app_url.url, verbose=False, analytics_enabled=False)
    try:
        with pytest.raises(AppError, match="max_new_tokens is 0; it must be a whole number"):
            theirs.predict(*writing(max_new_tokens=0), api_name="/generate")
        with pytest.raises(AppError, match="nothing named “nobody”"):
            theirs.predict("a", "nobody", api_name="/tokenize")
        assert len(theirs.predict(*writing(), api_name="/generate")["ids"]) == 3
    finally:
        theirs.close()
    assert "Traceback" not in app_url.log()


MALFORMED = [b"", b"cat", b"[1]", b'{"data": ["\xff"]}', b'{"data": [' + b"9" * 5_000 + b"]}"]


@pytest.mark.parametrize("body", MALFORMED)
def test_a_malformed_body_is_answered(
    app_url: AppServer, client: httpx.Client, body: bytes
) -> None:
    for path in ("/run/tokenize", "/run/inspect", "/call/generate"):
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500
        assert answer.json()["error"]
    assert "Traceback" not in app_url.log()


def test_the_documentation_names_and_types_every_argument(client: httpx.Client) -> None:
    endpoints = client.get("/info").json()["named_endpoints"]
    taken = {
        name: {p["parameter_name"]: p["python_type"]["type"] for p in endpoints[name]["parameters"]}
        for name in ("/tokenize", "/inspect", "/generate")
    }
    assert taken["/tokenize"] == {"text": "str", "tokenizer": "str"}
    assert taken["/inspect"] == {"prompt": "str", "model": "str"}
    assert list(taken["/generate"]) == [
        "prompt", "model", "max_new_tokens", "temperature", "top_k", "top_p", "seed",
    ]  # fmt: skip
    assert list(taken["/generate"].values()) == [
        "str", "str", "int", "float", "None | int", "None | float", "int",
    ]  # fmt: skip
    for name, facts in {
        "/tokenize": ("100,000 characters", "U+FFFD", "ordinary"),
        "/inspect": ("96 tokens", "line break", "logit lens", "not rounded"),
        "/generate": ("begins with the prompt", "ids, pieces", "Queued"),
    }.items():
        assert len(endpoints[name]["returns"]) == 1
        for fact in facts:
            assert fact in endpoints[name]["description"], (name, fact)
    assert json.dumps(endpoints).count("null: identity") == 2
