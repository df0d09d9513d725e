"""Predict, then reveal: a matrix is hidden, one of its cells asked for, the answer judged."""

from __future__ import annotations

from lessons.grading import Verdict, diagnose, parse_number
from lessons.mistakes import mistake_words
from lessons.words import Words
from model.errors import PlaygroundError
from playground.controls import button
from playground.flow import Flow, Matrix
from playground.html import number
from playground.render import Html, action, esc
from playground.state import State
from playground.tab import Tab


def judge(tab: Tab, state: State, flow: Flow) -> Verdict | None:
    """What the typed prediction amounts to; None while there is none to judge."""
    if state.ask is None or not state.answer.strip():
        return None
    name, head, i, j = state.ask
    m = flow.get(name, head)
    assert m is not None, "settled: only a cell that exists is asked"
    right = float(m.values[i, j])
    try:
        answer = parse_number(state.answer)
    except PlaygroundError:
        return None
    wrong = {}
    for mistake in tab.mistakes:
        if mistake == state.mistake:
            continue
        try:
            other = tab.flow(state.but(mistake=mistake, typed=False)).get(name, head)
        except PlaygroundError:
            continue  # this mistake cannot be made with these sizes
        if other is not None and other.values.shape == m.values.shape:
            wrong[mistake] = float(other.values[i, j])
    return diagnose(answer, right, wrong)


def revealed(tab: Tab, state: State) -> bool:
    """Whether nothing is hidden: no question is asked, or it has been answered rightly."""
    if state.ask is None:
        return True
    verdict = judge(tab, state, tab.flow(state))
    return verdict is not None and verdict.correct


def predict(tab: Tab, state: State, flow: Flow, verdict: Verdict | None, lang: str) -> Html:
    """The box that hides a matrix and asks for one of its cells; always skippable."""
    if state.ask is None:
        buttons = "".join(
            button(
                ASK(lang, name=plain_name(flow, name)),
                action("ask", matrix=name, seed=0),
                'data-seed="1"',
            )
            for name in tab.ask
            if flow.get(name, state.head) or flow.get(name)
        )
        return Html(
            f'<section class="quiz"><span class="kick">{esc(PREDICT(lang))}</span>'
            f'<div class="row">{buttons}</div></section>'
        )
    name, head, i, j = state.ask
    m = flow.get(name, head)
    name_shown = f"{m.symbol} ({m.note(lang)})" if m.of_head and m.note else m.symbol
    question = ASKED(lang, name=name_shown, cell=cell_words(m, state, i, j))
    right = verdict is not None and verdict.correct
    again = button(
        AGAIN(lang),
        action("ask", matrix=name, seed=0),
        'data-seed="1"',
        classes="pri" if right else "",
    )
    skip = button(DONE(lang) if right else SKIP(lang), action("reveal"))
    send = "" if right else button(CHECK(lang), 'data-client="answer"', classes="pri")
    return Html(
        f'<section class="quiz"><span class="kick">{esc(PREDICT(lang))}</span>'
        f"<p>{esc(question)}</p>"
        f'<div class="row"><input class="field" data-answer value="{esc(state.answer)}" '
        f'aria-label="{esc(question)}" autocomplete="off">{send}{again}{skip}</div>'
        f"{feedback(state, m, verdict, lang)}</section>"
    )


def plain_name(flow: Flow, name: str) -> str:
    return next((m.symbol for m in flow.matrices if m.name == name), name)


def cell_words(m: Matrix, state: State, i: int, j: int) -> str:
    row = state.tokens[m.rows[i]] if m.rows is not None else str(i)
    col = state.tokens[m.cols[j]] if m.cols is not None else str(j)
    return f"{row}, {col}"


def feedback(state: State, m: Matrix, verdict: Verdict | None, lang: str) -> Html:
    if not state.answer.strip():
        return Html("")
    if verdict is None:
        try:
            parse_number(state.answer)
        except PlaygroundError as error:
            return Html(f'<div class="fb" role="status">{esc(error.text(lang))}</div>')
        return Html("")
    i, j = state.ask[2:]
    if verdict.correct:
        text = RIGHT(lang, value=number(float(m.values[i, j]), 4))
        return Html(f'<div class="fb ok" role="status"><b>{esc(text)}</b></div>')
    if verdict.mistake:
        words = mistake_words()[verdict.mistake]
        head = THAT_IS(lang, answer=state.answer, name=words.name[lang])
        return Html(
            f'<div class="fb" role="status"><b>{esc(head)}</b> {esc(words.text[lang])}</div>'
        )
    return Html(f'<div class="fb" role="status">{esc(NOT_YET(lang, answer=state.answer))}</div>')


PREDICT = Words("Predict first", "먼저 예측해 보기")
ASK = Words("Hide {name} and ask me", "{name} 가리고 묻기")
ASKED = Words("What is {name}[{cell}]?", "{name}[{cell}] 값은 얼마입니까?")
CHECK = Words("Check", "확인")
AGAIN = Words("Another cell", "다른 칸")
SKIP = Words("Show it", "바로 보기")
DONE = Words("Done", "마치기")
RIGHT = Words("Right: {value}.", "맞습니다. {value}입니다.")
THAT_IS = Words("{answer} is what you get with “{name}”.", "{answer} 값은 ‘{name}’일 때 나옵니다.")
NOT_YET = Words(
    "{answer} is not it, and none of the known slips gives it. Work it out from the matrices still in view, or show it.",
    "{answer} 값은 아닙니다. 알려진 실수에서 나오는 값도 아닙니다. 보이는 행렬로 다시 계산하거나 바로 확인해 보십시오.",
)
