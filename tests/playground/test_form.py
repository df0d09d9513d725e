"""What every tab made of a form can do, on a small one."""

from __future__ import annotations

import json

import pytest

from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import stage
from playground.panel import panels
from playground.stage import act
from tests.playground.html_tree import read
from tests.playground.small_form import PANEL, QUEUE, SmallState


def do(state, name, /, **fields):
    return PANEL.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


FRESH = PANEL.default


def test_a_state_comes_back_from_json_and_says_only_what_is_not_usual():
    state = SmallState(rate=0.5, open=["twice", 0, 1, 1], bad={"set:count": "x"})
    found = json.loads(json.dumps(state.to_json()))
    assert set(found) == {"rate", "open", "bad"}
    assert PANEL.usable(found) == state
    assert PANEL.usable({}) == SmallState()


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ("text", "state"),
        ([], "state"),
        ({"prompt": "of another tab"}, "prompt"),
        ({"rate": 2}, "rate"),
        ({"rate": "0.5"}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"count": 2.5}, "count"),
        ({"count": True}, "count"),
        ({"kind": "sideways"}, "kind"),
        ({"kind": ["up"]}, "kind"),
        ({"on": 1}, "on"),
        ({"words": "x" * 21}, "words"),
        ({"words": 5}, "words"),
        ({"tokens": []}, "tokens"),
        ({"tokens": [" "]}, "tokens"),
        ({"tokens": "ab"}, "tokens"),
        ({"vectors": [[1.0], [2.0, 3.0]]}, "vectors"),
        ({"vectors": [[1.0]] * 4}, "vectors"),
        ({"vectors": [["1"]]}, "vectors"),
        ({"step": 6}, "step"),
        ({"section": "third"}, "section"),
        ({"section": ["first"]}, "section"),
        ({"section": {}}, "section"),
        ({"open": ["twice", 0, 0]}, "open"),
        ({"pins": [["twice", 0, 0, 0]] * 4}, "pins"),
        ({"bad": {"set:rate": 5}}, "bad"),
        ({"running": "yes"}, "running"),
        ({"place": -1}, "place"),
        ({"ticket": 5}, "ticket"),
        ({"preset": "x" * 65}, "preset"),
    ],
)
def test_what_a_link_cannot_hold_is_refused_with_its_place(found, where):
    with pytest.raises(errors.LinkError) as refused:
        PANEL.usable(found)
    assert where in refused.value.text("en")
    assert where in refused.value.text("ko")


def test_settings_are_set_and_what_follows_from_one_follows():
    state = do(FRESH.but(running=True, ticket="1"), "more")
    assert state.step == 1
    assert set_(state, "count", "7").count == 7
    assert set_(state, "count", "7").step == 1
    assert set_(state, "rate", "0,25").rate == 0.25  # a decimal comma
    assert set_(state, "rate", "0.25").step == 0
    assert set_(state, "kind", "down").kind == "down"
    assert set_(state, "on", False).on is False
    assert set_(state, "words", "a\r\nb").words == "a\nb"
    assert set_(state, "section", "second").open is None
    QUEUE.leave("1")


@pytest.mark.parametrize(
    ("key", "text"),
    [("rate", "2"), ("rate", "abc"), ("rate", ""), ("count", "2.5"), ("count", "0")],
)
def test_a_number_that_cannot_be_used_stays_with_its_message(key, text):
    state = set_(FRESH, key, text)
    assert getattr(state, key) == getattr(FRESH, key)
    for lang in ("en", "ko"):
        page = read(PANEL.view(state, lang))
        (field,) = [i for i in page.all("input") if i.attributes.get("data-set") == key]
        assert field.attributes["value"] == text
        assert field.attributes["aria-invalid"] == "true"
        assert [e.attributes["role"] for e in page.all("span", "msg")] == ["alert"]
    assert set_(state, key, "1").bad == {}


@pytest.mark.parametrize(
    "action",
    [
        None,
        {"do": "fly"},
        {"do": ["set"]},
        {"do": "set"},
        {"do": "set", "key": "nothing", "value": 1},
        {"do": "set", "key": "step", "value": 1},
        {"do": "set", "key": "kind", "value": "sideways"},
        {"do": "set", "key": "words", "value": "x" * 21},
        {"do": "cell", "matrix": "twice", "row": 0, "col": 0, "text": "1"},
        {"do": "cell", "matrix": "rate", "row": 0, "col": 0, "text": "1"},
        {"do": "cell", "matrix": "vectors", "row": 5, "col": 0, "text": "1"},
        {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": " "},
        {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": "1 2 3"},
        {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": "1 x"},
        {"do": "token", "index": 9, "text": "a"},
        {"do": "token", "index": 0, "text": ""},
        {"do": "token", "index": 0, "text": "x" * 25},
        {"do": "remove", "index": 2},
        {"do": "width", "by": -2},
        {"do": "width", "by": 2},
        {"do": "open", "cell": "A1"},
        {"do": "preset", "name": "three"},
        {"do": "load", "state": {"rate": 9}},
        {"do": "start"},
        {"do": "start", "seed": 10**64},  # a ticket that no link could bring back
        {"do": "more", "seed": "x"},
    ],
)
def test_what_no_button_asks_is_refused_in_both_languages(action):
    with pytest.raises(PlaygroundError) as refused:
        PANEL.apply(FRESH, action)
    assert refused.value.text("en") != refused.value.text("ko")


@pytest.mark.parametrize("name", ["encoder-decoder", "positions"])
@pytest.mark.parametrize(
    "action",
    [
        {"do": "add"},
        {"do": "width", "by": 1},
        {"do": "remove", "index": 0},
        {"do": "token", "index": 0, "text": "a"},
    ],
    ids=lambda action: action["do"],
)
def test_where_no_tokens_are_typed_none_come_or_go(name, action):
    reply = act({"tab": name, "lang": "en", "actions": [action]})
    assert action["do"] in reply["notice"]
    assert reply["state"] == panels()[name].default.to_json()


def test_cells_are_typed_pasted_and_kept_when_they_are_no_number():
    state = do(FRESH, "cell", matrix="vectors", row=0, col=1, text="−2.5")
    assert state.vectors == [[1.0, -2.5], [3.0, 4.0]]
    wrong = do(state, "cell", matrix="vectors", row=0, col=1, text="two")
    assert wrong.vectors == state.vectors
    assert "two" in PANEL.view(wrong, "en")
    pasted = do(wrong, "paste", matrix="vectors", row=0, col=0, text="1\t2\n3\t4")
    assert pasted.vectors == [[1.0, 2.0], [3.0, 4.0]]
    assert pasted.bad == {}


def test_tokens_come_and_go():
    state = do(do(FRESH, "add"), "width", by=1)
    assert state.tokens == ["a", "b", "t3"]
    assert state.vectors == [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 0.0]]
    with pytest.raises(errors.TooManyError):
        do(state, "add")
    state = do(do(state, "remove", index=0), "token", index=0, text="first")
    assert state.tokens == ["first", "t3"]
    with pytest.raises(errors.TooFewError):
        do(do(state, "remove", index=0), "remove", index=0)


def test_a_cell_opens_to_its_sum_and_is_pinned():
    page = PANEL.view(FRESH, "en")
    assert FRESH.open == ["twice", 0, 0, 1]
    assert "× 2" in page
    assert "<b>4.0000</b>" in page
    state = do(FRESH, "pin")
    assert (state.open, state.pins) == (None, [["twice", 0, 0, 1]])
    state = do(state, "open", cell=["twice", 0, 1, 1])
    assert PANEL.view(state, "en").count('class="glass"') == 2
    assert do(do(state, "unpin", index=0), "open", cell=["twice", 0, 1, 1]).open is None


def test_work_goes_on_by_itself_until_it_is_done_and_can_be_stopped():
    state = do(FRESH, "start", seed=5)
    assert (state.step, state.running, state.ticket) == (1, True, "5")
    assert "data-more" in PANEL.view(state, "en")
    assert do(state, "stop").running is False
    assert do(do(state, "stop"), "more").step == 1
    waiting = do(FRESH, "start", seed=6)  # one works at a time here
    assert (waiting.step, waiting.place) == (0, 1)
    assert 'data-wait="' in PANEL.view(waiting, "ko")
    while state.running:
        state = do(state, "more")
    assert state.step == 5
    assert "data-more" not in PANEL.view(state, "en")
    assert do(waiting, "more").place == 0
    QUEUE.leave("6")


def test_each_page_stands_in_the_queue_by_its_own_ticket():
    """Also where two pages show the same state: one opened the other's link."""
    shared = do(FRESH, "start", seed=5)
    assert do(shared, "more", seed=7).ticket == "7"
    assert do(shared, "more", seed=7).place == 1  # one works at a time here, and 5 is at it
    assert do(shared, "more", seed=5).place == 0
    QUEUE.leave("5")
    QUEUE.leave("7")


def test_what_was_under_way_does_not_begin_anew_when_undone():
    state = do(FRESH, "start", seed=5)
    QUEUE.leave("5")
    back = do(set_(state, "count", 3), "load", state=state.to_json())
    assert back == state.but(running=False, ticket="")


def test_one_request_works_no_longer_than_a_turn(monkeypatch):
    monkeypatch.setattr(stage, "panels", lambda: {"small": PANEL})
    asked = {"tab": "small", "lang": "en", "actions": [{"do": "start", "seed": 5}]}
    asked["actions"] += [{"do": "more"}, {"do": "more"}, {"do": "set", "key": "count", "value": 4}]
    for seconds, step in ((0.0, 1), (60.0, 3)):
        monkeypatch.setattr(stage, "SECONDS", seconds)
        found = act(asked)["state"]
        assert (found["step"], found["count"], found["running"]) == (step, 4, True)
        QUEUE.leave("5")


def test_examples_sections_reset_and_own_actions():
    state = do(FRESH, "preset", name="two")
    assert (state.section, state.count, state.preset) == ("second", 4, "two")
    assert "Try two" in PANEL.view(state, "en")
    assert "Try one" in PANEL.view(set_(state, "section", "first"), "en")
    assert do(set_(state, "count", 9), "reset") == state
    assert do(FRESH.but(step=3), "fresh").step == 0
    assert do(FRESH, "load", state={"count": 2}).count == 2


def test_controls_are_labelled_and_hidden_groups_are_not_there():
    for lang in ("en", "ko"):
        page = read(PANEL.view(FRESH, lang))
        labels = [set(map(id, label.all())) for label in page.all("label")]
        for control in [*page.all("select"), *page.all("textarea"), *page.all("input")]:
            labelled = any(id(control) in inside for inside in labels)
            assert labelled or "aria-label" in control.attributes
    assert 'data-set="kind"' not in PANEL.view(FRESH.but(on=False), "en")


def test_a_matrix_as_a_file_has_its_labels():
    assert PANEL.csv(FRESH, "en", "twice", 0) == [["a", 2.0, 4.0], ["b", 6.0, 8.0]]
    assert PANEL.csv(FRESH, "en", "nothing", 0) == []
