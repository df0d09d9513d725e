"""The section where runs learn: their loss curves, and their answers before, during and after."""

from __future__ import annotations

from lessons.words import Words
from model.live import LiveSettings
from model.tasks import Answer, Task, make_task
from playground.controls import button
from playground.flow import Flow
from playground.form.chart import Axis, Level, Line, chart
from playground.form.view import running
from playground.html import Html, action, esc, number
from playground.training.look import Learned, learned
from playground.training.runs import RUNS, last_pause, next_pause
from playground.training.state import MOST, SECOND, TrainingState, refused, runs_of

LATE = 20  # steps whose mean loss is compared with the floor: one batch alone says little
LISTED = 4  # questions shown, of all that are asked
COLUMNS = 4  # of answers: before, two marks between, now


def flow(state: TrainingState, lang: str) -> Flow:
    return Flow([])


def top(state: TrainingState, lang: str) -> Html:
    error = refused(state)
    if error:
        return Html(f'<p class="notice" role="status">{esc(error.text(lang))}</p>')
    found = [(run, learned(run, state.step)) for run in runs_of(state)]
    told = "".join(standing(state, n, *one, lang) for n, one in enumerate(found))
    tables = "".join(answers(state, n, one, lang) for n, (_, one) in enumerate(found))
    kind = "answers long" if state.task == "text" else "answers"  # one below the other
    charts = curves(state, [one for _, one in found], make_task(state.task, found[0][0].text), lang)
    return Html(f'{told}{bar(state, lang)}{charts}<div class="{kind}">{tables}</div>')


def name_of(state: TrainingState, n: int, lang: str) -> str:
    """A run's name: only where there are two is one needed."""
    return SECOND[state.compare][1](lang) if n else FIRST(lang)


FIRST = Words("1: as set", "1: 설정대로")


# How far they are


def standing(state: TrainingState, n: int, run: LiveSettings, found: Learned, lang: str) -> Html:
    """What a run has learned so far, and what is to be seen in its loss."""
    right = sum(answer.is_right for answer in found.now)
    words = NOW if found.losses else FRESH
    last = number(found.losses[-1]) if found.losses else ""
    asked = QUESTIONS_OF_TEXT(lang) if run.task == "text" else NEW_QUESTIONS(lang)
    said = esc(
        words(lang, n=f"{state.step:,}", loss=last, right=right, all=len(found.now), asked=asked)
    )
    who = f"<b>{esc(name_of(state, n, lang))}</b> · " if state.compare != "nothing" else ""
    diverged = RUNS.stopped_by(run)
    remark = diverged.text(lang) if diverged else suspicion(run, found, lang)
    remark = f" <b>{esc(remark)}</b>" if remark else ""
    return Html(f'<p class="sentence">{who}{said}{remark}</p>')


FRESH = Words(
    "Nothing is learned yet: {right} of {all} {asked} are answered right.",
    "아직 아무것도 배우지 않았습니다. {asked} {all}개 가운데 {right}개를 맞힙니다.",
)
NOW = Words(
    "Step {n}: the loss is {loss}, and {right} of {all} {asked} are answered right.",
    "{n}걸음: 손실은 {loss}이고, {asked} {all}개 가운데 {right}개를 맞힙니다.",
)


NEW_QUESTIONS = Words("new questions", "새 문제")
QUESTIONS_OF_TEXT = Words("questions", "문제")  # pieces of what it learns: nothing new


def suspicion(run: LiveSettings, found: Learned, lang: str) -> str:
    """A loss that no model can have which does not look ahead."""
    floor = make_task(run.task, run.text).floor
    late = found.losses[-LATE:]
    if not floor or len(late) < LATE or sum(late) / LATE >= 0.9 * floor:
        return ""
    return SUSPICIOUS(lang, floor=number(floor))


SUSPICIOUS = Words(
    "That is below {floor}, less than anyone can have who does not see the next letter.",
    "다음 글자를 보지 않고서는 {floor}보다 낮아질 수 없습니다. 너무 낮은 손실입니다.",
)


# The buttons


def bar(state: TrainingState, lang: str) -> Html:
    end = next_pause(state)
    full = state.step == MOST
    one = button(ONE(lang), action("once"), disabled=state.running or full)
    back = button(BEGIN(lang), action("begin"), disabled=state.running or not state.step)
    if full:
        many = Html(f'<span class="kick" role="status">{esc(FULL(lang, n=f"{MOST:,}"))}</span>')
    else:
        words = GO_ON if state.step else TRAIN
        pace = PACE(lang, n=f"{state.step:,}", end=f"{end:,}") if state.running else ""
        many = running(state, lang, words(lang, n=f"{end:,}"), pace=pace)
    return Html(f'<div class="bar"><span class="row">{many}{one}{back}</span></div>')


TRAIN = Words("Train {n} steps", "{n}걸음 학습하기")
GO_ON = Words("Go on to step {n}", "{n}걸음까지 이어서 학습하기")
ONE = Words("One step", "한 걸음")
BEGIN = Words("To the beginning", "처음 걸음으로")
PACE = Words("step {n} of {end}", "{end}걸음 가운데 {n}걸음")
FULL = Words(
    "{n} steps: that is as far as it goes here.", "{n}걸음입니다. 여기서는 여기까지 학습합니다."
)


# The curves


def curves(state: TrainingState, found: list[Learned], task: Task, lang: str) -> Html:
    lines = [
        Line(
            name_of(state, n, lang) if len(found) > 1 else LOSS(lang),
            list(enumerate(one.losses, start=1)),
            hue=n,
            dash=n,
        )
        for n, one in enumerate(found)
    ]
    levels = [Level(CHANCE(lang, V=len(task.alphabet)), task.chance)]
    if task.floor is not None:
        levels.append(Level(FLOOR(lang), task.floor))
    steps = Axis(STEP(lang), low=1, high=last_pause(state))
    return chart(lines, steps, Axis(LOSS(lang), low=0), CURVE(lang), lang, levels)


LOSS = Words("loss", "손실")
STEP = Words("step", "걸음")
CURVE = Words("Loss: the mean surprise of each step, in nats", "손실: 걸음마다의 평균 놀라움(nat)")
CHANCE = Words("chance, ln {V}", "찍을 때, ln {V}")
FLOOR = Words("floor", "바닥")


# The answers


def answers(state: TrainingState, n: int, found: Learned, lang: str) -> Html:
    """The first questions, the right answers, and what was answered at some steps."""
    steps = columns(found)
    heads = "".join(f'<th scope="col">{esc(when(step, state, lang))}</th>' for step in steps)
    rows = "".join(
        f'<tr><th scope="row"><code>{shown(answer.question)}</code></th>'
        f"<td><code>{shown(answer.right)}</code></td>"
        + "".join(given(found.answers[step][k], lang) for step in steps)
        + "</tr>"
        for k, answer in enumerate(found.now[:LISTED])
    )
    scores = "".join(
        f"<td><b>{sum(a.is_right for a in found.answers[step])} / {len(found.now)}</b></td>"
        for step in steps
    )
    title = (ANSWERS_OF_TEXT if state.task == "text" else ANSWERS)(lang)
    if state.compare != "nothing":
        title = f"{title} · {name_of(state, n, lang)}"
    return Html(
        f'<figure class="chart"><figcaption><b>{esc(title)}</b></figcaption><div class="scroll"><table class="list">'
        f'<tr><th scope="col">{esc(QUESTION(lang))}</th><th scope="col">{esc(RIGHT(lang))}</th>{heads}</tr>{rows}'
        f'<tr><th scope="row">{esc(OF_ALL(lang))}</th><td></td>{scores}</tr></table></div></figure>'
    )


def columns(found: Learned) -> list[int]:
    """The steps whose answers are shown: the first, the last marks, the present one."""
    steps = sorted(found.answers)
    return steps[:1] + steps[1:][1 - COLUMNS :]


def when(step: int, state: TrainingState, lang: str) -> str:
    if step == state.step:
        return TODAY(lang) if step else BEFORE(lang)
    return AT(lang, n=f"{step:,}") if step else BEFORE(lang)


def given(answer: Answer, lang: str) -> Html:
    """An answer, marked right or wrong by a sign and a word, not by colour alone."""
    kind, sign, said = ("pos", "✓", YES(lang)) if answer.is_right else ("neg", "✗", NO(lang))
    return Html(
        f'<td class="{kind}" style="--p:26%"><span role="img" aria-label="{esc(said)}">{sign}</span> '
        f"<code>{shown(answer.given)}</code></td>"
    )


def shown(text: str) -> Html:
    """Text in a cell: a line break drawn, blanks kept."""
    return Html(esc(text.replace("\n", "↵")).replace(" ", "\u00a0"))


ANSWERS = Words("Answers to new questions", "새 문제에 대한 답")
ANSWERS_OF_TEXT = Words("The text continued", "이어 쓴 글")
QUESTION = Words("question", "문제")
RIGHT = Words("right answer", "정답")
BEFORE = Words("before", "학습 전")
AT = Words("step {n}", "{n}걸음")
TODAY = Words("now", "지금")
OF_ALL = Words("right, of all asked", "맞힌 문제 수")
YES = Words("right", "맞음")
NO = Words("wrong", "틀림")
