"""The named API of the trained models over HTTP: right answers, streams, and streams broken off."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import tiktoken
import torch
from gradio_client import Client

from model.checkpoint import NAMES, Checkpoint, load_checkpoint
from model.sampling import complete
from tests.conftest import AppServer, start_app
from tests.model.conftest import DATA
from tests.model.small import with_theirs
from tests.playground.calls import call, events, join, post, streamed
from tests.playground.own_server import Own, ended, started

TOLERANCE = 1e-5
TEXTS = [
    "",
    " ",
    "ROMEO: What's in a name?",
    "나는 오늘 학교에 갔다.",
    "👩‍👩‍👧 e\u0301 \u0000 \ufeff",
    "한글 ㅎㅏㄴ \u1112\u1161\u11ab",
    "<|endoftext|>",
    "a\r\n\n\n\tb  c",
]
HALVES = [("\ud55c\ud83d", "한\ufffd"), ("\udc4d!", "\ufffd!"), ("a\ud83d\udc4d", "a👍")]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    with started(tmp_path_factory.mktemp("own")) as own:
        yield own


@pytest.fixture(scope="module")
def shakespeare() -> Checkpoint:
    return load_checkpoint("shakespeare")


# /tokenize


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_join_to_the_text(client: httpx.Client, shakespeare: Checkpoint, text: str) -> None:
    got = call(client, "tokenize", text, "shakespeare")
    assert set(got) == {"ids", "pieces", "bytes"}
    assert got["ids"] == shakespeare.tokenizer.encode(text)
    assert b"".join(map(bytes, got["bytes"])) == text.encode()
    assert got["pieces"] == [bytes(token).decode("utf-8", "replace") for token in got["bytes"]]


@pytest.mark.parametrize(("typed", "read"), HALVES)
def test_half_a_character_is_read_as_the_replacement(
    client: httpx.Client, typed: str, read: str
) -> None:
    got = call(client, "tokenize", typed, "shakespeare")
    assert b"".join(map(bytes, got["bytes"])).decode() == read
    assert call(client, "inspect", typed, "shakespeare")["pieces"] == got["pieces"]
    last = streamed(client, "generate", typed, "shakespeare", 3, 1, None, None, 0)[-1]
    assert last["text"].startswith(read)


def test_gpt2_without_files_or_network_is_a_sentence(own: Own) -> None:
    answer = post(own.client, "tokenize", ["a", "gpt2"])
    assert answer.status_code == 422
    assert "set TIKTOKEN_CACHE_DIR to a folder that holds them" in answer.json()["error"]
    assert "Traceback" not in own.app.log()


def test_a_gpt2_of_transformers_and_its_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--model` with a folder that transformers wrote, and tiktoken's own tokens beside ours."""
    if not DATA.is_dir():
        pytest.skip("GPT-2's tokenizer is not beside the repository")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(DATA / "tiktoken_cache"))
    _, theirs = with_theirs(vocab_size=50257, block_size=64, n_embd=16)
    theirs.save_pretrained(tmp_path / "random-gpt2")
    app = start_app(tmp_path / "log.txt", "--model", str(tmp_path / "random-gpt2"))
    try:
        tokens = tiktoken.get_encoding("gpt2")
        with httpx.Client(base_url=f"{app.url}/gradio_api", timeout=60) as client:
            for text in TEXTS:
                ids = call(client, "tokenize", text, "gpt2")["ids"]
                assert ids == tokens.encode(text, disallowed_special=())
                assert call(client, "tokenize", text, "random-gpt2")["ids"] == ids
            got = call(client, "inspect", "한 cat", "random-gpt2")
        idx = torch.tensor([tokens.encode("한 cat")])
        probs = theirs(idx).logits[0, -1].detach().softmax(dim=-1)
        for next_token in got["next_token"]:
            assert probs[next_token["id"]].item() == pytest.approx(
                next_token["probability"], rel=1e-3
            )
        assert "Traceback" not in app.log()
    finally:
        app.stop()


# /inspect


@pytest.mark.parametrize("prompt", ["a", "To be, or not", "나는 학교에", "x" * 96])
def test_inspect_equals_transformers(own: Own, prompt: str) -> None:
    got = call(own.client, "inspect", prompt, "mine")
    assert set(got) == {"pieces", "weights", "next_token", "logit_lens"}
    with torch.no_grad():
        idx = torch.tensor([list(prompt.encode())])
        theirs = own.theirs(idx, output_attentions=True, output_hidden_states=True)
        streams = [own.theirs.transformer.ln_f(h[0, -1]) for h in theirs.hidden_states[1:-1]]
        lens = [own.theirs.lm_head(stream).softmax(dim=-1) for stream in streams]
        next_token = theirs.logits[0, -1].softmax(dim=-1)
    weights = torch.tensor(got["weights"])
    torch.testing.assert_close(weights, torch.cat(theirs.attentions), atol=TOLERANCE, rtol=0)
    assert got["pieces"] == [bytes([i]).decode("utf-8", "replace") for i in idx[0].tolist()]
    ids = next_token.topk(10).indices.tolist()
    assert [candidate["id"] for candidate in got["next_token"]] == ids
    for candidate in got["next_token"]:
        assert candidate["piece"] == bytes([candidate["id"]]).decode("utf-8", "replace")
        assert candidate["probability"] == pytest.approx(
            next_token[candidate["id"]].item(), abs=TOLERANCE
        )
    assert len(got["logit_lens"]) == len(weights) == 3
    for layer, probs in zip(got["logit_lens"], [*lens, next_token], strict=True):
        best = probs.topk(5).values.tolist()
        assert [b["probability"] for b in layer] == pytest.approx(best, abs=TOLERANCE)
        assert all(set(b) == {"piece", "probability"} for b in layer)


def test_an_empty_prompt_is_a_line_break(client: httpx.Client) -> None:
    got = call(client, "inspect", "", "shakespeare")
    assert got == call(client, "inspect", "\n", "shakespeare")
    assert got["pieces"] == ["\n"]


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_model_answers(client: httpx.Client, name: str) -> None:
    assert len(call(client, "inspect", "나는 a cat", name)["next_token"]) == 10
    assert streamed(client, "generate", "", name, 5, 0.8, 50, 0.9, 1)[-1]["text"]


# /generate

SETTINGS = [
    ("ROMEO:", 30, 0.8, None, None, 1),
    ("", 9, 1.0, 40, None, 2),
    ("나는 학교에 <|endoftext|>", 30, 5, None, 0.9, 2**31 - 1),
    ("👍" * 60, 150, 1.3, 100, 0.95, 0),  # longer than the window, before and while it writes
    ("a\n", 400, 0.7, 1024, 1, 7),
    ("To be", 1, 0, None, None, 0),
    ("To be", 12, 1e-320, 1, 1e-300, 0),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_stream_grows_to_what_the_model_writes(
    client: httpx.Client, shakespeare: Checkpoint, settings: tuple[Any, ...]
) -> None:
    prompt, count, temperature, top_k, top_p, seed = settings
    *values, last = streamed(
        client, "generate", prompt, "shakespeare", count, temperature, top_k, top_p, seed
    )
    assert last["text"] == complete(
        shakespeare.gpt,
        shakespeare.tokenizer,
        prompt,
        count,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
    )
    texts = [prompt, *(value["text"] for value in values), last["text"]]
    assert len(values) > count / 10
    for earlier, later in itertools.pairwise(texts):
        assert later.startswith(earlier)
    assert last["ids"][: -count or None] == shakespeare.tokenizer.encode(prompt)
    assert last["text"] == shakespeare.tokenizer.decode(last["ids"])
    assert last["pieces"] == [shakespeare.tokenizer.decode([i]) for i in last["ids"]]


def test_temperature_0_equals_transformers(own: Own) -> None:
    got = streamed(own.client, "generate", "한 cat", "mine", 20, 0, None, None, 5)[-1]
    idx = torch.tensor([list("한 cat".encode())])
    theirs = own.theirs.generate(
        idx, attention_mask=torch.ones_like(idx), max_new_tokens=20, do_sample=False, pad_token_id=0
    )
    assert got["ids"] == theirs[0].tolist()


def test_gradio_client_streams_the_same(app_url: AppServer, client: httpx.Client) -> None:
    arguments = ("QUEEN:", "shakespeare", 25, 0.9, None, 0.9, 11)
    theirs = Client(app_url.url, verbose=False, analytics_enabled=False)
    try:
        job = theirs.submit(*arguments, api_name="/generate")
        assert job.result(timeout=60) == streamed(client, "generate", *arguments)[-1]
        assert [set(value) for value in job.outputs()[:-1]] == [{"text"}] * 7
    finally:
        theirs.close()


def test_four_at_once_write_what_each_alone_would_and_others_are_answered(
    client: httpx.Client, shakespeare: Checkpoint
) -> None:
    def write(seed: int) -> dict[str, Any]:
        return streamed(client, "generate", "I", "shakespeare", 150, 1, None, None, seed)[-1]

    with ThreadPoolExecutor(4) as pool:
        writing, answered = [pool.submit(write, seed) for seed in range(4)], 0
        while not all(job.done() for job in writing):
            got = call(client, "attention", [[1, 0], [0, 2]], None, None, None, False, False)
            assert got["scores"] == [[1, 0], [0, 4]]
            answered += 1
    for seed, job in enumerate(writing):
        alone = complete(shakespeare.gpt, shakespeare.tokenizer, "I", 150, seed=seed)
        assert job.result()["text"] == alone
    assert answered >= 20


# A client that goes away

GONE = ("a", "mine", 400, 1, None, None, 0)


def test_a_stream_that_nobody_reads_any_more_ends(own: Own) -> None:
    before = own.app.log().count("ended after ")
    stream = own.client.stream("GET", join(own.client, "generate", list(GONE)))
    with stream as reply:
        heard = events(reply.iter_lines())
        assert [next(heard)[0] for _ in range(3)] == ["generating"] * 3
    count = ended(own.app, before)
    print(f"\na stream left after 12 tokens ended after {count} of 400")
    assert 12 <= count <= 100
    assert "Traceback" not in own.app.log()


def test_a_job_that_is_cancelled_ends(own: Own) -> None:
    before = own.app.log().count("ended after ")
    theirs = Client(own.app.url, verbose=False, analytics_enabled=False)
    try:
        job = theirs.submit(*GONE, api_name="/generate")
        next(iter(job))
        job.cancel()
        assert 4 <= ended(own.app, before) <= 100
    finally:
        theirs.close()
    assert streamed(own.client, "generate", "b", "mine", 4, 1, None, None, 0)[-1]["ids"][0] == 98
    assert "Traceback" not in own.app.log()
