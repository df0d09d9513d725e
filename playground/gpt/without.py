"""What changes in the prediction when heads or whole blocks add nothing."""

from __future__ import annotations

from functools import lru_cache

from torch import Tensor

from lessons.words import Words
from model.looking import each_head_left_out, surprise, without
from playground import models
from playground.gpt.look import read
from playground.gpt.parts import LAYER, best_list, do, head_name, reading
from playground.gpt.state import GptState
from playground.gpt.text import checkpoint, pieces_of
from playground.html import number
from playground.render import Html, action, esc

RANKED = 5


def section(state: GptState, lang: str) -> Html:
    gpt, ids = checkpoint(state).gpt, read(state)
    right = without(gpt, ids)
    out = [(layer, head) for layer, head in state.out_heads]
    shown = without(gpt, ids, out, state.out_blocks)
    moved = ranking(state.model, tuple(ids))  # (n_layer, n_head)
    return Html(
        f"{reading(state, lang)}{effect(state, right, shown, lang)}"
        f"{table(state, moved, lang)}{ranked(moved, lang)}{blocks(state, lang)}"
    )


@lru_cache(maxsize=16)
def ranking(model: str, ids: tuple[int, ...]) -> Tensor:
    """How far the prediction moves without each single head, `(n_layer, n_head)` in nats."""
    gpt = models.checkpoint(model).gpt
    right = without(gpt, list(ids))
    return surprise(right, each_head_left_out(gpt, list(ids)))


def effect(state: GptState, right: Tensor, shown: Tensor, lang: str) -> Html:
    """The best five with everything in place, and without what is left out."""
    rows = [(WHOLE(lang), right)]
    if state.out_heads or state.out_blocks:
        rows.append((missing(state, lang), shown))
    body = "".join(
        f'<tr><th scope="row">{esc(label)}</th><td>{best_list(state, logits.softmax(-1))}</td></tr>'
        for label, logits in rows
    )
    far, back = "", ""
    if len(rows) > 1:
        far = (
            f'<p class="sentence">{esc(FAR(lang, d=number(float(surprise(right, shown)), 4)))}</p>'
        )
        back = do(BACK(lang), "restore")
    (last,) = pieces_of(state, read(state)[-1:])
    title = AFTER(lang, token=last)
    return Html(
        f'<figure class="m"><figcaption><b>{esc(title)}</b>{back}</figcaption>'
        f'<div class="scroll"><table class="list lens">{body}</table></div></figure>{far}'
    )


def missing(state: GptState, lang: str) -> str:
    heads = [head_name(lang, a, b) for a, b in state.out_heads]
    names = heads + [BLOCK(lang, n=n + 1) for n in state.out_blocks]
    return WITHOUT(lang, names=", ".join(names[:4]) + (" …" if len(names) > 4 else ""))


AFTER = Words("after {token}: the next token", "{token} 다음에 올 토큰")
WHOLE = Words("whole model", "온전한 모델")
WITHOUT = Words("without {names}", "뺀 것: {names}")
BLOCK = Words("block {n}", "블록 {n}")
BACK = Words("Put everything back", "모두 되돌리기")
FAR = Words(
    "The prediction moved by {d} nats (KL divergence; 0: nothing changed).",
    "예측이 {d}나트만큼 달라졌습니다(KL 발산, 0이면 그대로입니다).",
)


def table(state: GptState, moved: Tensor, lang: str) -> Html:
    """A button a head, coloured by how far the prediction moves without it alone."""
    largest = float(moved.max()) or 1.0
    rows = []
    for layer, row in enumerate(moved.tolist()):
        cells = []
        for head, value in enumerate(row):
            pressed = str([layer, head] in state.out_heads).lower()
            label = esc(f"{head_name(lang, layer, head)}: {number(value, 4)}")
            cells.append(
                f'<td data-row="{layer}" data-col="{head}" class="pos" style="--p:{value / largest * 62:.0f}%">'
                f'<button type="button" class="mini" aria-pressed="{pressed}" aria-label="{label}" '
                f"{action('leave_head', layer=layer, head=head)}>{number(value, 3)}</button></td>"
            )
        rows.append(
            f'<tr><th scope="row">{esc(LAYER(lang, n=layer + 1))}</th>{"".join(cells)}</tr>'
        )
    heads = "".join(
        f'<th scope="col">{esc(COLUMN(lang, n=n + 1))}</th>' for n in range(moved.size(1))
    )
    return Html(
        f'<figure class="m"><figcaption><b>{esc(EACH(lang))}</b></figcaption>'
        f'<div class="scroll"><table data-matrix="without" data-head="0" class="out">'
        f"<tr><td></td>{heads}</tr>{''.join(rows)}</table></div></figure>"
    )


EACH = Words(
    "nats by which the prediction moves without each single head; choose one to leave it out",
    "헤드를 하나씩 뺐을 때 예측이 달라지는 정도(나트). 고르면 그 헤드를 뺍니다",
)
COLUMN = Words("head {n}", "헤드 {n}")


def ranked(moved: Tensor, lang: str) -> Html:
    values, at = moved.flatten().topk(min(RANKED, moved.numel()))
    names = [
        f"{head_name(lang, n // moved.size(1), n % moved.size(1))} ({number(v, 3)})"
        for n, v in zip(at.tolist(), values.tolist(), strict=True)
    ]
    return Html(f'<p class="told">{esc(MOST(lang, names=", ".join(names)))}</p>')


MOST = Words("Most missed: {names}.", "빠졌을 때 가장 크게 달라지는 헤드: {names}.")


def blocks(state: GptState, lang: str) -> Html:
    """A switch for each whole block."""
    buttons = "".join(
        f'<button type="button" aria-pressed="{str(n in state.out_blocks).lower()}" '
        f'class="chip" {action("leave_block", layer=n)}>{esc(BLOCK(lang, n=n + 1))}</button>'
        for n in range(checkpoint(state).gpt.config.n_layer)
    )
    return Html(
        f'<div class="row" role="group"><span class="kick">{esc(LEAVE(lang))}</span>{buttons}</div>'
    )


LEAVE = Words("Leave out a whole block:", "블록을 통째로 빼기:")
