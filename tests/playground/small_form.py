"""A small tab of settings, vectors and work, to try the form's machinery with."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from lessons.words import Words, same
from playground.arithmetic import Explanation, cell
from playground.flow import Flow, Matrix
from playground.form.chart import Axis, Line, chart
from playground.form.fields import Checked, Choice, Decimal, Names, Rows, Switch, Text, Whole
from playground.form.form import Example, Form, Group
from playground.form.panel import FormPanel
from playground.form.state import FormState
from playground.form.view import MARKS, running
from playground.html import Html
from playground.turns import Queue, work

QUEUE = Queue(at_once=1)
GOAL = 5


@dataclass(frozen=True)
class SmallState(FormState):
    tokens: list[str] = field(default_factory=lambda: ["a", "b"])
    vectors: list[list[float]] = field(default_factory=lambda: [[1.0, 2.0], [3.0, 4.0]])
    rate: float = 0.1
    slid: float = 0.5
    count: int = 3
    kind: str = "up"
    far: str = "near"
    on: bool = True
    words: str = ""
    step: int = 0


def flow(state, lang):
    x = torch.tensor(state.vectors, dtype=torch.float64)
    rows = list(range(len(x)))
    typed = Matrix("vectors", "X", x, rows=rows, kind="input", editable=True)
    twice = Matrix("twice", "2X", 2 * x, rows=rows, op=same("× 2"), line="2 * x", why=doubled)
    return Flow([typed, twice])


def doubled(flow, m, i, j):
    num = cell(flow.get("vectors"), i, j)
    return Explanation([num, "× 2"], 2 * num.value)


def more(state):
    steps = [state.step]

    def one():
        steps.append(steps[-1] + 1)
        return steps[-1] < GOAL

    place = work(state.ticket, one, queue=QUEUE, seconds=1e-9)
    return state.but(step=steps[-1], place=place, running=steps[-1] < GOAL)


def top(state, lang):
    curve = chart(
        [Line("steps", [(n, n * n) for n in range(state.step)])],
        Axis("n"),
        Axis("n²"),
        "Title",
        lang,
    )
    return Html(running(state, lang, "Go", pace=str(state.step)) + curve)


FORM = Form(
    name="small",
    order=99,
    title=same("Small"),
    heading=same("A small form"),
    intro=same("intro"),
    formula=Html("<span>2X</span>"),
    examples=(
        Example("one", same("One"), same("Try one"), SmallState(open=["twice", 0, 0, 1])),
        Example("two", same("Two"), same("Try two"), SmallState(section="second", count=4)),
    ),
    state=SmallState,
    fields={
        "tokens": Names(most=3),
        "vectors": Rows(most_rows=3, most_cols=3),
        "rate": Decimal(Words("rate", "학습률"), 0.0, 1.0),
        "slid": Decimal(same("slid"), 0.0, 1.0, slide=0.05),
        "count": Whole(same("count"), 1, 9),
        "kind": Choice(same("kind"), {"up": same("Up"), "down": same("Down")}),
        "far": Choice(same("far"), {"near": same("Near"), "off": same("Off")}, as_list=True),
        "on": Switch(same("on")),
        "words": Text(same("words"), most=20, rows=2),
        "step": Checked(ok=lambda n: type(n) is int and 0 <= n <= GOAL, wanted=f"0 … {GOAL}"),
    },
    flow=flow,
    top=top,
    groups=(
        Group(same("Numbers"), ("rate", "slid", "count")),
        Group(same("Others"), ("kind", "far", "on", "words", "vectors"), lambda s: s.on),
    ),
    sections={"first": same("First"), "second": same("Second")},
    actions={"fresh": lambda state, action: state.but(step=0)},
    changed=lambda before, after, keys: after.but(step=0) if "rate" in keys else after,
    more=more,
    legend=(MARKS["signed"], MARKS["opened"]),
)
PANEL = FormPanel(FORM)
