"""What comes to the lessons tab from outside: links, progress from the browser, foreign requests."""

from __future__ import annotations

import json

import pytest
from gradio.routes import ORJSONResponse

from lessons.progress import Progress
from model.errors import PlaygroundError
from playground.stage import act
from tests.playground.test_lessons import DAY, KINDS, NAMES, PANEL, at, replied


@pytest.mark.parametrize(
    "request_",
    [
        {"state": {"station": []}},
        {"state": {"station": {}}},
        {"state": {"station": NAMES[0], "section": "review"}, "actions": [{"do": "reply", "values": ["1"]}]},
        {"state": {"station": NAMES[0], "section": "review"}, "actions": [{"do": "move", "index": 0, "by": 1}]},
        {"actions": [{"do": "bring", "kept": {"done": {"\ud800": -1}, "again": {}}}]},
        {"actions": [{"do": "bring", "kept": {"done": {"a": "\ud800"}, "again": {}}}]},
        {"kept": {"today": "\ud800"}},
        {"kept": {"progress": {"done": {KINDS["choice"].quiz_id: 10**30}, "again": {}}}},
        {"state": {"station": NAMES[0], "answer": ["1"], "replied": True, "tries": 999, "section": "review", "quiz": KINDS["order"].quiz_id}},
    ],
)  # fmt: skip
def test_a_request_that_no_page_makes_is_answered(request_):
    for lang in ("en", "ko"):
        answer = act({"tab": "lessons", "lang": lang, **request_})
        assert 'class="pg course"' in answer["html"]
        ORJSONResponse(answer)  # it can be sent


def test_a_link_holds_no_progress():
    state = replied(at(KINDS["choice"].quiz_id), "no_such")
    kept = state.but(kept=Progress({KINDS["choice"].quiz_id: 1}, {}))
    assert "done" not in json.dumps(kept.to_json())
    assert PANEL.usable(kept.to_json()).kept == Progress()


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ({"station": "99_nowhere"}, "station"),
        ({"station": NAMES[0], "at": 99}, "at"),
        ({"station": NAMES[0], "seed": -1}, "seed"),
        ({"station": NAMES[0], "section": "cheat"}, "section"),
        ({"station": NAMES[0], "answer": "a"}, "answer"),
        ({"station": NAMES[0], "answer": ["a" * 500]}, "answer"),
        ({"station": NAMES[0], "quiz": "no/such"}, "quiz"),
        ({"station": NAMES[0], "tried": "no_such"}, "tried"),
        ({"station": NAMES[0], "panel": {"tokens": 3}}, ""),
    ],
)
def test_a_foreign_state_is_refused(found, where):
    with pytest.raises(PlaygroundError) as caught:
        PANEL.usable(found)
    assert where in caught.value.text("ko")


def test_progress_travels_beside_the_state_and_survives_a_broken_one():
    source = KINDS["choice"]
    kept = {"progress": {"done": {source.quiz_id: 2}, "again": {}}, "today": DAY}
    request = {"tab": "lessons", "lang": "en", "state": None, "kept": kept, "actions": []}
    assert act(request)["kept"]["done"] == {source.quiz_id: 2}
    broken = act(request | {"kept": {"progress": {"done": 3}, "today": DAY}})
    assert "learner" in broken["notice"]
    brought = act(
        request | {"actions": [{"do": "bring", "kept": {"done": {source.quiz_id: 5}, "again": {}}}]}
    )
    assert brought["kept"]["done"] == {source.quiz_id: 5}
    refused = act(request | {"actions": [{"do": "bring", "kept": "text"}]})
    assert refused["notice"]
    assert refused["kept"]["done"] == {source.quiz_id: 2}
    assert act(request | {"actions": [{"do": "forget"}]})["kept"] == {"done": {}, "again": {}}


def test_what_cannot_be_read_is_not_overwritten():
    """The page keeps what it is sent: nothing is sent until a file or the learner replaces it."""
    source = KINDS["choice"]
    request = {"tab": "lessons", "lang": "ko", "kept": {"progress": {"done": 3}, "today": DAY}}
    answer = act(request | {"actions": [{"do": "show", "name": "words"}]})
    assert "학습 기록" in answer["notice"]
    assert "kept" not in answer
    refused = {"do": "bring", "kept": "text"}
    assert "kept" not in act(request | {"actions": [refused]})
    brought = {"do": "bring", "kept": {"done": {source.quiz_id: 5}, "again": {}}}
    assert act(request | {"actions": [brought, refused]})["kept"] == brought["kept"]
    assert act(request | {"actions": [{"do": "forget"}]})["kept"] == {"done": {}, "again": {}}
