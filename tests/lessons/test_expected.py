"""What a try says will be seen is what its tab shows, in the figures of both languages.

These tries are about typed vectors or trained models, where no seed is drawn: what they say
can be looked up. What a try says of every seed is in `test_outcomes.py`.
"""

from __future__ import annotations

import html
import re

import pytest

from lessons.course import Try, stations
from model.inverse import descend
from playground.course.state import set_up
from playground.inverse.state import goal_of, how_of, x_of
from playground.panel import panels

# Station, try, what the text says to change; then what it says is seen, and what shows it
# where that reads otherwise.
SEEN = [
    ("01_words_into_numbers", "near_king", {}, {"0.58": "lies ␣queen : cosine 0.58"}),
    ("01_words_into_numbers", "near_king", {}, {"crown": "␣queen ␣crown ␣prince"}),
    ("01_words_into_numbers", "near_king", {"word": "day"}, {"night": "␣day lies ␣night"}),
    ("01_words_into_numbers", "word_and_place", {}, {"3.91": "", "2.37": ""}),
    ("01_words_into_numbers", "word_and_place", {"position": 0}, {"5.24": "wpe, 5.24 long"}),
    ("06_scaling", "stuck", {}, {"5.8 × 10⁻⁸": ""}),
    ("06_scaling", "stuck", {"scale": True}, {"0.13 %": ""}),
    ("10_block", "ten_times", {}, {"−1.34, −0.45, 0.45, 1.34": "−1.34 −0.45 0.45 1.34"}),
    ("10_block", "ten_times", {}, {"500": "500.00", "109.54": "", "109.93": ""}),
    ("10_block", "nothing_added", {}, {"0.69": ""}),
    ("11_gpt", "one_trained_block", {}, {"3.79": "", "6.47": "", "17.84": ""}),
    ("11_gpt", "one_trained_block", {"layer": "3"}, {"20.52": "", "19.52": ""}),
    ("13_encoder_decoder", "same_distance", {}, {"0.5837": "is 0.5837"}),
    ("13_encoder_decoder", "same_distance", {"first": 10, "second": 12}, {"0.5837": "is 0.5837"}),
    ("15_cost", "four_to_a_thousand", {}, {"1,024": "1024.00", "144": "144.00", "1,152": ""}),
    ("15_cost", "twice_the_length", {}, {"2.20": "block 2.20"}),
    ("15_cost", "twice_the_length", {"length": 8192, "longer": 16384}, {"3.28": "block 3.28"}),
    ("15_cost", "cheaper", {}, {"9": "A window of 2 uses 9 of 15 scores", "0.28": "up to 0.28"}),
    ("15_cost", "cheaper", {"window": 4}, {"5": "A window of 4 uses 14 of 15"}),
    ("15_cost", "cheaper", {"window": 5}, {"5": "moves an output by up to 0."}),
    (
        "15_cost",
        "cheaper",
        {},
        {"0.59": "on 0.08 0.09 0.24 0.59", "0.10": "on 0.25 0.39 0.27 0.10"},
    ),
]


def found(station: str, name: str) -> Try:
    return next(t for t in stations()[station].tries if t.name == name)


def shown(t: Try, changes: dict[str, object]) -> str:
    """The words and numbers of the panel, one blank between two."""
    panel = panels()[t.tab]
    state = panel.usable(set_up(t).to_json() | changes)
    text = re.sub(r"<[^>]+>", " ", panel.view(state, "en"))
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize(("station", "name", "changes", "seen"), SEEN)
def test_what_a_try_says_is_what_its_tab_shows(station, name, changes, seen):
    t = found(station, name)
    text = shown(t, changes)
    for said, shows in seen.items():
        for lang in ("en", "ko"):
            assert said in t.expect(lang)
        assert (shows or said) in text


def test_as_many_steps_lead_to_the_goal_as_the_try_says():
    t = found("06_scaling", "stuck")
    state = set_up(t).but(scale=True)
    *before, last = descend(x_of(state), goal_of(state), state.rate, how_of(state))
    assert last.state == "reached"
    assert f"{len(before)} steps" in t.expect("en")
    assert f"{len(before)}걸음" in t.expect("ko")
