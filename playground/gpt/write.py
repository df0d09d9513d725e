"""The first section: the text as it is written, and the candidates of each token."""

from __future__ import annotations

import torch

from lessons.words import Words
from model.sampling import COLDEST, GenerationStep, SamplingConfig
from playground.arithmetic import Explanation, Frac
from playground.controls import group
from playground.flow import Matrix
from playground.gpt import text
from playground.gpt.parts import EMPTY, best, chip, do, percent, tokens
from playground.gpt.state import MAX_WRITTEN, NUMBERS, RANGES, GptState
from playground.html import number
from playground.input_errors import FieldError
from playground.render import Html, action, esc, explanation_html

CANDIDATES = 10
STAGES = ("probs", "probs_temperature", "probs_top_k", "probs_top_p")


def section(state: GptState, lang: str) -> Html:
    return Html(
        f"{buttons(state, lang)}{settings(state, lang)}{written(state, lang)}{candidates(state, lang)}"
    )


def buttons(state: GptState, lang: str) -> Html:
    """Write, stop, clear; while tokens are left the page itself asks for more."""
    if state.left:
        more = f"<span data-more hidden {action('more')}></span>"
        return Html(
            f'<div class="row bar">{do(STOP(lang), "stop", "pri")}'
            f'<span class="kick">{esc(LEFT(lang, tokens=tokens(lang, state.left)))}</span>{more}</div>'
        )
    ended = text.ended(state)
    label = ANEW if ended else ON if state.written else WRITE
    full = len(state.written) >= MAX_WRITTEN and not ended
    start = (
        ""
        if full
        else do(label(lang, n=state.count, tokens=tokens(lang, state.count)), "write", "pri")
    )
    told = FULL(lang, most=MAX_WRITTEN) if full else ENDED(lang) if ended else ""
    note = f'<span class="kick">{esc(told)}</span>' if told else ""
    clear = do(CLEAR(lang), "clear") if state.written else ""
    return Html(f'<div class="row bar">{start}{clear}{note}</div>')


WRITE = Words("Write {tokens}", "{tokens} 쓰기")
ON = Words("Write {n} more", "{n}개 더 쓰기")
ANEW = Words("Write afresh: at most {tokens}", "새로 쓰기: 최대 {tokens}")
ENDED = Words(
    "The model ended its text here. Another seed may write another one.",
    "모델이 여기서 글을 끝냈습니다. 시드를 바꾸면 다른 글이 나올 수 있습니다.",
)
STOP = Words("Stop", "멈추기")
CLEAR = Words("Clear what was written", "쓴 것 지우기")
LEFT = Words("writing; {tokens} left", "쓰는 중입니다. {tokens} 남았습니다")
FULL = Words(
    "{most} tokens are written, the most there is room for.", "쓸 수 있는 {most}개를 모두 썼습니다."
)


def written(state: GptState, lang: str) -> Html:
    """The prompt plain, each written token coloured by the probability the model gave it."""
    probs = text.of(state).softmax(dim=-1)
    prompt, _ = text.ids_of(state)
    parts = [chip(piece) for piece in text.pieces_of(state, prompt)] if state.prompt else []
    for n, (i, piece) in enumerate(
        zip(state.written, text.pieces_of(state, state.written), strict=True)
    ):
        p = float(probs[n, i])
        label = esc(f"{piece}: {percent(p)}")
        pressed = str(state.at == n).lower()
        attributes = (
            f'{action("pick", at=n)} aria-pressed="{pressed}" aria-label="{label}" title="{label}"'
        )
        parts.append(chip(piece, p, attributes, "sel" if state.at == n else ""))
    window = text.checkpoint(state).gpt.config.block_size
    total = len(prompt) + len(state.written)
    note = (
        WINDOW(lang, total=total, window=window)
        if total > window
        else COUNT(lang, tokens=tokens(lang, total))
    )
    if not state.prompt:
        note = f"{EMPTY(lang)} {note}"
    return Html(
        f'<div class="written" aria-live="polite" aria-label="{esc(TEXT(lang))}">{"".join(parts)}</div>'
        f'<p class="told">{esc(note)}</p>'
    )


TEXT = Words("the text, token by token", "토큰별로 본 글")
COUNT = Words(
    "{tokens}. Deeper colour: the model found the token more probable. Choose one to see its rivals.",
    "{tokens}입니다. 색이 짙을수록 모델이 더 그럴듯하게 본 토큰입니다. 하나를 고르면 경쟁하던 토큰들이 보입니다.",
)
WINDOW = Words(
    "{total} tokens; the model reads at most {window}. When its window is full, the earlier half is let go.",
    "토큰 {total}개입니다. 모델은 최대 {window}개까지 읽습니다. 창이 가득 차면 앞쪽 절반을 놓아 보냅니다.",
)


def step_of(state: GptState) -> tuple[GenerationStep, int]:
    """The step whose candidates are shown, and its place: the chosen token's, else the next one's."""
    place = len(state.written) if state.at is None else state.at
    logits = text.of(state)[place].double()
    token = state.written[place] if place < len(state.written) else -1
    return GenerationStep(token, logits, text.sampling(state)), place


def candidates(state: GptState, lang: str) -> Html:
    """The most probable tokens at one place, before and after each filter."""
    step, place = step_of(state)
    found = best(state, step.probs, CANDIDATES)
    if step.token >= 0 and step.token not in [i for i, _, _ in found]:
        found.append(
            (step.token, text.pieces_of(state, [step.token])[0], float(step.probs[step.token]))
        )
    takes = place < len(state.written) or not text.ended(state)  # nothing goes behind the end
    rows = []
    for r, (i, piece, _) in enumerate(found):
        cells = [
            bar(float(getattr(step, stage)[i]), r, c, state.open == ["candidates", 0, r, c])
            for c, stage in enumerate(STAGES)
        ]
        mark = ' class="chosen"' if i == step.token else ""
        take = do(TAKE(lang), "choose", "mini", at=place, id=i) if i != step.token and takes else ""
        rows.append(
            f'<tr{mark}><th scope="row">{chip(piece)}</th>{"".join(cells)}<td>{take}</td></tr>'
        )
    heads = "".join(f'<th scope="col">{esc(h)}</th>' for h in headings(state, lang))
    title = NEXT(lang) if step.token < 0 else AT(lang, n=place + 1)
    kept = [int((getattr(step, stage) > 0).sum()) for stage in STAGES]
    sizes = "".join(f"<td>{esc(KEPT(lang, n=n))}</td>" for n in kept)
    return Html(
        f'<figure class="m"><figcaption><b>{esc(title)}</b></figcaption><div class="scroll">'
        f'<table role="grid" class="bars" data-matrix="candidates" data-head="0" aria-label="{esc(title)}">'
        f"<tr><td></td>{heads}<td></td></tr>{''.join(rows)}"
        f'<tr class="soft"><td></td>{sizes}<td></td></tr></table></div></figure>'
        f"{opened(state, step, found, lang)}{'' if step.token < 0 else under(lang)}"
    )


def under(lang: str) -> Html:
    """A token that is written may have been drawn otherwise: only the settings of now are known."""
    return Html(f'<p class="told">{esc(UNDER(lang))}</p>')


UNDER = Words(
    "Under the present temperature, top-k and top-p; the token may have been drawn under others.",
    "지금의 온도, top-k, top-p로 계산한 것입니다. 이 토큰은 다른 설정에서 뽑혔을 수 있습니다.",
)


def headings(state: GptState, lang: str) -> list[str]:
    off = OFF(lang)
    return [
        SOFTMAX(lang),
        f"T = {state.temperature:g}",
        f"top-k {state.top_k or off}",
        f"top-p {f'{state.top_p:g}' if state.top_p < 1 else off}",
    ]


SOFTMAX = Words("softmax", "소프트맥스")
OFF = Words("off", "끔")
NEXT = Words("Candidates for the next token", "다음 토큰 후보")
AT = Words("Candidates for written token {n}", "{n}번째로 쓴 토큰의 후보")
KEPT = Words("{n} left", "{n}개 남음")
TAKE = Words("write this", "이것으로 쓰기")


def bar(p: float, r: int, c: int, chosen: bool) -> str:
    """A probability as a number on a bar of its length."""
    sel = " sel" if chosen else ""
    focus = 0 if (r, c) == (0, 0) or chosen else -1
    return (
        f'<td data-row="{r}" data-col="{c}" tabindex="{focus}" class="pbar{sel}" style="--p:{p * 100:.1f}%">'
        f"{number(p, 4)}</td>"
    )


def opened(
    state: GptState, step: GenerationStep, found: list[tuple[int, str, float]], lang: str
) -> Html:
    """The sum behind an opened probability: e^(logit / T) over the sum of all that are left."""
    cell = state.open
    if not cell or cell[0] != "candidates" or cell[2] >= len(found) or cell[3] >= len(STAGES):
        return Html("")
    token, piece, _ = found[cell[2]]
    probs = getattr(step, STAGES[cell[3]])
    T = step.config.temperature if cell[3] else 1.0
    value, left = float(probs[token]), probs > 0
    logit = float(step.logits[token])
    if not value or not T:
        why = DROPPED(lang, piece=piece) if not value else COLD(lang, piece=piece)
        return Html(f'<div class="glass" role="region" aria-live="polite"><p>{esc(why)}</p></div>')
    high = float(step.logits.max())
    power = torch.exp((step.logits - high) / T)
    top, bottom = float(power[token]), float(power[left].sum())
    over = f"{number(logit, 4)} − {number(high, 4)}"
    over = f"({over}) / {T:g}" if T != 1 else over
    terms = SUM(lang, n=int(left.sum()))
    made = Explanation(
        [Frac([f"e^({over})"], [terms]), "=", Frac([number(top, 4)], [number(bottom, 4)])],
        top / bottom,
    )
    return Html(
        f'<div class="glass" role="region" aria-live="polite"><div class="gh"><b>p({esc(piece)}) = '
        f'{number(value, 4)}</b></div><div class="sum">{explanation_html(made, lang)}</div>'
        f"<code>{esc(line(step.config, cell[3], len(probs)))}</code></div>"
    )


def line(config: SamplingConfig, stage: int, V: int) -> str:
    """PyTorch that makes `probs` of `logits`, as they are at that stage; one line a filter."""
    T, k, p = max(config.temperature, COLDEST), config.top_k, config.top_p
    lines = [f"logits = logits / {T}"] if stage and T != 1 else []
    if stage > 1 and k is not None and k < V:
        lines += [
            f"top, at = logits.topk({k})",
            "logits = torch.full_like(logits, -torch.inf).scatter(-1, at, top)",
        ]
    lines += ["probs = torch.softmax(logits, dim=-1)"]
    if stage > 2 and p is not None:
        lines += [
            "probs, at = probs.sort(descending=True)",
            f"probs[probs.cumsum(-1) - probs >= {p}] = 0",
            "probs = torch.zeros_like(probs).scatter(-1, at, probs / probs.sum())",
        ]
    return "\n".join(lines)


SUM = Words("the same summed over the {n} tokens left", "남은 토큰 {n}개에 대해 같은 것을 더한 값")
DROPPED = Words(
    "{piece} can no longer be drawn: its probability here is 0.",
    "{piece} 토큰은 더는 뽑힐 수 없습니다. 여기서 확률이 0입니다.",
)
COLD = Words(
    "Temperature 0 takes the most probable token, {piece}, with certainty.",
    "온도 0에서는 가장 그럴듯한 {piece} 토큰을 반드시 고릅니다.",
)


def settings(state: GptState, lang: str) -> Html:
    """Temperature, top-k, top-p, seed, and how much to write."""
    fields = [
        field(state, lang, "temperature", TEMPERATURE(lang)),
        field(state, lang, "top_k", TOP_K(lang)),
        field(state, lang, "top_p", TOP_P(lang)),
        field(state, lang, "seed", SEED(lang)),
        field(state, lang, "count", HOW_MANY(lang)),
    ]
    return Html(f'<div class="controls">{group(SAMPLING(lang), *fields)}</div>')


def field(state: GptState, lang: str, key: str, label: str) -> Html:
    """A small field for a number; what cannot be read stays, with its message."""
    wrong = state.bad.get(f"set:{key}")
    value = f"{getattr(state, key):g}" if key in NUMBERS else str(getattr(state, key))
    low, high = NUMBERS.get(key) or RANGES[key]
    message, extra = "", ""
    if wrong is not None:
        error = FieldError(found=wrong[:24], low=f"{low:.10g}", high=f"{high:.10g}", kept=value)
        told = esc(error.text(lang))
        message = f'<span class="msg" role="alert" id="bad-{key}">{told}</span>'
        extra = f' aria-invalid="true" aria-describedby="bad-{key}"'
    return Html(
        f'<label class="num">{esc(label)} <input class="field short" data-set="{key}" inputmode="decimal" '
        f'value="{esc(value if wrong is None else wrong)}" autocomplete="off"{extra}>{message}</label>'
    )


SAMPLING = Words("Sampling", "샘플링")
TEMPERATURE = Words("temperature", "온도")
TOP_K = Words("top-k (0: off)", "top-k (0: 끔)")
TOP_P = Words("top-p (1: off)", "top-p (1: 끔)")
SEED = Words("seed", "시드")
HOW_MANY = Words("tokens", "토큰 수")


def csv(state: GptState) -> Matrix:
    """The candidates' probabilities as a matrix, for a file."""
    step, _ = step_of(state)
    ids = [i for i, _, _ in best(state, step.probs, CANDIDATES)]
    return Matrix(
        "candidates", "p", torch.stack([getattr(step, stage)[ids] for stage in STAGES], dim=-1)
    )
