"""What a learner has done, and what comes again when."""

from __future__ import annotations

import json

import pytest

from lessons.course import asked
from lessons.progress import (
    MOST_COUNTED,
    Again,
    Progress,
    ProgressError,
    fresh,
    from_json,
    shown_by,
)
from lessons.questions import made
from model.mistakes import MISTAKES

GENERATED = next(q for q in asked().values() if q.generated)
FIXED = next(q for q in asked().values() if q.kind == "choice")
MISTAKE = next(iter(made(GENERATED, 1).mistakes))
DAY, NEXT, LATER = "2026-03-01", "2026-03-02", "2026-03-09"


def test_a_right_answer_is_done_and_not_reviewed():
    progress = Progress().answered(FIXED.quiz_id, True, None, DAY)
    assert progress.done == {FIXED.quiz_id: 1}
    assert progress.due(DAY) == []


def test_a_wrong_answer_comes_again_today_then_another_day_then_no_more():
    progress = Progress().answered(GENERATED.quiz_id, False, MISTAKE, DAY)
    assert progress.due(DAY) == [MISTAKE]
    progress = progress.reviewed(MISTAKE, True, DAY)
    assert progress.due(DAY) == []
    assert progress.due(NEXT) == [MISTAKE]
    progress = progress.reviewed(MISTAKE, True, LATER)
    assert progress.again == {}


def test_a_wrong_answer_in_the_review_begins_it_anew():
    progress = Progress().answered(GENERATED.quiz_id, False, MISTAKE, DAY)
    progress = progress.reviewed(MISTAKE, True, DAY).reviewed(MISTAKE, False, NEXT)
    assert progress.due(NEXT) == [MISTAKE]
    assert progress.again[MISTAKE] == Again(GENERATED.quiz_id, 2, 0, NEXT)


def test_where_no_mistake_was_known_the_question_itself_comes_again():
    progress = Progress().answered(FIXED.quiz_id, False, None, DAY)
    assert progress.due(DAY) == [FIXED.quiz_id]
    assert fresh(FIXED.quiz_id, progress.again[FIXED.quiz_id], 4).quiz_id == FIXED.quiz_id


def test_what_went_wrong_most_often_comes_first():
    progress = Progress().answered(FIXED.quiz_id, False, None, DAY)
    for _ in range(2):
        progress = progress.answered(GENERATED.quiz_id, False, MISTAKE, DAY)
    assert progress.due(DAY) == [MISTAKE, FIXED.quiz_id]


@pytest.mark.parametrize("seed", range(20))
def test_a_fresh_question_can_show_the_mistake(seed):
    again = Again(GENERATED.quiz_id)
    asking = fresh(MISTAKE, again, seed)
    assert MISTAKE in asking.mistakes
    assert made(asked()[asking.quiz_id], asking.seed) == asking
    assert len({fresh(MISTAKE, again, s).seed for s in range(5)}) > 1


def test_a_mistake_that_the_question_cannot_show_comes_in_one_that_can():
    before = next(
        q for q in asked().values() if q.generated and q not in shown_by()["loss_in_bits"]
    )
    for seed in range(5):
        assert "loss_in_bits" in fresh("loss_in_bits", Again(before.quiz_id), seed).mistakes


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_has_questions_for_its_review(mistake):
    source = asked()[next(iter(asked()))]
    assert mistake in fresh(mistake, Again(source.quiz_id), 3).mistakes


def test_a_clock_that_was_ahead_keeps_nothing_away():
    progress = Progress().answered(FIXED.quiz_id, False, None, LATER)
    progress = progress.reviewed(FIXED.quiz_id, True, LATER)
    assert progress.due(DAY) == [FIXED.quiz_id]


def test_counts_end_where_they_can_be_read_again():
    most = {"quiz_id": FIXED.quiz_id, "count": MOST_COUNTED, "right": 0, "last": DAY}
    progress = from_json(
        {"done": {FIXED.quiz_id: MOST_COUNTED}, "again": {MISTAKE: most, FIXED.quiz_id: most}}
    )
    progress = progress.answered(FIXED.quiz_id, True, None, DAY)
    progress = progress.answered(GENERATED.quiz_id, False, MISTAKE, DAY)
    progress = progress.reviewed(FIXED.quiz_id, False, DAY)
    assert from_json(progress.to_json()) == progress
    with pytest.raises(ProgressError):
        from_json({"done": {FIXED.quiz_id: MOST_COUNTED + 1}, "again": {}})


def test_progress_survives_a_file():
    progress = Progress().answered(FIXED.quiz_id, True, None, DAY)
    progress = progress.answered(GENERATED.quiz_id, False, MISTAKE, DAY)
    assert from_json(json.loads(json.dumps(progress.to_json()))) == progress


def test_questions_that_no_longer_exist_are_left_out():
    found = {
        "done": {"gone/away": 3, FIXED.quiz_id: 1},
        "again": {"gone/away": vars(Again("gone/away", last=DAY))},
    }
    assert from_json(found) == Progress({FIXED.quiz_id: 1}, {})


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ("text", "…"),
        ({}, "done"),
        ({"done": {}, "again": []}, "again"),
        ({"done": {"a": -1}, "again": {}}, "done.a"),
        ({"done": {"a": True}, "again": {}}, "done.a"),
        ({"done": {}, "again": {"a": 1}}, "again.a"),
        ({"done": {}, "again": {"a": {"quiz_id": "x", "count": "1", "right": 0}}}, "count"),
        (
            {"done": {}, "again": {"a": {"quiz_id": "x", "count": 1, "right": 0, "last": "x"}}},
            "last",
        ),
    ],
)
def test_another_file_is_refused_in_both_languages(found, where):
    with pytest.raises(ProgressError) as caught:
        from_json(found)
    for lang in ("en", "ko"):
        assert where in caught.value.text(lang)
