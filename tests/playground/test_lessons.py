"""The lessons tab: its state, what a learner can do, and what the page shows."""

from __future__ import annotations

import importlib
import json
import re

import pytest

from lessons.course import asked, stations
from lessons.progress import Progress
from lessons.questions import made
from playground.panel import panels
from playground.stage import act, table

PANEL = panels()["lessons"]
DAY = "2026-03-01"
NAMES = list(stations())
KINDS = {q.kind: q for q in asked().values()}


def at(quiz_id):
    """The state in which a question is asked."""
    source = asked()[quiz_id]
    state = PANEL.apply(PANEL.default.but(today=DAY), {"do": "go", "station": source.station})
    index = [q.quiz_id for q in state.lesson.questions].index(quiz_id)
    return PANEL.apply(state, {"do": "ask_at", "index": index})


def replied(state, *values):
    return PANEL.apply(state, {"do": "reply", "values": list(values)})


def right_values(question):
    answer = question.answer
    return list(answer) if isinstance(answer, tuple) else [str(answer)]


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", NAMES)
def test_a_station_shows_its_text_its_panel_and_a_question(name, lang):
    state = PANEL.apply(PANEL.default, {"do": "go", "station": name})
    station = stations()[name]
    assert station.text(lang).strip() in PANEL.text(state, lang)
    html = PANEL.view(state, lang)
    assert f'data-tab="{state.chosen.tab}"' in html
    assert 'class="ask"' in html
    assert 'aria-current="step"' in html


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_answer_is_praised_and_kept(kind):
    state = at(KINDS[kind].quiz_id)
    question = state.question
    if kind == "order":
        state = state.but(answer=right_values(question))
    state = replied(state, *right_values(question))
    assert state.kept.done == {question.quiz_id: 1}
    assert 'class="said fb ok"' in PANEL.view(state, "ko")


def test_no_answer_is_on_the_page_before_it_is_given():
    for source in asked().values():
        if not source.generated:
            continue
        state = at(source.quiz_id)
        html = re.sub(r'<div class="pg( form| gpt)?" .*', "", PANEL.view(state, "en"), flags=re.S)
        question = state.question
        assert question.worked.en not in html
        if isinstance(question.answer, float):
            asked_for = re.findall(r"[-−]?\d+\.\d+", question.ask.en)
            given = f"{question.answer:.4f}"
            assert given not in html or given in asked_for
    assert "worked" not in json.dumps(act({"tab": "lessons", "lang": "en"}))


def test_a_mistake_is_named_and_comes_again_in_the_review():
    source = next(q for q in asked().values() if q.generated and q.kind in ("number", "cell"))
    state = at(source.quiz_id)
    name, wrong = next(iter(state.question.mistakes.items()))
    state = replied(state, f"{wrong:.2f}")
    assert state.kept.due(DAY) == [name]
    assert "(1)" in PANEL.view(state, "en")
    state = PANEL.apply(state, {"do": "show", "name": "review", "seed": 5})
    assert name in state.question.mistakes
    state = replied(state, str(state.question.answer))
    assert state.kept.due(DAY) == []
    assert 'class="said fb ok"' in PANEL.view(state, "en")
    later = PANEL.apply(state.but(today="2026-03-02"), {"do": "next_review", "seed": 6})
    later = replied(later, str(later.question.answer))
    assert later.kept.again == {}
    assert 'class="said fb ok"' in PANEL.view(later, "en"), "what was answered stays in view"


def test_trying_in_the_review_until_it_fits_is_not_knowing():
    source = next(q for q in asked().values() if q.kind == "choice")
    wrong = next(c.value for c in source.choices if not c.right)
    state = replied(at(source.quiz_id), wrong)
    state = PANEL.apply(state, {"do": "show", "name": "review", "seed": 5})
    state = replied(state, wrong)
    state = replied(state, made(source, 1).answer)
    assert len(state.kept.due(DAY)) == 1


def test_an_answer_that_cannot_be_read_costs_nothing():
    source = KINDS["number"]
    state = replied(at(source.quiz_id), "about half")
    assert state.tries == 0
    assert state.kept == Progress()
    assert "about half" in PANEL.view(state, "en")
    assert state.answer == ["about half"]


def test_an_unknown_number_shows_the_solution_the_second_time():
    source = KINDS["number"]
    state = at(source.quiz_id)
    far = str(state.question.answer + 1000)
    once = replied(state, far)
    line = state.question.worked.en.splitlines()[0]
    assert line not in PANEL.view(once, "en")
    twice = replied(once, far + "1")
    assert line in PANEL.view(twice, "en").replace("&#x27;", "'")


@pytest.mark.parametrize("kind", ["number", "choice", "choices", "shape", "line", "order"])
def test_the_same_answer_sent_twice_is_one_try(kind):
    """As Enter pressed twice sends it; the page also tells once more what is in the field."""
    state = at(KINDS[kind].quiz_id)
    values = ["1000000"]
    if kind not in ("number", "shape"):
        values = [next(c.value for c in state.question.choices if not c.right)]
    once = replied(state, *values)
    assert once.tries == 1
    assert replied(once, *values) == once
    assert kind == "order" or PANEL.apply(once, {"do": "draft", "values": values}) == once
    assert not PANEL.apply(once, {"do": "draft", "values": [*values, "2"]}).replied


def test_an_order_moved_into_place_is_right():
    """The page sends no values with it: its buttons have moved the steps already."""
    state = at(KINDS["order"].quiz_id)
    for to, value in enumerate(state.question.answer):
        while (now := state.answer.index(value)) > to:
            state = PANEL.apply(state, {"do": "move", "index": now, "by": -1})
    state = replied(state)
    assert state.kept.done == {state.question.quiz_id: 1}


def test_no_action_takes_the_name_of_one_of_a_panel_beside():
    from playground import actions, gpt
    from playground.course.actions import ACTIONS

    importlib.import_module("playground.gpt.actions")
    beside = {*actions.ACTIONS, *gpt.actions.ACTIONS}
    assert set(ACTIONS) & beside == {"load"}


def test_a_candidate_of_the_gpt_beside_can_be_taken():
    state = next(
        PANEL.apply(PANEL.default, {"do": "go", "station": station.name}).but(tried=t.name)
        for station in stations().values()
        for t in station.tries
        if t.tab == "gpt"
    )
    taken = PANEL.apply(state, {"do": "choose", "at": 0, "id": 5})
    assert taken.shown.written == [5]


def test_the_glossary_leads_back_to_the_question_that_was_left():
    source = KINDS["number"]
    state = PANEL.apply(at(source.quiz_id), {"do": "another", "seed": 7})
    state = PANEL.apply(state, {"do": "draft", "values": ["0.4"]})
    away = PANEL.apply(state, {"do": "show", "name": "words"})
    assert 'class="ask"' not in PANEL.view(away, "en")
    assert PANEL.apply(away, {"do": "show", "name": "station"}) == state


def test_steps_are_moved_by_buttons():
    state = at(KINDS["order"].quiz_id)
    before = [c.value for c in state.question.choices]
    moved = PANEL.apply(state, {"do": "move", "index": 0, "by": 1})
    assert moved.answer == [before[1], before[0], *before[2:]]
    assert PANEL.apply(moved, {"do": "move", "index": 0, "by": -1}) == moved
    back = PANEL.apply(moved, {"do": "move", "index": 1, "by": -1})
    assert back.answer == before


def test_new_numbers_are_another_question_of_the_same_kind():
    source = KINDS["cell"]
    state = at(source.quiz_id)
    other = PANEL.apply(state, {"do": "another", "seed": 77})
    assert other.question.quiz_id == source.quiz_id
    assert other.question.ask != state.question.ask


def test_what_is_done_to_the_panel_beside_goes_to_that_panel():
    state = next(
        s
        for s in (PANEL.apply(PANEL.default, {"do": "go", "station": n}) for n in NAMES)
        if s.chosen.tab == "self-attention"
    )
    edited = PANEL.apply(
        state, {"do": "cell", "matrix": "vectors", "head": 0, "row": 0, "col": 0, "text": "7"}
    )
    assert edited.shown.vectors[0][0] == 7
    again = PANEL.usable(json.loads(json.dumps(edited.to_json())))
    assert again.shown == edited.shown
    tried = PANEL.apply(edited, {"do": "try", "name": state.chosen.name})
    assert tried.shown == state.shown
    assert PANEL.csv(edited, "en", "vectors", 0)[0][1] == 7


def test_every_table_beside_can_be_saved():
    for name in NAMES:
        state = PANEL.apply(PANEL.default, {"do": "go", "station": name})
        html = PANEL.view(state, "en")
        own = state.beside.view(state.shown, "en")
        places = re.findall(r'data-matrix-name="([^"]+)" data-matrix-head="(\d+)"', html)
        assert len(places) == own.count("data-matrix-name")
        request = {"tab": "lessons", "lang": "en", "state": state.to_json()}
        for matrix, head in places:
            assert table({**request, "matrix": matrix, "head": head}), (name, matrix)


def test_what_is_said_changes_in_one_element():
    """A screen reader tells changes in a status; the page takes elements of one class for one."""
    state = at(KINDS["number"].quiz_id)
    shown = [state, replied(state, "about half"), replied(state, "1000000")]
    shown.append(replied(state, str(state.question.answer)))
    for each in shown:
        assert PANEL.view(each, "en").count('<div class="said') == 1


def test_a_review_that_waits_can_be_begun():
    source = KINDS["choice"]
    wrong = next(c.value for c in source.choices if not c.right)
    kept = replied(at(source.quiz_id), wrong).kept
    state = PANEL.usable({"station": NAMES[0], "section": "review"})
    assert "next_review" not in PANEL.view(state, "en")
    assert "To review today: 1." in PANEL.view(state.but(kept=kept), "en")
    begun = PANEL.apply(state.but(kept=kept), {"do": "next_review", "seed": 3})
    assert 'class="ask"' in PANEL.view(begun, "en")


def test_the_glossary_has_every_word_and_the_teacher_every_question():
    state = PANEL.apply(PANEL.default, {"do": "show", "name": "words"})
    for lang in ("en", "ko"):
        text = PANEL.text(state, lang)
        for station in stations().values():
            assert all(term.word(lang) in text for term in station.terms)
    state = PANEL.apply(PANEL.default, {"do": "show", "name": "teacher"})
    for likely in state.lesson.teacher.likely:
        assert likely.answer.ko in PANEL.text(state, "ko")


def test_check_without_an_answer_asks_for_one_and_counts_nothing():
    state = replied(at(KINDS["choice"].quiz_id))
    assert "Choose or type an answer first." in PANEL.view(state, "en")
    assert (state.tries, state.kept) == (0, Progress())


def test_a_claim_says_whether_it_holds():
    source = next(q for q in asked().values() if q.claim and q.holds == "no" and q.beside)
    state = at(source.quiz_id)
    assert state.chosen.name == source.beside
    state = replied(state, state.question.answer)
    assert "the notes are wrong here" in PANEL.view(state, "en")
    assert "노트가 틀렸습니다" in PANEL.view(state, "ko")


def test_the_glossary_stands_alone():
    html = PANEL.view(PANEL.apply(PANEL.default, {"do": "show", "name": "words"}), "en")
    assert "data-matrix" not in html
    assert 'class="pg course alone"' in html
