"""The course holds together: no findings, true examples, links that lead somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from lessons import check
from lessons.course import Choice, asked, stations
from lessons.drawing import Drawn
from lessons.words import Words, same
from playground.course.state import set_up
from playground.panel import panels
from tests.conftest import ROOT

FEW = 12  # seeds; `make lessons` takes 1,000
BLOCK = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.S)
TRIES = [(s.name, t) for s in stations().values() for t in s.tries]


def test_nothing_is_amiss():
    assert list(check.findings(FEW)) == []


def test_the_path_has_sixteen_stations_and_one_that_checks_the_notes():
    assert [station.number for station in stations().values()] == list(range(1, 18))


@pytest.mark.parametrize("name", stations())
def test_the_code_of_a_text_prints_what_the_text_says(name):
    """All blocks of a text in one process, as a reader would run them."""
    text = stations()[name].text.en
    found = BLOCK.findall(text)
    assert len(found) == text.count("```python"), "a block without what it prints"
    for code, printed in found:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stderr == ""
        assert done.stdout.strip() == printed.strip()


@pytest.mark.parametrize(("station", "found"), TRIES, ids=[f"{s}-{t.name}" for s, t in TRIES])
def test_a_try_sets_a_panel_that_can_be_shown(station, found):
    state = set_up(found)
    panel = panels()[found.tab]
    for lang in ("en", "ko"):
        assert "data-do" in panel.view(state, lang)
    for key, value in found.changes.items():
        assert getattr(state, key) == value, f"{key} did not take effect"


def test_every_question_is_asked_in_both_languages_with_its_blanks_filled():
    from lessons.questions import made

    for source in asked().values():
        question = made(source, 1)
        for lang in ("en", "ko"):
            assert not re.search(r"\{[a-z_]+\}", question.ask(lang)), source.quiz_id


def broken(**changes):
    """A station of the course with something wrong in it."""
    return replace(next(iter(stations().values())), **changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"title": Words("Dot", "")}, "nothing in ko"),
        ({"summary": Words("A whole sentence here.", "A whole sentence here.")}, "no Hangul"),
        ({"text": Words("short", "짧음")}, "1 words, not 150"),
        ({"questions": ()}, "0 questions; 4 are wanted"),
        ({"able": ()}, "no able"),
        ({"tries": ()}, "no tries"),
    ],
)
def test_what_is_amiss_in_a_station_is_found(changes, says):
    assert any(says in finding for finding in check.in_station(broken(**changes)))


CHOICE = Choice("a", same("x"), Words("Because it is so.", "그렇기 때문입니다."), right=True)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"choices": (CHOICE, replace(CHOICE, value="b"))}, "2 right choices"),
        ({"choices": (CHOICE, replace(CHOICE, right=False))}, "twice"),
        ({"choices": (replace(CHOICE, why=Words("", "")),)}, "nothing in en"),
        ({"choices": (replace(CHOICE, mistake="no_such"),)}, "no mistake is called no_such"),
        ({"kind": "number", "choices": ()}, "no model computes"),
        ({"claim": Words("It is 1.", "1입니다.")}, "a claim has a verdict"),
    ],
)
def test_what_is_amiss_in_a_question_is_found(changes, says):
    source = next(q for q in asked().values() if q.kind == "choice" and not q.claim)
    assert any(says in finding for finding in check.in_question(replace(source, **changes)))


def test_a_generated_question_that_is_never_sound_is_found():
    source = next(q for q in asked().values() if q.generated)
    never = replace(source, draw=lambda draw: Drawn({}, 1.0, {"no_scale": 1.001}, ("1",)))
    assert any("no sound question" in finding for finding in check.in_generated(never, 3))


def test_keys_are_those_of_the_questions():
    done = subprocess.run(
        [sys.executable, "-m", "lessons", "keys", "--seed", "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    keys = json.loads(done.stdout)
    assert set(keys) == set(asked())
    for quiz_id, key in keys.items():
        if asked()[quiz_id].generated:
            assert len(key["mistakes"]) >= 2
            assert key["answer"] not in key["mistakes"].values()
