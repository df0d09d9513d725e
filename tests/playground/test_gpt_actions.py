"""Choosing, setting, looking: what each button of the GPT tab does, and what is refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
import torch

from model.errors import PlaygroundError
from model.sampling import generate as generation
from playground import input_errors as errors
from playground import models
from playground.gpt import text
from playground.gpt.actions import ACTIONS, apply
from playground.gpt.presets import PRESETS, preset_state
from playground.gpt.state import MAX_PROMPT, MAX_WRITTEN, NUMBERS, RANGES, GptState
from playground.gpt_api import until_end
from playground.stage import act
from tests.playground.test_gpt_state import PROMPTS, THERE, random_gpt_states
from tests.playground.test_state import HALF, JUNK

SMALL = GptState(model="shakespeare-64", prompt="ROMEO:\n")


def do(before, action, /, **fields):
    return apply(before, {"do": action, **fields})


def put(state, key, value):
    return do(state, "set", key=key, value=value)


def refused(kind, state, action):
    """The refusal of an action, after the same through `act`: state kept, notice in both languages."""
    with pytest.raises(kind) as found:
        apply(state, action)
    for lang in ("en", "ko"):
        reply = act({"tab": "gpt", "lang": lang, "state": state.to_json(), "actions": [action]})
        assert reply["state"] == state.to_json()
        assert reply["notice"] == found.value.text(lang) != ""
        assert 'class="notice"' in reply["html"]
    return found.value


def all_written(state):
    """As the page does it: `more` until nothing is left."""
    state = do(state, "write")
    while state.left:
        state = do(state, "more")
    return state


# Candidates


def test_picking_shows_and_hides_a_token():
    state = SMALL.but(written=[1, 2, 3], left=5, open=["candidates", 0, 0, 0])
    picked = do(state, "pick", at=1)
    assert (picked.at, picked.left, picked.open) == (1, 0, None)
    assert do(picked, "pick", at=1).at is None
    assert do(picked, "pick", at=3).at is None  # the next one: what is shown without a choice
    for at in (-1, 4, "x", None, float("nan"), float("inf")):
        refused(errors.ActionError, state, {"do": "pick", "at": at})


def test_choosing_another_token_writes_on_from_it():
    state = all_written(SMALL.but(count=8))
    chosen = do(state, "choose", at=2, id=50)
    assert (chosen.written, chosen.left) == ([*state.written[:2], 50], 5)
    done = chosen
    while done.left:
        done = do(done, "more")
    assert len(done.written) == 8
    assert done.written[:3] == chosen.written
    again = do(state, "choose", at=2, id=state.written[2])
    while again.left:
        again = do(again, "more")
    assert again.written == state.written  # the same choice, the same text
    ahead = do(state, "choose", at=8, id=7)
    assert (ahead.written[-1], ahead.left) == (7, 0)
    V = models.checkpoint(SMALL.model).gpt.config.vocab_size
    for at, token in ((9, 0), (-1, 0), (0, V), (0, -1), (0, "x"), (None, 0), (0, [1])):
        refused(errors.ActionError, state, {"do": "choose", "at": at, "id": token})


# A text that ends


def line_break(name="shakespeare-64"):
    (token,) = models.checkpoint(name).tokenizer.encode("\n")
    return token


@pytest.fixture
def ending(monkeypatch):
    """A state of a model whose texts end with a line break, after an answer of three tokens."""
    card = {"separator": "\n"}
    monkeypatch.setitem(
        models.own, "lines", replace(models.checkpoint("shakespeare-64"), card=card)
    )
    return SMALL.but(model="lines", written=[50, 60, line_break()], count=12)


def test_choosing_the_end_of_a_text_writes_no_more(ending):
    chosen = do(ending.but(written=[50, 60, 70, 80, 90]), "choose", at=2, id=line_break())
    assert (chosen.written, chosen.left) == ([50, 60, line_break()], 0)
    assert do(chosen.but(left=5), "more") == chosen  # also from a link


def test_another_answer_may_be_longer_than_the_one_before(ending):
    assert do(ending, "choose", at=1, id=70).left == 10
    assert do(ending, "choose", at=2, id=70).left == 9
    assert do(ending.but(count=2), "choose", at=0, id=70).left == 2  # as long as it was
    full = ending.but(written=[50] * MAX_WRITTEN)
    assert do(full, "choose", at=MAX_WRITTEN - 1, id=70).left == 0


def test_after_a_text_that_ended_writing_begins_afresh(ending):
    assert all_written(ending) == all_written(ending.but(written=[]))
    full = ending.but(written=[50] * (MAX_WRITTEN - 1) + [line_break()])
    assert all_written(full) == all_written(ending.but(written=[]))
    reply = act({"tab": "gpt", "lang": "en", "state": ending.to_json()})["html"]
    assert "The model ended its text here." in reply
    assert "Write afresh: at most 12 tokens" in reply
    assert "12 more" not in reply
    assert "write this" not in reply  # nothing goes behind the end
    assert (
        "choose" in act({"tab": "gpt", "lang": "en", "state": ending.but(at=1).to_json()})["html"]
    )
    assert "ended its text" not in act({"tab": "gpt", "state": SMALL.but(written=[50]).to_json()})["html"]  # fmt: skip


@pytest.mark.parametrize("separator", [5, None, ["\n"], {}, True])
def test_a_separator_that_is_no_text_ends_nothing(separator, monkeypatch):
    found = replace(models.checkpoint("shakespeare-64"), card={"separator": separator})
    monkeypatch.setitem(models.own, "own", found)
    state = SMALL.but(model="own", count=6)
    assert all_written(state).written == all_written(SMALL.but(count=6)).written
    steps = generation(found.gpt, torch.tensor([5]), 4, temperature=0)
    assert len(list(until_end(steps, found))) == 4


# Setting


def test_another_prompt_lets_go_of_what_was_written():
    state = SMALL.but(written=[1, 2], left=4, at=0, open=["weights", 0, 0, 0], merges=3)
    after = put(state, "prompt", "JULIET:")
    assert after == SMALL.but(prompt="JULIET:")
    assert put(state, "prompt", state.prompt) == state


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_any_prompt_is_taken_as_it_is(prompt):
    assert put(SMALL, "prompt", prompt).prompt == prompt
    reply = act({"tab": "gpt", "lang": "ko", "state": SMALL.to_json(), "actions": [{"do": "set", "key": "prompt", "value": prompt}, {"do": "write"}]})  # fmt: skip
    assert not reply["notice"]
    assert reply["state"]["prompt"] == prompt
    assert len(reply["state"]["written"]) == 3


def test_a_prompt_of_a_thousand_characters_and_one_more():
    longest = "🎒" * MAX_PROMPT
    assert put(SMALL, "prompt", longest).prompt == longest
    error = refused(errors.TextLongError, SMALL, {"do": "set", "key": "prompt", "value": longest + "."})  # fmt: skip
    assert error.values == {"found": MAX_PROMPT + 1, "most": MAX_PROMPT}


def test_half_a_character_becomes_one_that_can_be_sent():
    assert put(SMALL, "prompt", f"a{HALF}b").prompt == "a?b"
    assert put(SMALL, "prompt", "a\r\nb").prompt == "a\nb"


def test_what_is_typed_is_never_a_command():
    tokenizer = models.checkpoint(SMALL.model).tokenizer
    state = put(SMALL, "prompt", "<|endoftext|>")
    assert len(text.ids_of(state)[0]) > 1
    assert tokenizer.decode(text.ids_of(state)[0]) == "<|endoftext|>"


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("temperature", "1,5", 1.5), ("temperature", " 0 ", 0.0), ("temperature", 2, 2.0), ("temperature", "1/2", 0.5),
        ("top_k", "40", 40), ("top_k", "0", 0), ("top_p", "0.9", 0.9), ("top_p", "90 %", 0.9), ("top_p", "1", 1.0),
        ("seed", "2147483647", 2**31 - 1), ("count", "400", 400), ("merges", "12", 12),
    ],
)  # fmt: skip
def test_a_setting_is_read_as_people_write_it(key, typed, value):
    after = put(SMALL.but(bad={f"set:{key}": "x"}), key, typed)
    assert after == SMALL.but(**{key: value})
    assert type(getattr(after, key)) is type(value)


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("temperature", "hot"), ("temperature", "-0.1"), ("temperature", "5.1"), ("temperature", ""), ("temperature", "nan"),
        ("temperature", "1e999"), ("temperature", "inf"), ("top_k", "2.5"), ("top_k", "-1"), ("top_k", "1e6"),
        ("top_p", "0"), ("top_p", "1.1"), ("seed", "2147483648"), ("seed", "x" * 500), ("seed", HALF), ("seed", "<b>"),
        ("count", "0"), ("count", "401"), ("count", "ten"), ("count", None), ("seed", []), ("seed", {"a": 1}),
    ],
)  # fmt: skip
def test_what_is_no_setting_stays_beside_its_message(key, typed):
    after = put(SMALL, key, typed)
    assert after.but(bad={}) == SMALL
    assert list(after.bad) == [f"set:{key}"]
    for lang, words in (("en", "stays in use"), ("ko", "그대로 씁니다")):
        reply = act({"tab": "gpt", "lang": lang, "state": after.to_json()})
        assert not reply["notice"]
        message = reply["html"].split('role="alert"')[1].split("</span>")[0]
        assert words in message
        assert f"{(NUMBERS.get(key) or RANGES[key])[1]:.10g}" in message  # not 2.14748e+09
        assert "<b>" not in message


def test_another_model_begins_anew_with_the_same_text():
    state = SMALL.but(written=[900], out_heads=[[3, 3]], layer=3, head=3, temperature=1.5, at=0)
    after = put(state, "model", "shakespeare")
    assert (after.model, after.prompt, after.temperature) == ("shakespeare", SMALL.prompt, 1.5)
    assert (after.written, after.out_heads, after.layer, after.at) == ([], [], 0, None)
    refused(errors.UnknownNameError, SMALL, {"do": "set", "key": "model", "value": "gpt2"})


def preset_named(name):
    return next(preset_state(p) for p in PRESETS if p.name == name)


def test_another_model_keeps_the_token_count_and_has_an_example():
    """What there is to try, and what Reset goes back to, fits the model that is chosen."""
    romeo = preset_named("romeo").but(count=7)
    for name, told in (("shakespeare-64", "romeo"), ("korean", "korean")):
        after = put(romeo, "model", name)
        assert (after.count, after.prompt) == (7, romeo.prompt)
        words = next(p.try_this("en") for p in PRESETS if p.name == told)
        assert words in act({"tab": "gpt", "lang": "en", "state": after.to_json()})["html"]
        assert do(after, "reset") == preset_named(told).but(model=name)
    there_and_back = put(put(romeo, "model", "korean"), "model", romeo.model)
    assert do(there_and_back, "reset") == preset_named("romeo")
    looking = put(preset_named("heads"), "model", "korean")
    assert do(looking, "reset") == preset_named("heads").but(model="korean")


@pytest.mark.parametrize("action", [{"do": "set", "key": k, "value": 1} for k in ("layer", "left", "written", "bad", "x", None)] + [{"do": "set"}, {"do": "set", "key": "seed"}, {"do": "set", "key": ["seed"], "value": 1}])  # fmt: skip
def test_what_no_field_sets_is_refused(action):
    refused(errors.ActionError, SMALL, action)


def test_sections():
    looked = put(SMALL.but(left=3, pins=[["weights", 0, 0, 0]]), "section", "heads")
    assert looked == SMALL.but(section="heads")
    refused(errors.LinkError, SMALL, {"do": "set", "key": "section", "value": "attic"})


# Looking


def test_heads_are_enlarged_left_out_and_put_back():
    assert do(SMALL, "head", layer=2, head=1) == SMALL.but(layer=2, head=1)
    out = do(do(SMALL, "leave_head", layer=2, head=1), "leave_head", layer=0, head=0)
    assert out.out_heads == [[2, 1], [0, 0]]
    assert do(out, "leave_head", layer=2, head=1).out_heads == [[0, 0]]
    blocks = do(do(out, "leave_block", layer=3), "leave_block", layer=1)
    assert do(blocks, "leave_block", layer=3).out_blocks == [1]
    assert do(blocks, "restore") == blocks.but(out_heads=[], out_blocks=[])
    for name in ("head", "leave_head"):
        for layer, head in ((4, 0), (0, 4), (-1, 0), ("x", 0), (None, 0)):
            refused(errors.ActionError, SMALL, {"do": name, "layer": layer, "head": head})
    for layer in (4, -1, "x", [1]):
        refused(errors.ActionError, SMALL, {"do": "leave_block", "layer": layer})


def test_cells_open_pin_and_close():
    cell = ["weights", 0, 1, 1]
    opened = do(SMALL.but(section="heads"), "open", cell=cell)
    assert opened.open == cell
    assert do(opened, "open", cell=cell).open is None
    pinned = do(opened, "pin")
    assert (pinned.open, pinned.pins) == (None, [cell])
    assert do(pinned, "pin") == pinned
    assert do(pinned, "unpin", index=0).pins == []
    full = pinned.but(pins=[["weights", 0, n, 0] for n in range(3)], open=cell)
    refused(errors.TooManyError, full, {"do": "pin"})
    refused(errors.LinkError, SMALL, {"do": "open", "cell": ["weights", 0, 0, 64]})
    refused(errors.ActionError, SMALL, {"do": "open"})


def test_presets_and_reset():
    for preset in PRESETS:
        if preset.state.model not in THERE:
            continue
        state = do(SMALL, "preset", name=preset.name)
        assert state == preset_state(preset)
        assert do(put(state, "prompt", "changed"), "reset") == state
    assert do(SMALL, "reset") == preset_state(PRESETS[0]).but(model=SMALL.model)
    refused(errors.ActionError, SMALL, {"do": "preset", "name": "nothing"})


def test_a_loaded_state_is_checked():
    assert do(SMALL, "load", state={"prompt": "x", "seed": 5}) == GptState(prompt="x", seed=5)
    writing = do(SMALL, "write")
    back = do(put(writing, "model", "shakespeare"), "load", state=writing.to_json())
    assert back == writing.but(left=0)  # undone, and at rest
    for junk in (None, [], {"tokens": ["a"]}, {"prompt": "x", "written": [10**6]}):
        refused(errors.LinkError, SMALL, {"do": "load", "state": junk})
    refused(errors.ActionError, SMALL, {"do": "load"})


def junk_action(rng):
    fields = ["key", "value", "at", "id", "layer", "head", "cell", "index", "name", "state"]
    likely = ["prompt", "seed", "model", "section", "heads", "shakespeare-64", 0, 1, 2, "5", ["weights", 0, 1, 1], 1e99]  # fmt: skip
    action = {f: rng.choice(likely if rng.random() < 0.6 else JUNK) for f in fields}
    for gone in rng.sample(fields, rng.choice([0, 0, 1, 4])):
        del action[gone]
    return {"do": rng.choice([*ACTIONS, *ACTIONS, rng.choice(JUNK)]), **action}


def test_any_action_is_done_or_refused_with_a_sentence():
    rng, done = random.Random(23), 0
    for n in range(1500):
        before = random_gpt_states()[n % 60]
        try:
            after = apply(before, junk_action(rng))
        except PlaygroundError as error:
            told = error.text("en"), error.text("ko")
        else:
            told, done = (), done + 1
            assert json.dumps(after.to_json(), ensure_ascii=False, allow_nan=False).encode()
        assert all(sentence.encode() for sentence in told)
    assert 300 < done < 1400


@pytest.mark.parametrize("action", [None, [], "write", 3, {}, {"do": None}, {"do": []}, {"do": "fly"}, {"do": "choose"}])  # fmt: skip
def test_what_is_no_action_is_refused(action):
    refused(errors.ActionError, SMALL, action)
