"""The section where the model is trained: its loss, and its answers by teacher forcing and free."""

from __future__ import annotations

from lessons.words import Words, same
from model.plus_two import ADDED, LENGTH, constant_loss
from playground.arithmetic import Explanation, Num, cell
from playground.block.why import linear
from playground.controls import button
from playground.encoder_decoder.look import UNSEEN, Look, Stand, look
from playground.encoder_decoder.runs import RUNS, next_pause, training_of
from playground.encoder_decoder.state import MOST, EncoderDecoderState
from playground.flow import Flow, Matrix
from playground.form.chart import Axis, Level, Line, chart
from playground.form.view import running
from playground.html import Html, action, esc, number

# The matrices


def flow(state: EncoderDecoderState, lang: str) -> Flow:
    found = look(state)
    places = [PLACE(lang, n=n + 1) for n in range(LENGTH)]
    given = [
        Matrix(
            "numbers",
            "src",
            found.src,
            kind="input",
            editable=True,
            headers=[same(place) for place in places],
            note=Words("yours", "직접 쓰는 수열"),
        ),
        Matrix(
            "right",
            f"src + {ADDED}",
            found.right,
            op=same(f"+ {ADDED}"),
            note=Words("the right answers", "정답"),
            why=right,
            line=f"target = src + {ADDED}",
        ),
    ]
    return Flow([*given, *asked(found, "right"), *asked(found, "own")], {"look": found})


PLACE = Words("place {n}", "{n}번째")


def asked(found: Look, fed: str) -> list[Matrix]:
    """What the decoder reads, what it answers, how far that is off: a line of the equation."""
    this = found.by[fed]
    before = {"right": "right", "own": "free"}[fed]
    name = {"right": "forced", "own": "free"}[fed]
    return [
        Matrix(
            f"{name}_tgt",
            "tgt",
            this.tgt,
            op=READS[fed],
            note=NOTES[fed],
            new_row=True,
            why=behind(before),
            line="tgt = F.pad(answers[:, :-1], (1, 0))",
        ),
        Matrix(
            name,
            NAMES[fed],
            this.answers,
            op=Words("model", "모델"),
            why=answered(fed),
            line="answers = model(src / scale, tgt / scale) * scale",
        ),
        Matrix(
            f"{name}_off",
            "off",
            this.answers - found.right,
            op=Words("− right", "− 정답"),
            why=distance(name),
            line="answers - target",
        ),
    ]


NAMES = {"right": "forced", "own": "free"}
READS = {
    "right": Words("teacher forcing", "교사 강요"),
    "own": Words("free running", "자유 실행"),
}
NOTES = {
    "right": Words("the right answers, one place behind", "한 칸 민 정답"),
    "own": Words("its own answers, one place behind", "한 칸 민 자기 답"),
}


# Where each number comes from


def right(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    n = cell(flow.get("numbers"), i, j)
    return Explanation([n, "+", Num(ADDED)], n.value + ADDED)


def behind(name: str):
    """The answer of the place before; a 0 where there is none."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        n = cell(flow.get(name), i, j - 1) if j else Num(0.0)
        return Explanation([n], n.value)

    return why


def answered(fed: str):
    """Σ output × w + b, in the numbers' own units: the last Linear, × scale."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        found: Look = flow.facts["look"]
        made = linear(None, found.by[fed].trace.output[0], found.model.head)(flow, m, j, 0)
        if found.scale == 1:
            return made
        return Explanation(["(", *made.parts, ") ×", Num(found.scale)], made.value * found.scale)

    return why


def distance(name: str):
    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        answer, target = cell(flow.get(name), i, j), cell(flow.get("right"), i, j)
        return Explanation([answer, "−", target], answer.value - target.value)

    return why


# Above the matrices


def top(state: EncoderDecoderState, lang: str) -> Html:
    at = look(state).stand
    stopped = RUNS.stopped_by(training_of(state))
    why = f" <b>{esc(stopped.text(lang))}</b>" if stopped else ""
    return Html(
        f'<p class="sentence">{standing(at, lang)}{why}</p>{bar(state, lang)}{curve(state, at, lang)}'
    )


def standing(at: Stand, lang: str) -> Html:
    """How far the training has come, and how far off that leaves sequences it never saw."""
    run = at.run
    said = (TRAINED if run.losses else FRESH)(
        lang,
        n=f"{run.step:,}",
        loss=f"<b>{number(run.losses[-1])}</b>" if run.losses else "",
        count=len(UNSEEN),
        forced=f"<b>{number(at.forced)}</b>",
        free=f"<b>{number(at.free)}</b>",
    )
    return Html(said)


FRESH = Words(
    "Not trained yet. On {count} evenly spaced sequences its answers are off by {forced} with the right ones handed in, "
    "by {free} running free (root mean square).",
    "아직 학습하지 않았습니다. 간격이 고른 수열 {count}개에서 평균 제곱근 오차는 정답을 넣어 줄 때 {forced}, 자유 실행에서 {free}입니다.",
)
TRAINED = Words(
    "After {n} steps the loss is {loss}. On {count} sequences it never saw, its answers are off by {forced} with the "
    "right ones handed in, by {free} running free (root mean square).",
    "{n}걸음 학습한 지금 손실은 {loss}입니다. 본 적 없는 수열 {count}개에서 평균 제곱근 오차는 정답을 넣어 줄 때 {forced}, 자유 실행에서 "
    "{free}입니다.",
)


def bar(state: EncoderDecoderState, lang: str) -> Html:
    """The buttons that train."""
    end = next_pause(state)
    one = button(ONE(lang), action("once"), disabled=state.running or state.step == MOST)
    if state.step == MOST:
        many = f'<span class="kick" role="status">{esc(FULL(lang, n=f"{MOST:,}"))}</span>'
    else:
        words = GO_ON if state.step else TRAIN
        pace = PACE(lang, n=f"{state.step:,}", end=f"{end:,}") if state.running else ""
        many = running(state, lang, words(lang, n=f"{end:,}"), pace=pace)
    back = button(BEGIN(lang), action("begin"), disabled=state.running or not state.step)
    return Html(f'<div class="bar"><span class="row">{many}{one}{back}</span></div>')


TRAIN = Words("Train {n} steps", "{n}걸음 학습하기")
GO_ON = Words("Go on to step {n}", "{n}걸음까지 이어서 학습하기")
ONE = Words("One step", "한 걸음")
BEGIN = Words("To the beginning", "처음 걸음으로")
PACE = Words("step {n} of {end}", "{end}걸음 가운데 {n}걸음")
FULL = Words(
    "{n} steps: that is as far as it goes here.", "{n}걸음입니다. 여기서는 여기까지 학습합니다."
)


def curve(state: EncoderDecoderState, at: Stand, lang: str) -> Html:
    """The loss of each step, beside what a shortcut would cost."""
    line = Line(LOSS(lang), list(enumerate(at.run.losses, start=1)))
    level = {
        "as_printed": Level(ALWAYS(lang), constant_loss()),
        "mended": Level(ECHO(lang), float(ADDED**2)),
    }[state.recipe]
    steps = Axis(STEP(lang), low=1, high=max(at.run.recipe.steps, state.step))
    return chart([line], steps, Axis(LOSS(lang), log=True), CURVE(lang), lang, [level])


LOSS = Words("loss", "손실")
STEP = Words("step", "걸음")
CURVE = Words("Loss: the mean squared error of each step", "손실: 걸음마다의 평균 제곱 오차")
ALWAYS = Words("always 32", "늘 32")
ECHO = Words("nothing added", "2를 안 더하면")
