"""The measurements as curves, with what to expect before and what was found after."""

from __future__ import annotations

from collections.abc import Callable

from lessons.words import Words
from model.measuring import LENGTHS, REPEATS, WINDOW, Measurement
from model.steps import score_bytes
from playground.cost.measure import (
    BYTES,
    HEAD_SIZE,
    LABELS,
    by_length,
    measurements,
    routes,
    upcoming_in,
)
from playground.cost.parts import MIB, sentence, thousands, times, told
from playground.cost.state import CostState
from playground.form.chart import Axis, Line, chart
from playground.form.view import running
from playground.html import Html

HUE = {"traced": 0, "fused": 1, "window": 2, "linear": 3}  # one for each route, in both charts


def top(state: CostState, lang: str) -> Html:
    note = COUNTED(lang, repeats=REPEATS, hs=HEAD_SIZE)
    if state.others:
        note += " " + WIDTH(lang, w=WINDOW)
    return Html(
        f'<div class="row bar">{running(state, lang, label(state, lang), pace=pace(state, lang))}</div>'
        f"{sentence(said(state, lang))}"
        f'<div class="charts">{time_chart(state, lang)}{memory_chart(state, lang)}</div>{told(note)}'
    )


def label(state: CostState, lang: str) -> str:
    if not state.measured:
        return MEASURE(lang)
    return AGAIN(lang) if upcoming_in(state) is None else GO_ON(lang)


def pace(state: CostState, lang: str) -> str:
    """How far it is; after the end, why it went no further."""
    following = upcoming_in(state)
    if state.running and following:
        return NOW(lang, T=thousands(following[0]), route=LABELS[following[1]](lang))
    longest = max(by_length(state), default=0)
    if state.measured and following is None and longest < LENGTHS[-1]:
        return CAPPED(lang, cap=state.cap, T=thousands(longest))
    return ""


def said(state: CostState, lang: str) -> str:
    """What the last doubling did; before there is one, what to guess."""
    found = by_length(state)
    if len(found) < 2:
        return GUESS(lang, T=thousands(LENGTHS[-2]), twice=thousands(LENGTHS[-1]))
    (T, before), (twice, here) = list(found.items())[-2:]
    slow, fast = (
        (
            times(here[route].seconds / before[route].seconds),
            times(here[route].peak / before[route].peak),
        )
        for route in ("traced", "fused")
    )
    return FOUND(
        lang,
        T=thousands(T),
        twice=thousands(twice),
        slow=slow[0],
        slow_bytes=slow[1],
        fast=fast[0],
        fast_bytes=fast[1],
    )


def curves(state: CostState, lang: str, pick: Callable[[Measurement], float]) -> list[Line]:
    """One line for each route, a dot for each measurement."""
    return [
        Line(
            LABELS[route](lang),
            sorted((m.T, pick(m)) for m in measurements(state) if m.route == route),
            HUE[route],
            HUE[route],
            dots=True,
        )
        for route in routes(state)
    ]


def time_chart(state: CostState, lang: str) -> Html:
    lines = curves(state, lang, lambda m: m.seconds * 1000)
    measured = lines[0].points  # step by step
    if measured:  # through the longest, where the least of it is overhead
        last, took = measured[-1]
        lines.append(Line(SQUARE(lang), [(T, took * T**2 / last**2) for T, _ in measured], 7, 2))
    return chart(lines, axis_of_lengths(lang), Axis(MS(lang), log=True), TIME(lang), lang)


def memory_chart(state: CostState, lang: str) -> Html:
    lines = curves(state, lang, lambda m: m.peak / MIB)
    square = [(T, score_bytes(T, BYTES) / MIB) for T in LENGTHS]
    lines.append(Line(ONE_MATRIX(lang), square, 7, 2))
    return chart(lines, axis_of_lengths(lang), Axis(MEBIBYTES(lang), log=True), MEMORY(lang), lang)


def axis_of_lengths(lang: str) -> Axis:
    return Axis(AXIS(lang), log=True, low=LENGTHS[0], high=LENGTHS[-1])


MEASURE = Words("Measure", "재기")
GO_ON = Words("Go on measuring", "이어서 재기")
AGAIN = Words("Measure again", "다시 재기")
NOW = Words("{T} tokens, {route} …", "토큰 {T}개, {route} …")
CAPPED = Words(
    "Ended after {T} tokens: more than {cap} seconds were spent. Allow more seconds to go on.",
    "{cap}초가 넘어 토큰 {T}개에서 마쳤습니다. 초를 늘리면 이어서 잴 수 있습니다.",
)
GUESS = Words(
    "Guess before you measure: from {T} to {twice} tokens, how many times as long does attention take, and how many times as much memory?",
    "재기 전에 짐작해 보십시오. 토큰이 {T}개에서 {twice}개로 늘면 어텐션에 걸리는 시간은 몇 배, 메모리는 몇 배가 되겠습니까?",
)
FOUND = Words(
    "From {T} to {twice} tokens: step by step {slow} times the time and {slow_bytes} times the memory, by SDPA {fast} times the time and {fast_bytes} times the memory.",
    "토큰 {T}개에서 {twice}개로: 한 단계씩 계산하면 시간은 {slow}배, 메모리는 {slow_bytes}배이고, SDPA로는 시간은 {fast}배, 메모리는 {fast_bytes}배입니다.",
)
COUNTED = Words(
    "Measured on the machine that serves this page: one text, one head of {hs} numbers, float32, no mask; the fastest of up to {repeats} runs. "
    "Short texts cost little but overhead, and matrices too large for the processor’s cache cost more than their share: "
    "so a doubling need not be 4 times exactly. “Kept” is q, k, v and all that comes back; “peak” the most that is there at the same time. "
    "What SDPA takes for its tiles inside its kernel, about half a MiB at any length, cannot be seen from here.",
    "이 페이지를 돌리는 서버에서 쟀습니다. 글 하나, 숫자 {hs}개짜리 헤드 하나, float32, 마스크 없음이고, 최대 {repeats}번 가운데 가장 빠른 것입니다. "
    "짧은 글에서는 준비하는 시간이 대부분이고, 프로세서의 캐시에 다 들어가지 않는 행렬은 그만큼 더 오래 걸립니다. "
    "그래서 길이가 두 배일 때 꼭 4배는 아닙니다. kept는 q, k, v와 돌려받은 것 전부, peak는 가장 많을 때 한꺼번에 있던 것 전부입니다. "
    "SDPA가 커널 안에서 조각을 두는 데 쓰는, 길이와 상관없이 0.5 MiB쯤 되는 메모리는 여기서 보이지 않습니다.",
)
WIDTH = Words(
    "The window reaches {w} tokens to either side, block by block.",
    "창은 양쪽으로 토큰 {w}개까지이고, 블록 단위로 계산합니다.",
)
TIME = Words("Time", "시간")
MEMORY = Words("Memory in use at most (peak)", "가장 많이 쓴 메모리(peak)")
AXIS = Words("tokens T", "토큰 수 T")
MS = Words("milliseconds", "밀리초")
MEBIBYTES = Words("MiB (2²⁰ bytes)", "MiB(2²⁰바이트)")
SQUARE = Words("as T² would", "T²에 비례하면")
ONE_MATRIX = Words("one T × T", "T × T 하나")
