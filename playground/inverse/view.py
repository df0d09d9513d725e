"""The goal in words, what has been reached of it, the buttons, the curve; and a gradient tried out."""

from __future__ import annotations

from lessons.words import Words
from model.inverse import MOST, difference, points
from playground import input_errors as errors
from playground.controls import button
from playground.form.chart import Axis, Level, Line, chart
from playground.form.view import running
from playground.html import Html, action, esc, number, scientific
from playground.inverse.state import FIELDS, InverseState, Look, goal_of, how_of, look, x_of
from playground.render import token_label


def top(state: InverseState, lang: str) -> Html:
    found = look(state)
    return Html(
        f'<p class="sentence">{goal_sentence(state, lang)}</p>'
        f'<p class="told" role="status">{standing(state, found, lang)}</p>'
        f"{buttons(state, found, lang)}{curve(state, lang)}"
    )


# The goal


def goal_sentence(state: InverseState, lang: str) -> Html:
    share = number_field(state, "percent", lang)
    return Html(
        GOAL(
            lang, query=chooser(state, "query", lang), share=share, key=chooser(state, "key", lang)
        )
    )


GOAL = Words(
    "Make {query} give {share} % of its attention to {key}.",
    "{query} 토큰이 어텐션의 {share} %만큼을 {key} 토큰에 주게 하십시오.",
)


def chooser(state: InverseState, key: str, lang: str) -> Html:
    """One of the tokens, by its place and name."""
    now = getattr(state, key)
    options = "".join(
        f'<option value="{n}"{" selected" if n == now else ""}>{n + 1} · {esc(token)}</option>'
        for n, token in enumerate(state.tokens)
    )
    label = esc(FIELDS[key].label(lang))
    return Html(f'<select data-set="{key}" aria-label="{label}">{options}</select>')


def number_field(state: InverseState, key: str, lang: str) -> Html:
    """A number within a sentence; what cannot be used stays in it, with its message."""
    kept, wrong = getattr(state, key), state.bad.get(f"set:{key}")
    extra = message = ""
    if wrong is not None:
        said = errors.WholeError(found=errors.short(wrong), low=1, high=99, kept=kept).text(lang)
        extra = f' aria-invalid="true" aria-describedby="bad-inverse-{key}"'
        message = f' <span class="msg" role="alert" id="bad-inverse-{key}">{esc(said)}</span>'
    return Html(
        f'<input class="field short" data-set="{key}" inputmode="decimal" autocomplete="off" '
        f'value="{esc(kept if wrong is None else wrong)}" aria-label="{esc(FIELDS[key].label(lang))}"{extra}>{message}'
    )


# What has been reached


def standing(state: InverseState, found: Look, lang: str) -> Html:
    """Where the share stands, and what keeps it from the goal."""
    if found.here is None:
        return Html(f"<b>{esc(found.refused.text(lang))}</b>")
    here, goal = found.here, goal_of(state)
    now = NOW(
        lang,
        query=token_label(state, state.query),
        key=token_label(state, state.key),
        share=esc(percent(here.weight)),
        goal=state.percent,
        points=f"<b>{points(here.weight, goal):.0f}</b>",
    )
    return Html(f"{now} {verdict(state, found, lang)}")


def verdict(state: InverseState, found: Look, lang: str) -> str:
    here, steps = found.here, max(0, len(state.track) - 1)
    if here.state == "reached":
        return f"<b>{(REACHED if steps else THERE)(lang, n=steps)}</b>"
    if here.state == "flat":
        largest = scientific(here.gradient.abs().max().item())
        return f"<b>{FLAT(lang, largest=largest)}</b>"
    if found.refused:
        return f"<b>{esc(found.refused.text(lang))}</b>"
    if steps and abs(state.track[-1] - goal_of(state).share) > abs(
        state.track[-2] - goal_of(state).share
    ):
        return AWAY(
            lang, n=steps, before=esc(percent(state.track[-2])), after=esc(percent(state.track[-1]))
        )
    return STEPS(lang, n=steps) if steps else ""


def percent(share: float) -> str:
    """A share in percent, never rounded to nothing or to all.

    >>> percent(0.3446), percent(0.0041), percent(3e-8), percent(1.0)
    ('34', '0.41', '< 0.01', '100')
    """
    if 0 < share < 1e-4:
        return "< 0.01"
    if 0 < 1 - share < 1e-4:
        return "> 99.99"
    return f"{share * 100:.{0 if 0.01 <= share <= 0.99 or share in (0, 1) else 2}f}"


NOW = Words(
    "{query} now gives {share} % to {key}; the goal is {goal} %: {points} of 100 points.",
    "{query} 토큰은 지금 {key} 토큰에 {share} %를 줍니다. 목표는 {goal} %이고, 달성도는 100점 만점에 {points}점입니다.",
)
REACHED = Words("Reached, in {n} steps.", "{n}걸음 만에 목표에 닿았습니다.")
THERE = Words("The goal is reached.", "목표에 닿았습니다.")
STEPS = Words("Steps so far: {n}.", "지금까지 {n}걸음 갔습니다.")
AWAY = Words(
    "Step {n} led away from the goal, from {before} % to {after} %: it was too long. Use a smaller learning rate.",
    "{n}번째 걸음에서 {before} %가 {after} %가 되어 목표에서 멀어졌습니다. 걸음이 너무 길었으니 학습률을 줄이십시오.",
)
FLAT = Words(
    "Gradient descent is stuck: the largest number of the gradient is {largest}, so a step changes next to nothing, "
    "however far the goal is.",
    "경사 하강법이 멈추었습니다. 기울기에서 가장 큰 수가 {largest}이므로, 목표가 아무리 멀어도 한 걸음에 거의 아무것도 바뀌지 않습니다.",
)


def buttons(state: InverseState, found: Look, lang: str) -> Html:
    one = button(ONE(lang), action("once"), disabled=state.running or bool(found.refused))
    many = running(state, lang, MANY(lang)) if found.moves or state.running else ""
    return Html(f'<div class="bar"><span class="row">{one}{many}</span></div>')


ONE = Words("One step", "한 걸음")
MANY = Words("Let gradient descent do it", "경사 하강법에 맡기기")


def curve(state: InverseState, lang: str) -> Html:
    """The share after each step, once there was one."""
    if len(state.track) < 2:
        return Html("")
    line = Line(SHARE(lang), [(n, 100 * share) for n, share in enumerate(state.track)])
    full = f'<p class="told">{esc(FULL(lang, n=MOST))}</p>' if len(state.track) > MOST else ""
    made = chart(
        [line],
        Axis(STEP(lang)),
        Axis(SHARE(lang), low=0, high=100),
        CURVE(lang),
        lang,
        [Level(AIM(lang), state.percent)],
    )
    return Html(f"{made}{full}")


SHARE = Words("share in %", "비율(%)")
STEP = Words("step", "걸음")
CURVE = Words("The share after each step", "걸음마다의 비율")
AIM = Words("goal", "목표")
FULL = Words(
    "{n} steps, and a pause here. The next step begins a new curve.",
    "{n}걸음을 가고 여기서 쉽니다. 다음 걸음부터는 곡선을 새로 그립니다.",
)


# A gradient, tried out


def bottom(state: InverseState, lang: str) -> Html:
    """For each opened number of the gradient: the same slope by changing the number a little."""
    found = look(state)
    cells = [c for c in [*state.pins, state.open] if c and c[0] == "gradient"]
    T, d = len(state.vectors), len(state.vectors[0])
    if found.here is None:
        return Html("")
    return Html("".join(tried(state, found, *c[2:], lang) for c in cells if c[2] < T and c[3] < d))


def tried(state: InverseState, found: Look, i: int, j: int, lang: str) -> Html:
    made = difference(x_of(state), goal_of(state), i, j, how_of(state))
    slope, gradient = made.slope, found.here.gradient[i, j].item()
    said = TRIED(
        lang,
        token=token_label(state, i),
        n=j,
        h=f"{made.h:g}",
        above=number(made.above, 8),
        below=number(made.below, 8),
        slope=number(slope, 6),
        gradient=number(gradient, 6),
    )
    code = f"(loss(x + {made.h:g}) - loss(x - {made.h:g})) / (2 * {made.h:g})"
    return Html(f'<p class="told">{said}</p><p class="told"><code>{esc(code)}</code></p>')


TRIED = Words(
    "Tried out: with X[{token}, {n}] larger by {h} the loss is {above}, smaller by {h} it is {below}. "
    "Their difference over 2 × {h} is <b>{slope}</b>; autograd says <b>{gradient}</b>.",
    "직접 바꾸어 보면: X[{token}, {n}]의 숫자를 {h}만큼 키울 때 손실은 {above}, {h}만큼 줄일 때는 {below}입니다. "
    "그 차이를 2 × {h}로 나누면 <b>{slope}</b>이고, autograd가 구한 값은 <b>{gradient}</b>입니다.",
)
