"""With and without the KV cache: tokens a second, measured when a person asks for it.

The figures are part of the state: each press measures anew, nothing else does.
"""

from __future__ import annotations

import time

import torch

from lessons.words import Words
from model.sampling import generate, prompt_ids
from playground import models
from playground.gpt.parts import do
from playground.gpt.state import GptState
from playground.html import number
from playground.render import Html, esc

TOKENS = 48  # written in each measurement; a few tenths of a second


def section(state: GptState, lang: str) -> Html:
    start = do((AGAIN if state.measured else MEASURE)(lang, n=TOKENS), "measure", "pri")
    told = f'<p class="told">{esc(WHY(lang))}</p>'
    if not state.measured:
        return Html(f'<div class="row bar">{start}</div>{told}')
    cached, plain, length = state.measured
    rows = "".join(
        f'<tr><th scope="row">{esc(label(lang))}</th><td>{number(rate, 0)}</td></tr>'
        for label, rate in ((WITH, cached), (WITHOUT, plain))
    )
    sentence = FASTER(lang, ratio=number(cached / plain, 1), length=length)
    return Html(
        f'<div class="row bar">{start}</div><p class="sentence">{esc(sentence)}</p>'
        f'<table class="list"><tr><td></td><th scope="col">{esc(RATE(lang))}</th></tr>{rows}</table>{told}'
    )


def measured(model: str, prompt: str) -> list[float]:
    """[tokens a second with the cache, without, the length at the end]."""
    checkpoint = models.checkpoint(model)
    ids = prompt_ids(checkpoint.tokenizer, prompt)
    ids = ids[-max(1, checkpoint.gpt.config.block_size - TOKENS) :]
    rates = []
    for use_cache in (True, False):
        steps = generate(
            checkpoint.gpt, torch.tensor(ids), TOKENS, temperature=0, use_cache=use_cache
        )
        next(steps)  # reading the prompt is the same for both
        began = time.perf_counter()
        written = sum(1 for _ in steps)
        rates.append(round(written / (time.perf_counter() - began), 2))
    return [*rates, len(ids) + TOKENS]


MEASURE = Words("Measure: {n} tokens each way", "재 보기: 각각 토큰 {n}개")
AGAIN = Words("Measure again", "다시 재기")
WITH = Words("with KV cache", "KV 캐시 있음")
WITHOUT = Words("without", "KV 캐시 없음")
RATE = Words("tokens a second", "초당 토큰 수")
FASTER = Words(
    "In this measurement the cache made writing {ratio} times as fast, up to {length} tokens.",
    "이번에 재어 보니 토큰 {length}개까지 쓸 때 캐시가 있으면 {ratio}배 빨랐습니다.",
)
WHY = Words(
    "Without a cache, each new token has the keys and values of all earlier tokens computed again; with it, only its own.",
    "캐시가 없으면 새 토큰을 쓸 때마다 앞의 모든 토큰의 키와 값을 다시 계산합니다. 있으면 새 토큰의 것만 계산합니다.",
)
