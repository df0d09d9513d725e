"""How the text is cut into tokens: by each tokenizer, and merge by merge."""

from __future__ import annotations

from functools import lru_cache

from lessons.words import Words
from model.errors import PlaygroundError
from model.merging import merge_steps, ranks_of
from model.tokenizer import PIECES
from playground import models
from playground.gpt.parts import chip
from playground.gpt.parts import tokens as counted
from playground.gpt.state import GptState
from playground.gpt.text import checkpoint, piece
from playground.render import Html, esc

MOST_WATCHED = 200  # characters whose merges are shown one by one
MOST_DRAWN = 100  # tokens of a tokenizer that are drawn: more fill screen after screen


def section(state: GptState, lang: str) -> Html:
    rows = "".join(row(name, state, lang) for name in models.tokenizer_names())
    heads = "".join(f'<th scope="col">{esc(h(lang))}</th>' for h in (NAME, VOCABULARY, COUNT, CUT))
    return Html(
        f'<div class="scroll"><table class="list tokens" data-matrix="tokens" data-head="0"><tr>{heads}</tr>{rows}</table></div>'
        f"{merging(state, lang)}"
    )


NAME = Words("tokenizer", "토크나이저")
VOCABULARY = Words("vocabulary", "어휘 수")
COUNT = Words("tokens", "토큰 수")
CUT = Words(
    "pieces with their ids; the chosen model's with their bytes",
    "조각과 번호. 고른 모델의 조각에는 바이트도 있습니다",
)


def row(name: str, state: GptState, lang: str) -> str:
    """One tokenizer: how many tokens it needs, and which."""
    head = f'<th scope="row">{esc(name)}</th>'
    try:
        tokenizer = models.tokenizer(name)
    except PlaygroundError as error:
        return f'<tr>{head}<td colspan="3">{esc(error.text(lang))}</td></tr>'
    ids = tokenizer.encode(state.prompt)
    chips = []
    for i in ids[:MOST_DRAWN]:
        token = tokenizer.token_bytes(i)
        numbers = esc(token.hex(" ").upper())
        shown = f"<small>{numbers}</small>" if name == state.model else ""
        told = chip(piece(token), attributes=f'title="{i}: {numbers}"')
        chips.append(f'<span class="cut">{told}<small>{i}</small>{shown}</span>')
    rest = len(ids) - MOST_DRAWN
    more = f'<p class="told">{esc(MORE(lang, n=MOST_DRAWN, rest=rest))}</p>' if rest > 0 else ""
    return (
        f"<tr>{head}<td>{tokenizer.n_vocab:,}</td><td><b>{len(ids)}</b></td>"
        f"<td>{''.join(chips)}{more}</td></tr>"
    )


MORE = Words(
    "The first {n} tokens are shown; {rest} more follow.",
    "처음 토큰 {n}개만 보입니다. 뒤에 {rest}개가 더 있습니다.",
)


def merging(state: GptState, lang: str) -> Html:
    """The text after a number of merges, from single bytes to the tokens it ends as."""
    tokenizer = checkpoint(state).tokenizer
    if tokenizer.encoding._pat_str != PIECES:  # GPT-2's own pattern: not one of ours
        return Html("")
    steps = watched(state.model, state.prompt[:MOST_WATCHED])
    last = len(steps) - 1
    at = last if state.merges is None else min(state.merges, last)
    new = set(steps[at]) - set(steps[at - 1]) if at else set()
    chips = "".join(chip(piece(t), classes="new" if t in new else "") for t in steps[at])
    label = AT(lang, at=at, last=last, tokens=counted(lang, len(steps[at])))
    cut = f" {WATCHED(lang, n=MOST_WATCHED)}" if len(state.prompt) > MOST_WATCHED else ""
    slider = (
        f'<input type="range" data-set="merges" min="0" max="{last}" value="{at}" '
        f'aria-label="{esc(MERGES(lang))}">'
    )
    return Html(
        f'<h3>{esc(ONE_BY_ONE(lang, name=state.model))}</h3><div class="row">{slider}'
        f'<span class="kick">{esc(label)}</span></div><div class="written">{chips}</div>'
        f'<p class="told">{esc(HOW(lang) + cut)}</p>'
    )


@lru_cache(maxsize=16)
def watched(model: str, text: str) -> list[list[bytes]]:
    return list(merge_steps(text, ranks(model)))


@lru_cache(maxsize=4)
def ranks(model: str) -> dict[bytes, int]:
    return ranks_of(models.checkpoint(model).tokenizer)


ONE_BY_ONE = Words("Merge by merge: {name}", "한 번에 하나씩 합치기: {name}")
MERGES = Words("merges applied", "적용한 합치기")
AT = Words("merge {at} of {last}: {tokens}", "합치기 {last}번 중 {at}번: {tokens}")
HOW = Words(
    "The text begins as bytes. The pair that was learned earliest is joined first, everywhere, again and again.",
    "글은 바이트에서 시작합니다. 가장 먼저 배운 쌍부터 글 전체에서 합치기를 되풀이합니다.",
)
WATCHED = Words("Only the first {n} characters are merged here.", "여기서는 처음 {n}자만 합칩니다.")
