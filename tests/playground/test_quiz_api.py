"""/quizzes, /quiz and /grade, as any program calls them."""

from __future__ import annotations

import json
from types import SimpleNamespace

import gradio as gr
import pytest
from gradio_client import Client

from lessons.course import asked
from lessons.questions import made
from playground.api import check_arguments
from tests.playground.calls import call, post

KEYS = {"quiz_id", "seed", "kind", "ask", "choices"}


def test_all_questions_are_listed(client):
    found = call(client, "quizzes", "ko")
    assert [entry["quiz_id"] for entry in found] == list(asked())
    for entry in found:
        source = asked()[entry["quiz_id"]]
        assert entry == {
            "quiz_id": source.quiz_id,
            "station": source.station,
            "kind": source.kind,
            "generated": source.generated,
        }


def test_a_question_tells_nothing_of_its_answer(client):
    for source in asked().values():
        for lang in ("en", "ko"):
            found = call(client, "quiz", source.quiz_id, 4, lang)
            assert set(found) == KEYS
            assert all(set(choice) == {"value", "text"} for choice in found["choices"])
            assert found["ask"] == made(source, 4).ask(lang)
            for choice in source.choices:
                assert choice.why(lang) not in json.dumps(found, ensure_ascii=False)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_right_answers_and_mistakes_are_told_apart(client, lang):
    for source in asked().values():
        question = made(source, 9)
        answer = question.answer
        right = call(
            client,
            "grade",
            source.quiz_id,
            9,
            list(answer) if isinstance(answer, tuple) else answer,
            lang,
        )
        assert (right["correct"], right["mistake"]) == (True, None), source.quiz_id
        for name, wrong in question.mistakes.items():
            if source.kind in ("choices", "order"):
                continue
            graded = call(client, "grade", source.quiz_id, 9, wrong, lang)
            assert (graded["correct"], graded["mistake"]) == (False, name), source.quiz_id
            assert graded["feedback"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("quiz", ["no/such", 1, "en"], "There is no question"),
        ("quiz", ["no/such", 1, "ko"], "문제는 없습니다"),
        ("quiz", [7, 1, "en"], "quiz_id is 7"),
        ("quiz", [next(iter(asked())), -1, "en"], "seed is -1"),
        ("quiz", [next(iter(asked())), 1.5, "ko"], "seed 값이 1.5"),
        ("quiz", [next(iter(asked())), True, "en"], "seed is true"),
        ("quiz", [next(iter(asked())), 1, "fr"], 'lang is "fr"'),
        ("quizzes", [None], "lang is null"),
        ("grade", [next(iter(asked())), 1, None, "en"], "answer is null"),
        ("grade", [next(iter(asked())), 1, True, "ko"], "answer 값이 true"),
        ("grade", [next(iter(asked())), 1, [[1]], "en"], "answer is"),
        ("grade", [next(iter(asked())), 1, {"a": 1}, "en"], "holds an object"),
        ("grade", [next(iter(asked())), 1, "a"], "4"),
        ("grade", [next(iter(asked())), 1, "\ud800", "en"], "“?” is not among the answers"),
        ("grade", [next(iter(asked())), 1, ["\ud800", 2], "ko"], "답 가운데 없습니다"),
        ("quiz", ["\ud800", 1, "en"], "no question “?”"),
    ],
)
def test_a_wrong_call_is_answered_by_a_sentence_in_its_language(client, name, arguments, says):
    answer = post(client, name, arguments)
    assert answer.status_code == 422
    assert says in answer.json()["error"]


@pytest.mark.parametrize(("lang", "says"), [("en", "holds an object"), ("ko", "객체")])
def test_gradios_own_way_speaks_the_asked_language_too(lang, says):
    grade = SimpleNamespace(api_name="grade", inputs=[None] * 4)
    with pytest.raises(gr.Error, match=says):
        check_arguments(grade, [next(iter(asked())), 1, {"a": 1}, lang])


def test_gradio_client_fills_in_the_defaults(app_url):
    theirs = Client(app_url.url, verbose=False, analytics_enabled=False)
    try:
        quiz_id = next(iter(asked()))
        assert theirs.predict(quiz_id, api_name="/quiz")["quiz_id"] == quiz_id
        assert len(theirs.predict(api_name="/quizzes")) == len(asked())
        first = asked()[quiz_id].choices[0].value
        graded = theirs.predict(quiz_id, 1, first, api_name="/grade")
        assert set(graded) == {"correct", "feedback", "mistake"}
    finally:
        theirs.close()
