"""Counted, not measured: bytes of scores and of a KV cache, and the work of a block at two lengths."""

from __future__ import annotations

import torch
from torch import Tensor

from lessons.words import Words, same
from model.cost import all_score_bytes, block_work, cache_bytes, even_length, known_sizes
from model.errors import HeadsError
from model.multihead import check_heads
from model.steps import kv_cache_bytes, score_bytes
from playground.arithmetic import Explanation, Num, add_up, cell, divide, over, total
from playground.cost.parts import (
    MIB,
    TO_MIB,
    TOKENS,
    mebibytes,
    names_of,
    product,
    sentence,
    thousands,
    times,
    told_wrong,
)
from playground.cost.state import MODELS, CostState
from playground.cost.sums import Why
from playground.flow import Flow, Matrix
from playground.html import Html, join

GIB = 2**10  # MiB
DOCUMENT = (1024, 4096, 16384)  # the lengths of which the notes give 4, 64 and 1,024 MB
UNITS = ((10**6, "10⁶"), (10**9, "10⁹"), (10**12, "10¹²"), (10**15, "10¹⁵"))
READABLE = 1e5  # larger numbers are written with a power of ten


def flow(state: CostState, lang: str) -> Flow:
    lengths = sorted({*DOCUMENT, state.length, state.longer})
    labels = [TOKENS(lang, n=thousands(T)) for T in lengths]
    labels += [words(lang) for words in PARTS.values()]
    labels += [MODELS[name](lang) for name in known_sizes()]
    names, rows = names_of(labels)
    first, second = len(lengths), len(lengths) + len(PARTS)
    made = [
        *score_matrices(state, lengths, rows[:first]),
        *work_matrices(state, rows[first:second]),
        *model_matrices(state, rows[second:]),
    ]
    return Flow(made, {"names": names})


# Bytes of scores and of a KV cache, by length


def score_matrices(state: CostState, lengths: list[int], rows: list[int]) -> list[Matrix]:
    size, cached = int(state.number), []
    scores = []
    for T in lengths:
        one = score_bytes(T, size) / MIB
        layer = one * state.n_head
        scores.append([one, layer, layer * state.n_layer / GIB])
        cached.append([kv_cache_bytes(state.n_layer, state.n_embd, T, size) / MIB])

    def why_cache(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        parts, value = product(2, state.n_layer, state.n_embd, lengths[i], size)
        return Explanation([*parts, TO_MIB], value / MIB)

    return [
        Matrix(
            "score_bytes",
            "scores",
            tensor(scores),
            rows=rows,
            headers=[ONE_HEAD, ONE_LAYER, ALL_LAYERS],
            column_lines=(
                f"score_bytes(T, {size}) / 2**20",
                f"{state.n_head} * score_bytes(T, {size}) / 2**20",
                f"{state.n_layer} * {state.n_head} * score_bytes(T, {size}) / 2**30",
            ),
            op=same(f"T × T × {size} B"),
            above=True,
            new_row=True,
            why=why_scores(state, lengths),
        ),
        Matrix(
            "cache_bytes",
            "KV cache",
            tensor(cached),
            rows=rows,
            headers=[WHOLE_CACHE],
            line=f"kv_cache_bytes({state.n_layer}, {state.n_embd}, T, {size}) / 2**20",
            op=KEYS_AND_VALUES,
            above=True,
            why=why_cache,
        ),
    ]


def why_scores(state: CostState, lengths: list[int]) -> Why:
    """One head from its length; a layer from the head, all layers from the layer."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        if j == 0:
            parts, value = product(lengths[i], lengths[i], int(state.number))
            return Explanation([*parts, TO_MIB], value / MIB)
        left = cell(m, i, j - 1)
        if j == 1:
            return Explanation([Num(state.n_head), "×", left], state.n_head * left.value)
        parts = [Num(state.n_layer), "×", left, "÷ 2¹⁰"]
        return Explanation(parts, state.n_layer * left.value / GIB)

    return why


# The work of a block at two lengths


def factors(part: str, T: int, C: int) -> tuple[int, ...]:
    """The multiply–adds of a part as a product; see `model.cost.block_work`."""
    H = 4 * C
    return {
        "qkv": (3, T, C, C),
        "scores": (T, T, C),
        "mixing": (T, T, C),
        "out": (T, C, C),
        "feed_forward": (2, T, C, H),
    }[part]


def work_matrices(state: CostState, rows: list[int]) -> list[Matrix]:
    lengths, C = (state.length, state.longer), state.n_embd
    works = [block_work(T, C) for T in lengths]
    unit, power = unit_of(max(work.total for work in works))
    values = tensor([[getattr(work, part) / unit for work in works] for part in PARTS])
    at = {part: i for i, part in enumerate(PARTS)}

    def why_work(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        part = list(PARTS)[i]
        if part not in SUMS:
            parts, value = product(*factors(part, lengths[j], C))
            return Explanation([*parts, f"÷ {power}"], value / unit)
        terms = [cell(m, at[name], j) for name in SUMS[part]]
        return Explanation(total([[term] for term in terms]), add_up(t.value for t in terms))

    def why_times(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        short, long = (cell(flow.get("work"), i, n) for n in (0, 1))
        return over([long], [short], divide(long.value, short.value))

    return [
        Matrix(
            "work",
            f"work_{power}",
            values,
            rows=rows,
            headers=[same(f"T = {T:,}") for T in lengths],
            line=f"block_work(T, {C})",
            op=MULTIPLY_ADDS,
            above=True,
            new_row=True,
            why=why_work,
        ),
        Matrix(
            "times",
            "×",
            values[:, 1:] / values[:, :1],
            rows=rows,
            headers=[same(f"{state.longer:,} ÷ {state.length:,}")],
            line=f"block_work({state.longer}, {C}) / block_work({state.length}, {C})",
            why=why_times,
        ),
    ]


def unit_of(largest: int) -> tuple[int, str]:
    """The smallest unit in which the largest number is written without a power of ten."""
    return next((u for u in UNITS if largest / u[0] < READABLE), UNITS[-1])


# The models that there are, each at the longest text that it reads


def model_matrices(state: CostState, rows: list[int]) -> list[Matrix]:
    size, configs = int(state.number), list(known_sizes().values())
    values = [[f(c, c.block_size, size) / MIB for f in (all_score_bytes, cache_bytes)] for c in configs]  # fmt: skip

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        c = configs[i]
        T = c.block_size
        one = (c.n_layer, c.n_head, T, T, size) if j == 0 else (2, c.n_layer, c.n_embd, T, size)
        parts, value = product(*one)
        return Explanation([*parts, TO_MIB], value / MIB)

    return [
        Matrix(
            "model_bytes",
            "models",
            tensor(values),
            rows=rows,
            headers=[ALL_SCORES, WHOLE_CACHE],
            column_lines=(
                f"all_score_bytes(config, config.block_size, {size}) / 2**20",
                f"cache_bytes(config, config.block_size, {size}) / 2**20",
            ),
            op=AT_THEIR_LONGEST,
            above=True,
            new_row=True,
            why=why,
        )
    ]


def tensor(rows: list[list[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


# What is said about it


def top(state: CostState, lang: str) -> Html:
    return join(
        wrong_heads(state, lang), sentence(of_scores(state, lang)), sentence(of_work(state, lang))
    )


def of_scores(state: CostState, lang: str) -> str:
    T, size = state.length, int(state.number)
    one = score_bytes(T, size)
    return SCORES(
        lang,
        T=thousands(T),
        model=MODELS[state.model](lang),
        one=mebibytes(one),
        n_layer=state.n_layer,
        n_head=state.n_head,
        all=mebibytes(one * state.n_layer * state.n_head),
        cache=mebibytes(kv_cache_bytes(state.n_layer, state.n_embd, T, size)),
    )


def of_work(state: CostState, lang: str) -> str:
    short, long = (block_work(T, state.n_embd) for T in (state.length, state.longer))
    return WORK(
        lang,
        T=thousands(state.length),
        longer=thousands(state.longer),
        scores=times(long.scores / short.scores),
        block=times(long.total / short.total),
        rest=times(long.per_token / short.per_token),
        even=thousands(even_length(state.n_embd)),
    )


def wrong_heads(state: CostState, lang: str) -> Html:
    """A model that cannot be: the bytes are counted all the same."""
    try:
        check_heads(state.n_embd, state.n_head)
    except HeadsError as error:
        return told_wrong(error.text(lang))
    return Html("")


ONE_HEAD = Words("one head, MiB", "헤드 하나(MiB)")
ONE_LAYER = Words("one layer, MiB", "층 하나(MiB)")
ALL_LAYERS = Words("all layers, GiB", "모든 층(GiB)")
ALL_SCORES = Words("all scores, MiB", "모든 점수(MiB)")
WHOLE_CACHE = Words("KV cache, MiB", "KV 캐시(MiB)")
KEYS_AND_VALUES = Words(
    "a key and a value for each token and layer", "토큰과 층마다 키 하나, 값 하나"
)
MULTIPLY_ADDS = Words("multiply–adds of one block", "블록 하나의 곱셈–덧셈 수")
AT_THEIR_LONGEST = Words(
    "each model at the longest text it reads", "모델마다 읽을 수 있는 가장 긴 글에서"
)
PARTS = {
    "qkv": Words("q, k, v", "q, k, v 만들기"),
    "scores": Words("Q Kᵀ", "Q Kᵀ(점수)"),
    "mixing": Words("weights × V", "가중치 × V"),
    "out": Words("projection", "마지막 투영"),
    "feed_forward": Words("feed-forward", "피드포워드"),
    "per_token": Words("grows with T", "T에 비례하는 부분"),
    "per_pair": Words("grows with T²", "T²에 비례하는 부분"),
    "total": Words("block", "블록 전체"),
}
SUMS = {
    "per_token": ("qkv", "out", "feed_forward"),
    "per_pair": ("scores", "mixing"),
    "total": ("per_token", "per_pair"),
}
SCORES = Words(
    "{T} tokens, {model}: the scores of one head are {one} MiB; in all, layers × heads = {n_layer} × {n_head} of them make {all} MiB, if all are kept. The KV cache takes {cache} MiB.",
    "토큰 {T}개, {model}: 헤드 하나의 점수는 {one} MiB입니다. 층 {n_layer}개에 헤드가 {n_head}개씩 있으므로, 모두 남겨 두면 {all} MiB입니다. KV 캐시는 {cache} MiB입니다.",
)
WORK = Words(
    "From {T} to {longer} tokens the scores become {scores} times as many, but the block’s work {block} times: the part that treats each token by itself, in proportion to T, grows only {rest} times. It and the part in proportion to T² are equally large at {even} tokens.",
    "토큰이 {T}개에서 {longer}개로 바뀌면 점수는 {scores}배가 되지만 블록의 계산량은 {block}배입니다. 토큰을 하나씩 다루는, T에 비례하는 부분은 {rest}배이기 때문입니다. 이 부분과 T²에 비례하는 부분의 크기는 토큰 {even}개에서 같아집니다.",
)
