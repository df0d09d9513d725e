"""The GPT tab's state as JSON: the same state back, and a sentence for everything that is no state."""

from __future__ import annotations

import copy
import json
import random
from functools import cache

import pytest

from model.checkpoint import NAMES, SHIPPED, load_checkpoint
from model.errors import CheckpointFileError, PlaygroundError
from playground import models
from playground.gpt.presets import PRESETS, preset_state
from playground.gpt.state import MAX_PROMPT, MAX_WRITTEN, SECTIONS, GptState, from_json
from playground.input_errors import LinkError, UnknownNameError
from playground.stage import act
from tests.model.small import with_theirs
from tests.playground.test_state import HALF, JUNK, nested, sentences

THERE = [name for name in NAMES if (SHIPPED / name / "model.safetensors").is_file()]
V = models.checkpoint("shakespeare-64").gpt.config.vocab_size
PROMPTS = [
    "",
    " ",
    "\n\n",
    "ROMEO:\n",
    "오늘은 학교에 간다.",
    "Hello, 세계! 🎒",
    "👩‍👩‍👧❤️",
    "\u1112\u1161",  # half a syllable
    "مرحبا \u202eright to left\u202c שלום",
    "\x00\x07\x1b[31m\u2028\x7f",
    "<|endoftext|>",
    "<script>alert('x')</script>&amp;\"</textarea>",
    "{n} ${value.html} {{x}} %s",
    "e\u0301 ﷽ \ufeff",
]
CELLS = [["weights", 0, 1, 1], ["candidates", 0, 2, 3], ["norms", 0, 1, 0], ["q", 1, 0, 0], ["no", 5, 63, 63]]  # fmt: skip


@cache
def random_gpt_states(count: int = 60, model: str = "shakespeare-64") -> tuple[GptState, ...]:
    """Texts and settings as a person could have made them, always the same."""
    rng = random.Random(f"{model} {count}")
    config = models.checkpoint(model).gpt.config
    heads = [[a, b] for a in range(config.n_layer) for b in range(config.n_head)]
    found = []
    for n in range(count):
        written = [rng.randrange(config.vocab_size) for _ in range(rng.choice([0, 0, 1, 5, 30]))]
        found.append(
            GptState(
                model=model,
                prompt=rng.choice(PROMPTS),
                written=written,
                left=rng.choice([0, 0, 3, 40]),
                count=rng.randrange(1, 401),
                temperature=rng.choice([0.0, 0.5, 0.8, 1.0, 5.0, 1e-300]),
                top_k=rng.choice([0, 1, 5, 100_000]),
                top_p=rng.choice([1.0, 0.9, 0.01]),
                seed=rng.randrange(2**31),
                section=SECTIONS[n % len(SECTIONS)],
                at=rng.randrange(len(written)) if written and rng.random() < 0.5 else None,
                layer=rng.randrange(config.n_layer),
                head=rng.randrange(config.n_head),
                open=rng.choice([None, *CELLS]),
                pins=rng.sample(CELLS, rng.randrange(4)),
                out_heads=rng.sample(heads, rng.choice([0, 0, 1, 3])),
                out_blocks=rng.sample(range(config.n_layer), rng.choice([0, 0, 1])),
                merges=rng.choice([None, 0, 1, 7, 9999]),
                measured=rng.choice([None, [1234.5, 99.75, 128]]),
                bad=rng.choice([{}, {"set:seed": "x<b>"}, {"set:top_p": "1,234"}]),
            )
        )
    return tuple(found)


def test_random_states_come_back_through_json():
    for state in random_gpt_states():
        assert from_json(json.loads(json.dumps(state.to_json(), allow_nan=False))) == state


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_a_preset_comes_back_and_is_short(preset):
    state = preset_state(preset)
    text = json.dumps(state.to_json())
    assert len(text) < 400
    if state.model in THERE:
        assert from_json(json.loads(text)) == state


def test_a_fresh_state_is_its_prompt_alone():
    assert GptState().to_json() == {"prompt": "ROMEO:"}
    assert from_json({"prompt": "ROMEO:", "unknown": [1]}) == GptState()


def test_numbers_that_lost_their_point_on_the_way_are_the_same():
    """JavaScript writes 1.0 as 1."""
    state = from_json({"prompt": "", "temperature": 1, "top_p": 1})
    assert state == GptState(prompt="", temperature=1.0)
    assert "top_p" not in state.to_json()


OFTEN = {"model": "shakespeare-64", "prompt": "ROMEO:"}


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"prompt": None}, "prompt"), ({"prompt": 3}, "prompt"), ({"prompt": HALF}, "prompt"),
        ({"prompt": "a" * (MAX_PROMPT + 1)}, "prompt"), ({"prompt": ["a"]}, "prompt"),
        ({"model": None}, "model"), ({"model": "x" * 201}, "model"), ({"model": HALF}, "model"), ({"model": ["shakespeare"]}, "model"),
        ({"written": None}, "written"), ({"written": "abc"}, "written"), ({"written": [0.5]}, "written"),
        ({"written": [True]}, "written"), ({"written": [-1]}, "written"), ({"written": [V]}, "written"),
        ({"written": [0, 10**6 + 1]}, "written"), ({"written": [10**400]}, "written"), ({"written": [None]}, "written"),
        ({"written": [0] * (MAX_WRITTEN + 1)}, "written"), ({"written": [[0]]}, "written"), ({"written": ["0"]}, "written"),
        ({"left": -1}, "left"), ({"left": MAX_WRITTEN + 1}, "left"), ({"left": 0.5}, "left"), ({"left": True}, "left"),
        ({"count": 0}, "count"), ({"count": 401}, "count"), ({"count": "40"}, "count"), ({"count": None}, "count"),
        ({"temperature": -0.1}, "temperature"), ({"temperature": 5.01}, "temperature"), ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"), ({"temperature": "1"}, "temperature"), ({"temperature": True}, "temperature"),
        ({"temperature": 10**400}, "temperature"), ({"temperature": [1]}, "temperature"),
        ({"top_k": -1}, "top_k"), ({"top_k": 1.5}, "top_k"), ({"top_k": 100_001}, "top_k"), ({"top_k": 10**400}, "top_k"),
        ({"top_p": 0}, "top_p"), ({"top_p": 1.01}, "top_p"), ({"top_p": None}, "top_p"), ({"top_p": float("nan")}, "top_p"),
        ({"seed": -1}, "seed"), ({"seed": 2**31}, "seed"), ({"seed": 1e3}, "seed"), ({"seed": False}, "seed"),
        ({"section": "wirte"}, "section"), ({"section": None}, "section"), ({"section": []}, "section"), ({"section": {}}, "section"),
        ({"at": -1}, "at"), ({"at": 401}, "at"), ({"at": 1.0}, "at"), ({"at": "0"}, "at"), ({"at": True}, "at"),
        ({"layer": -1}, "layer"), ({"layer": 1000}, "layer"), ({"layer": "0"}, "layer"), ({"head": 0.0}, "head"), ({"head": None}, "head"),
        ({"open": "weights"}, "open"), ({"open": ["weights", 0, 0]}, "open"), ({"open": ["weights", 0, 0, 64]}, "open"), ({"open": [0, 0, 0, 0]}, "open"),
        ({"pins": None}, "pins"), ({"pins": [["weights", 0, 0, 0]] * 4}, "pins"), ({"pins": [None]}, "pins"),
        ({"out_heads": None}, "out_heads"), ({"out_heads": [[0]]}, "out_heads"), ({"out_heads": [[0, 0, 0]]}, "out_heads"),
        ({"out_heads": [[0, -1]]}, "out_heads"), ({"out_heads": [[0, "1"]]}, "out_heads"), ({"out_heads": [0]}, "out_heads"),
        ({"out_heads": [[0, 0]] * 1000}, "out_heads"), ({"out_heads": ["ab"]}, "out_heads"),
        ({"out_blocks": {}}, "out_blocks"), ({"out_blocks": [-1]}, "out_blocks"), ({"out_blocks": [[0]]}, "out_blocks"), ({"out_blocks": [0] * 1000}, "out_blocks"),
        ({"merges": -1}, "merges"), ({"merges": 10_000}, "merges"), ({"merges": 2.0}, "merges"), ({"measured": 1}, "measured"), ({"measured": [1, 2]}, "measured"),
        ({"measured": [1, 0, 9]}, "measured"), ({"measured": [1, "2", 9]}, "measured"), ({"measured": [1, 10**400, 9]}, "measured"), ({"measured": [1, float("nan"), 9]}, "measured"),
        ({"preset": None}, "preset"), ({"preset": "x" * 201}, "preset"), ({"bad": []}, "bad"), ({"bad": {"a": 1}}, "bad"),
        ({"bad": {"a": "x" * 201}}, "bad"), ({"bad": {str(n): "" for n in range(17)}}, "bad"), ({"bad": {HALF: ""}}, "bad"),
    ],
)  # fmt: skip
def test_what_is_no_state_is_refused_by_a_sentence_that_says_where(wrong, where):
    assert_refused({**OFTEN, **wrong}, where)


@pytest.mark.parametrize("found", [None, [], "x", 3, {}, {"written": []}, [["prompt", "x"]]])
def test_what_has_no_prompt_is_some_other_file(found):
    assert_refused(found, "prompt")


def assert_refused(found, where):
    with pytest.raises(LinkError) as refusal:
        from_json(found)
    assert refusal.value.values["where"] == where
    for sentence in sentences(refusal.value):
        assert where in sentence
        assert sentence.encode()


def test_the_base_of_those_cases_is_right():
    assert from_json({**OFTEN, "written": [V - 1]}) == GptState(**OFTEN, written=[V - 1])
    most = {"prompt": "가" * MAX_PROMPT, "written": [0] * MAX_WRITTEN, "temperature": 5, "top_p": 0.01}  # fmt: skip
    assert len(from_json(OFTEN | most).written) == MAX_WRITTEN


@pytest.mark.parametrize(
    "name", ["", "gpt2", "../shakespeare", "/etc/passwd", "Shakespeare", "<b>"]
)
def test_an_unknown_model_is_refused_and_those_there_are_named(name):
    """No folder is ever looked up by a name from a link; `gpt2` is a tokenizer alone."""
    with pytest.raises(UnknownNameError) as refusal:
        from_json({"prompt": "", "model": name})
    for sentence in sentences(refusal.value):
        assert "shakespeare | shakespeare-64" in sentence


def test_a_model_of_another_vocabulary_is_refused_also_from_the_hub(tmp_path, monkeypatch):
    """Its files as they were fetched; its tokens would have no rows in the model."""
    monkeypatch.setenv("ATTENTION_PLAYGROUND_CACHE", str(tmp_path))
    korean = models.checkpoint("korean").tokenizer
    n = korean.n_vocab
    monkeypatch.setattr(models, "gpt2_tokenizer", lambda: korean)
    for vocab_size in (11, n):
        _, theirs = with_theirs(vocab_size=vocab_size)
        theirs.save_pretrained(tmp_path / f"someone--tiny{vocab_size}")
    with pytest.raises(CheckpointFileError) as refusal:
        models.add_own("someone/tiny11")
    for sentence in sentences(refusal.value):
        assert f"{n} tokens ≠ vocab_size 11" in sentence
    assert models.own == {}
    assert models.add_own(f"someone/tiny{n}") == f"tiny{n}"
    del models.own[f"tiny{n}"]


def test_places_that_a_smaller_model_does_not_have_are_brought_inside():
    """A link made with a larger model of one's own."""
    found = from_json(
        {**OFTEN, "layer": 99, "head": 999, "at": 3, "written": [1, 2], "out_heads": [[0, 1], [50, 0], [0, 50]], "out_blocks": [1, 99]}
    )  # fmt: skip
    config = models.checkpoint("shakespeare-64").gpt.config
    assert (found.layer, found.head, found.at) == (config.n_layer - 1, config.n_head - 1, None)
    assert (found.out_heads, found.out_blocks) == ([[0, 1]], [1])


@pytest.fixture
def without_korean(tmp_path, monkeypatch):
    """A copy of the project whose Korean model has not been trained."""
    for name in NAMES[:2]:
        (tmp_path / name).symlink_to(SHIPPED / name)
    monkeypatch.setattr("model.checkpoint.SHIPPED", tmp_path)
    monkeypatch.setattr(models, "shipped", cache(load_checkpoint))


@pytest.mark.usefixtures("without_korean")
@pytest.mark.parametrize(("lang", "told"), [("en", "There is no checkpoint korean"), ("ko", "체크포인트 korean")])  # fmt: skip
def test_a_model_that_is_not_there_gives_a_sentence(lang, told):
    """From a link, from the list of models, from a preset: the page stays whole."""
    ask = {"tab": "gpt", "lang": lang}
    for asked in (
        {"state": {"prompt": "x", "model": "korean"}},
        {"state": {"prompt": "x"}, "actions": [{"do": "set", "key": "model", "value": "korean"}]},
        {"actions": [{"do": "preset", "name": "korean"}]},
    ):
        reply = act(ask | asked)
        assert told in reply["notice"]
        assert 'class="notice"' in reply["html"]
        assert reply["state"].get("model", "shakespeare") == "shakespeare"
    tokens = act(ask | {"state": {"prompt": "x", "section": "tokens"}})
    assert told in tokens["html"]  # in the place of its row
    assert not tokens["notice"]


# Whatever stands in a link


def fuzzed(count: int) -> list:
    """States with one part replaced by junk, in any field or deep inside."""
    rng, fields = random.Random(17), list(GptState().__dict__)
    junk = [*JUNK, [V], [[0, 0], [0]], [10**400], ["candidates", 0, 63, 63], "gpt2", "korean2"]
    found = []
    for n in range(count):
        state = rng.choice(random_gpt_states()).to_json()
        part = junk[n % len(junk)]
        if n % 3:
            state[rng.choice(fields)] = copy.deepcopy(part)
        else:
            state = nested(rng, state, part)
        found.append(state)
    return found


def tried(found):
    """(state, []) or (None, the sentences of the refusal)."""
    try:
        return from_json(found), []
    except PlaygroundError as error:
        return None, sentences(error)


def test_junk_in_any_field_gives_a_state_or_a_sentence():
    refused, count = 0, 2000
    for found in fuzzed(count):
        state, told = tried(found)
        refused += state is None
        assert all(sentence.encode() for sentence in told)
        if state is not None:
            assert from_json(state.to_json()) == state
            assert json.dumps(state.to_json(), ensure_ascii=False, allow_nan=False).encode()
    assert 100 < count - refused < 0.7 * count  # both happen


def test_what_is_let_through_can_be_shown(monkeypatch):
    """Any link: html that can be sent, and the state comes back as it is without a word."""
    monkeypatch.setattr("playground.gpt.timing.TOKENS", 2)
    monkeypatch.setattr(models, "gpt2", lambda: models.checkpoint("shakespeare-64").tokenizer)
    through = [state for found in fuzzed(2000) if (state := tried(found)[0]) is not None]
    for n, state in enumerate([*random_gpt_states(), *through[:60]]):
        reply = act({"tab": "gpt", "lang": ("en", "ko")[n % 2], "state": state.to_json()})
        assert not reply["notice"]
        assert reply["state"] == state.to_json()
        assert reply["html"].startswith('<div class="pg gpt"')
        assert json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_a_request_of_junk_is_answered(junk):
    for key in ("lang", "state", "actions"):
        reply = act({"tab": "gpt", key: junk})
        assert reply["html"].startswith('<div class="pg gpt"')
        assert json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()
