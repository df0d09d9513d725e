"""A station as one view: the path, the text, the live panel, the questions."""

from __future__ import annotations

import re

from lessons.course import Station, stations
from lessons.practicals import Experiment, Practical, experiments, practicals
from lessons.words import Words
from playground.controls import button
from playground.course import asking
from playground.course.state import CourseState
from playground.render import Html, action, esc
from playground.view import TRY, told

OWN = re.compile(r'(?<=\s)(id|for|name|aria-describedby|aria-labelledby|aria-controls)="')

STATION = Words("Station {at} of {last}", "{last}곳 중 {at}번째")
PATH = Words("Stations", "학습 경로")
BACK = Words("Previous station", "앞 단원")
ON = Words("Next station", "다음 단원")
DONE = Words("{right} of {all} answered rightly", "{all}문제 중 {right}문제 맞힘")
ABLE = Words("You will be able to", "배우고 나면")
SHORT = Words("In short", "요약")
SECTIONS = {
    "station": Words("Lesson", "수업"),
    "review": Words("Review", "복습"),
    "words": Words("Glossary", "용어"),
    "teacher": Words("For teachers", "교사용"),
}
REVIEW_DUE = Words("Review ({n})", "복습 ({n})")
KEEP = Words("My progress", "내 학습 기록")
SAVE = Words("Save my progress", "기록 저장")
BRING = Words("Open saved progress", "기록 불러오기")
FORGET = Words("Clear my progress", "기록 지우기")
SURE = Words(
    "Clear everything this browser keeps about your lessons? This cannot be undone.",
    "이 브라우저에 저장된 학습 기록을 모두 지울까요? 되돌릴 수 없습니다.",
)
REVIEW_TEXT = Words(
    "What went wrong comes again here, with fresh numbers: today, and once more another day.",
    "틀린 것이 새로운 숫자로 다시 나옵니다. 오늘 한 번, 다른 날에 한 번 더 풉니다.",
)
MINUTES = Words("{n} minutes", "{n}분")
SHOW = Words("On the projector", "화면에 띄울 것")
LIKELY = Words("Likely questions", "나올 만한 질문")
PRACTICAL = Words("Write it yourself", "직접 써 보기")
ELSEWHERE = Words(
    "Your code runs on your own machine, in a folder with this project; the page runs nobody's code.",
    "코드는 이 프로젝트를 내려받은 자기 컴퓨터에서 실행됩니다. 이 페이지는 누구의 코드도 실행하지 않습니다.",
)
FILE = Words("Save {name}", "{name} 저장")
ALSO = Words("elsewhere", "다른 이름")


def view(state: CourseState, lang: str, notice: str = "") -> Html:
    """The whole tab but its text. Raises a `PlaygroundError` where a state cannot be computed."""
    parts = [told(notice)]
    if state.section != "words":  # the glossary is of the whole course
        parts.append(tries(state, lang))
    if state.section in ("station", "review"):
        parts.append(asking.questions(state, lang))
    if state.section != "words":
        parts += [beside(state, lang), practical(state, lang)]
    alone = " alone" if state.section == "words" else ""
    return Html(
        f'<div class="pg course{alone}" data-tab="lessons">{path(state, lang)}'
        f'<div class="beside">{"".join(parts)}</div></div>'
    )


# The path


def path(state: CourseState, lang: str) -> Html:
    """Where you are, what is done, what comes next; and what else there is."""
    every = list(stations().values())
    here = state.lesson
    at = every.index(here)
    where = STATION(lang, at=at + 1, last=len(every))
    items = "".join(f"<li>{station_button(station, state, lang)}</li>" for station in every)
    return Html(
        f'<nav class="path" aria-label="{esc(PATH(lang))}"><div class="row">'
        f"{neighbour(every[at - 1] if at else None, '◀', BACK(lang))}"
        f'<details class="all"><summary><span class="kick">{esc(where)}</span> <b>{esc(here.title(lang))}</b></summary>'
        f"<ol>{items}</ol></details>"
        f"{neighbour(every[at + 1] if at + 1 < len(every) else None, '▶', ON(lang))}</div>"
        f'<div class="row">{sections(state, lang)}</div>{keeping(lang)}</nav>'
    )


def neighbour(station: Station | None, sign: str, label: str) -> Html:
    go = action("go", station=station.name) if station else Html("")
    return button(
        sign, go, f'aria-label="{esc(label)}"', f'title="{esc(label)}"', disabled=not station
    )


def station_button(station: Station, state: CourseState, lang: str) -> Html:
    right = sum(q.quiz_id in state.kept.done for q in station.questions)
    total = len(station.questions)
    mark = "✓" if right == total else "◐" if right else "○"
    current = ' aria-current="step"' if station == state.lesson else ""
    title = f"{station.number}. {station.title(lang)}"
    label = f"{title}, {DONE(lang, right=right, all=total)}"
    return Html(
        f'<button type="button" {action("go", station=station.name)}{current} aria-label="{esc(label)}">'
        f"{mark} {esc(title)} <small>{right}/{total}</small></button>"
    )


def sections(state: CourseState, lang: str) -> Html:
    due = len(state.kept.due(state.today))
    labels = {name: words(lang) for name, words in SECTIONS.items()}
    if due:
        labels["review"] = REVIEW_DUE(lang, n=due)
    return Html(
        "".join(
            button(
                label,
                action("show", name=name),
                'data-seed="1"',
                f'aria-pressed="{str(name == state.section).lower()}"',
                classes="chip",
            )
            for name, label in labels.items()
        )
    )


def keeping(lang: str) -> Html:
    return Html(
        f'<details class="keeping"><summary>{esc(KEEP(lang))}</summary><div class="row">'
        f"{button(SAVE(lang), Html('data-client=saveKept'))}{button(BRING(lang), Html('data-client=bringKept'))}"
        f'{button(FORGET(lang), Html("data-client=forget"), Html(f"""data-ask="{esc(SURE(lang))}" """))}</div></details>'
    )


# The panel


def tries(state: CourseState, lang: str) -> Html:
    """What to try beside the text, and what to look for."""
    chips = "".join(
        button(
            t.label(lang),
            action("try", name=t.name),
            f'aria-pressed="{str(t == state.chosen).lower()}"',
            classes="chip",
        )
        for t in state.lesson.tries
    )
    return Html(
        f'<div class="tries"><div class="presets" role="group" aria-label="{esc(TRY(lang))}">'
        f'<span class="kick">{esc(TRY(lang))}</span>{chips}</div>'
        f'<p class="try">{esc(state.chosen.expect(lang))}</p></div>'
    )


def beside(state: CourseState, lang: str) -> Html:
    """The live panel. Its names get their own beginning: the tab itself may be on the page too."""
    return Html(OWN.sub(r'\1="lesson-', state.beside.view(state.shown, lang)))


def practical(state: CourseState, lang: str) -> Html:
    """What to write in code: a file to fill in. It runs on the learner's machine, never here."""
    number = state.lesson.number
    parts = "".join(
        f"<h3>{esc(task.title(lang))}</h3><p>{esc(task.task(lang))}</p>"
        f"<p><code>python -m lessons practise {number}{option}</code> "
        f"{button(FILE(lang, name=task.starter.name), Html('data-client=file'), file_of(task))}</p>"
        for task, option in (
            (practicals().get(number), ""),
            (experiments().get(number), " --experiment"),
        )
        if task
    )
    if not parts or state.section != "station":
        return Html("")
    return Html(
        f'<section class="practical" aria-label="{esc(PRACTICAL(lang))}"><span class="kick">{esc(PRACTICAL(lang))}</span>'
        f"<p>{esc(ELSEWHERE(lang))}</p>{parts}</section>"
    )


def file_of(task: Practical | Experiment) -> Html:
    """The attributes by which the page saves a task's file."""
    text = task.starter.read_text(encoding="utf-8")
    return Html(f'data-name="{esc(task.starter.name)}" data-text="{esc(text)}"')


# The text, in Markdown


def text(state: CourseState, lang: str) -> str:
    """The station's text, the review's, the glossary, or the teacher's notes."""
    station = state.lesson
    if state.section == "review":
        return f"## {SECTIONS['review'](lang)}\n\n{REVIEW_TEXT(lang)}"
    if state.section == "words":
        return glossary(lang)
    if state.section == "teacher":
        return teacher(station, lang)
    able = "\n".join(f"- {words(lang)}" for words in station.able)
    return (
        f"## {station.title(lang)}\n\n**{ABLE(lang)}**\n\n{able}\n\n{station.text(lang).strip()}\n\n"
        f"> **{SHORT(lang)}** {station.summary(lang)}"
    )


def glossary(lang: str) -> str:
    """Every word of the course, with the names that the same thing has in well-known code."""
    terms = [term for station in stations().values() for term in station.terms]
    terms.sort(key=lambda term: term.word(lang).lower())
    entries = []
    for term in terms:
        also = ", ".join(f"`{name}`" for name in term.others)
        entries.append(
            f"**{term.word(lang)}** {term.text(lang)}"
            + (f" ({ALSO(lang)}: {also})" if also else "")
        )
    return f"## {SECTIONS['words'](lang)}\n\n" + "\n\n".join(entries)


def teacher(station: Station, lang: str) -> str:
    notes = station.teacher
    likely = "\n\n".join(f"**{q.question(lang)}** {q.answer(lang)}" for q in notes.likely)
    return (
        f"## {station.title(lang)} · {SECTIONS['teacher'](lang)}\n\n{MINUTES(lang, n=notes.minutes)}. "
        f"{notes.purpose(lang)}\n\n### {SHOW(lang)}\n\n{notes.show(lang)}\n\n### {LIKELY(lang)}\n\n{likely}"
    )
