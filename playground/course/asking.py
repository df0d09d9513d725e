"""A question of the lessons as HTML: what is asked, what can be answered, what came of it."""

from __future__ import annotations

from lessons.answers import grade
from lessons.course import Choice, Station, stations
from lessons.mistakes import mistake_words
from lessons.questions import Question
from lessons.words import Words
from model.errors import PlaygroundError
from playground.controls import button
from playground.course.actions import given, order_of
from playground.course.state import CourseState
from playground.render import Html, action, esc

QUESTION = Words("Question {at} of {last}", "{last}문제 중 {at}번")
QUESTIONS = Words("Questions", "문제")
ABOUT = Words("Again: {name}", "다시 풀기: {name}")
NOTHING = Words(
    "Nothing to review today. What goes wrong in a lesson will come again here.",
    "오늘 복습할 것이 없습니다. 수업에서 틀린 것이 여기에 다시 나옵니다.",
)
WAITING = Words("To review today: {n}.", "오늘 복습할 것이 {n}개 있습니다.")
BEGIN = Words("Begin", "시작")
CHECK = Words("Check", "확인")
FRESH = Words("New numbers", "새 숫자로")
NEXT = Words("Next question", "다음 문제")
NEXT_STATION = Words("On to “{title}”", "다음 단원: {title}")
NEXT_REVIEW = Words("Next", "다음")
UP = Words("Earlier: {text}", "앞으로: {text}")
DOWN = Words("Later: {text}", "뒤로: {text}")
ANSWER = Words("Your answer", "답")
NO_ANSWER = Words("Choose or type an answer first.", "먼저 답을 고르거나 적으십시오.")
SOLVED = Words("answered", "맞힘")


def questions(state: CourseState, lang: str) -> Html:
    """The question that is asked now, and the way to the others."""
    question = state.question
    if question is None:
        return nothing_asked(state, lang)
    ask = esc(question.ask(lang)).replace("\n", "<br>")
    return Html(
        f'<section class="quiz asked" aria-label="{esc(QUESTIONS(lang))}">{head(state, question, lang)}'
        f'<div data-question="{esc(question.kind)}"><p class="ask" id="ask" aria-live="polite">{ask}</p>'
        f"{answering(state, question, lang)}"
        f'<div class="row">{button(CHECK(lang), Html("data-client=reply"), classes="pri")}'
        f"{ways_on(state, question, lang)}</div></div>{feedback(state, question, lang)}</section>"
    )


def nothing_asked(state: CourseState, lang: str) -> Html:
    """A review without a question: nothing is due, or it has not begun (a link, a file opened)."""
    due = len(state.kept.due(state.today))
    begin = button(BEGIN(lang), action("next_review"), 'data-seed="1"', classes="pri next")
    said = WAITING(lang, n=due) if due else NOTHING(lang)
    return Html(f'<section class="quiz asked"><p>{esc(said)}</p>{begin if due else ""}</section>')


def head(state: CourseState, question: Question, lang: str) -> Html:
    if state.section == "review":
        words = mistake_words().get(state.reviewing)
        name = words.name[lang] if words else state.lesson.title(lang)
        return Html(f'<span class="kick">{esc(ABOUT(lang, name=name))}</span>')
    every = state.lesson.questions
    dots = "".join(
        button(
            f"{n + 1}✓" if q.quiz_id in state.kept.done else str(n + 1),
            action("ask_at", index=n),
            f'aria-label="{esc(label(n, len(every), q.quiz_id in state.kept.done, lang))}"',
            f'aria-pressed="{str(n == state.at).lower()}"',
            classes="chip",
        )
        for n, q in enumerate(every)
    )
    return Html(
        f'<div class="presets" role="group" aria-label="{esc(QUESTIONS(lang))}">'
        f'<span class="kick">{esc(QUESTION(lang, at=state.at + 1, last=len(every)))}</span>{dots}</div>'
    )


def label(n: int, total: int, done: bool, lang: str) -> str:
    return QUESTION(lang, at=n + 1, last=total) + (f", {SOLVED(lang)}" if done else "")


def ways_on(state: CourseState, question: Question, lang: str) -> Html:
    """New numbers, the next question. Their classes keep the focus on the same one of them."""
    fresh = on = ""
    if question.source.generated:
        fresh = button(FRESH(lang), action("another"), 'data-seed="1"', classes="fresh")
    if state.section == "review":
        on = button(NEXT_REVIEW(lang), action("next_review"), 'data-seed="1"', classes="next")
    elif state.at + 1 < len(state.lesson.questions):
        on = button(NEXT(lang), action("ask_at", index=state.at + 1), classes="next")
    elif after := following(state.lesson):
        label = NEXT_STATION(lang, title=after.title(lang))
        on = button(label, action("go", station=after.name), classes="next")
    return Html(fresh + on)


def following(station: Station) -> Station | None:
    """The station after this one, if it is not the last."""
    every = list(stations().values())
    return next((s for s in every if s.number == station.number + 1), None)


# Answering


def answering(state: CourseState, question: Question, lang: str) -> Html:
    if question.kind in ("number", "cell", "shape"):
        typed = state.answer[0] if state.answer else ""
        return Html(
            f'<label class="num">{esc(ANSWER(lang))} <input class="field" data-reply value="{esc(typed)}" '
            f'autocomplete="off" aria-describedby="ask"></label>'
        )
    if question.kind == "order":
        return order(state, question, lang)
    kind = "checkbox" if question.kind == "choices" else "radio"
    items = "".join(
        f'<li role="none"><label><input type="{kind}" name="reply" data-reply value="{esc(choice.value)}"'
        f"{' checked' if choice.value in state.answer else ''}> {worded(question, choice, lang)}</label></li>"
        for choice in question.choices
    )
    role = "group" if kind == "checkbox" else "radiogroup"
    return Html(f'<ul class="choices" role="{role}" aria-labelledby="ask">{items}</ul>')


def worded(question: Question, choice: Choice, lang: str) -> Html:
    text = esc(choice.text(lang))
    return Html(f"<code>{text}</code>") if question.kind == "line" else text


def order(state: CourseState, question: Question, lang: str) -> Html:
    """Steps that are moved up and down by buttons: a keyboard can do it as well."""
    by_value = {choice.value: choice.text(lang) for choice in question.choices}
    values = order_of(state, question)
    items = "".join(
        f"<li><span>{esc(by_value[value])}</span> <span class='row'>"
        f"{mover(n, -1, '▲', UP(lang, text=by_value[value]), n == 0)}"
        f"{mover(n, 1, '▼', DOWN(lang, text=by_value[value]), n + 1 == len(values))}</span></li>"
        for n, value in enumerate(values)
    )
    return Html(f'<ol class="order" aria-labelledby="ask">{items}</ol>')


def mover(n: int, by: int, sign: str, label: str, disabled: bool) -> Html:
    return button(
        sign, action("move", index=n, by=by), f'aria-label="{esc(label)}"', disabled=disabled
    )


# What came of it


def feedback(state: CourseState, question: Question, lang: str) -> Html:
    """One element, empty until something is said: a screen reader tells what changes in it."""
    if not state.replied:
        return said("", "")
    if question.kind != "order" and not any(value.strip() for value in state.answer):
        return said(NO_ANSWER(lang), " fb")
    try:
        graded = grade(question, given(question, state.answer), lang, state.tries)
    except PlaygroundError as error:
        return said(error.text(lang), " fb")
    return said(graded.feedback, " fb ok" if graded.correct else " fb")


def said(text: str, classes: str) -> Html:
    lines = esc(text).replace("\n", "<br>")
    return Html(f'<div class="said{classes}" role="status">{lines}</div>')
