"""What a person has set in the Block tab, and the fields it is set with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lessons.words import Words, same
from model.errors import HeadsError
from model.sampling import prompt_ids
from playground import input_errors as errors
from playground import models
from playground.controls import radios
from playground.form.fields import Choice, Field, Names, Rows, Switch, Text, Whole
from playground.form.state import FormState
from playground.gpt.text import piece
from playground.html import Html, esc
from playground.state import MAX_SEED

MODEL = "shakespeare-64"
MOST_READ = 12  # tokens of the prompt
MOST_BLOCKS = 12


@dataclass(frozen=True)
class BlockState(FormState):
    # one block
    source: str = "typed"  # or "trained": a block of MODEL
    tokens: list[str] = field(default_factory=lambda: ["a", "b", "c"])
    vectors: list[list[float]] = field(
        default_factory=lambda: [
            [2.0, 4.0, 6.0, 8.0],
            [20.0, 40.0, 60.0, 80.0],
            [1.0, -1.0, 1.0, -1.0],
        ]
    )
    n_head: int = 2
    causal: bool = True
    prompt: str = "ROMEO:"
    layer: str = "1"  # of MODEL, from 1
    at: int = MOST_READ - 1  # the token whose row is shown; the last one where there are fewer
    norm: str = "pre"
    residual: bool = True
    inside: bool = False  # Q, K and V are shown
    # many
    blocks: int = MOST_BLOCKS
    width: str = "64"
    gain: str = "1"
    pre: bool = True  # which wirings are drawn: the names of model.stack.WIRINGS
    post: bool = False
    none: bool = False
    no_residual: bool = False
    neither: bool = False
    # both
    seed: int = 1
    activation: str = "gelu"


# Fields whose choices depend on the rest of the state


@dataclass(frozen=True)
class HeadCount(Whole):
    """How many heads: only what divides the width can be chosen."""

    def control(self, form: str, state: BlockState, lang: str, name: str) -> Html:
        label, C = esc(self.label(lang)), len(state.vectors[0])
        found = radios(name, form, [(n, str(n)) for n in divisors(C)], state.n_head)
        return Html(
            f'<span class="row" role="radiogroup" aria-label="{label}"><span class="kick">{label}</span>{found}</span>'
        )


@dataclass(frozen=True)
class TokenOf(Whole):
    """A token of the prompt, by its place."""

    def control(self, form: str, state: BlockState, lang: str, name: str) -> Html:
        chosen = len(ids_read(state)) - 1
        options = "".join(
            f'<option value="{n}"{" selected" if n == chosen else ""}>{n + 1}. {esc(text)}</option>'
            for n, text in enumerate(pieces(prompt_tokens(state)))
        )
        return Html(
            f'<label>{esc(self.label(lang))} <select data-set="{name}">{options}</select></label>'
        )


def divisors(C: int) -> list[int]:
    return [n for n in range(1, C + 1) if C % n == 0]


FIELDS: dict[str, Field] = {
    "source": Choice(
        Words("input", "입력"),
        {
            "typed": Words("your vectors, a fresh block", "직접 쓴 벡터, 갓 만든 블록"),
            "trained": Words("a token of shakespeare-64, trained", "학습한 shakespeare-64의 토큰"),
        },
    ),
    "tokens": Names(most=8),
    "vectors": Rows(most_rows=8, most_cols=16),
    "n_head": HeadCount(Words("heads", "헤드 수"), 1, 16),
    "causal": Switch(Words("causal mask", "코잘 마스크")),
    "prompt": Text(Words("prompt", "프롬프트"), most=60, rows=1),  # read while it is typed
    "layer": Choice(
        Words("layer", "층"), {"1": same("1"), "2": same("2"), "3": same("3"), "4": same("4")}
    ),
    "at": TokenOf(Words("token", "토큰"), 0, MOST_READ - 1),
    "norm": Choice(
        Words("LayerNorm", "층 정규화"),
        {
            "pre": Words("before each part (pre)", "계산 앞에(pre)"),
            "post": Words("after each sum (post)", "더한 뒤에(post)"),
            "none": Words("off", "끄기"),
        },
    ),
    "residual": Switch(Words("residual connection", "잔차 연결")),
    "inside": Switch(Words("show Q, K and V", "Q, K, V 보기")),
    "blocks": Whole(Words("blocks", "블록 수"), 1, MOST_BLOCKS, slide=1),
    "width": Choice(Words("width", "너비"), {"16": same("16"), "32": same("32"), "64": same("64")}),
    "gain": Choice(
        Words("fresh weights ×", "갓 뽑은 가중치 ×"),
        {"0.5": same("0.5"), "1": same("1"), "2": same("2"), "3": same("3")},
    ),
    "pre": Switch(Words("pre-norm (GPT-2)", "앞 정규화(pre-norm, GPT-2)")),
    "post": Switch(Words("post-norm (2017)", "뒤 정규화(post-norm, 2017)")),
    "none": Switch(Words("no LayerNorm", "층 정규화 없음")),
    "no_residual": Switch(Words("no residual", "잔차 연결 없음")),
    "neither": Switch(Words("neither of the two", "둘 다 없음")),
    "seed": Whole(Words("seed", "시드"), 0, MAX_SEED),
    "activation": Choice(
        Words("between the Linears", "두 Linear 사이"),
        {
            "gelu": Words("GELU, soft", "부드러운 GELU"),
            "relu": Words("ReLU, cut at 0", "0에서 자르는 ReLU"),
        },
    ),
}


def all_ids(state: BlockState) -> list[int]:
    return prompt_ids(models.tokenizer(MODEL), state.prompt)


def prompt_tokens(state: BlockState) -> list[int]:
    """The ids that can be chosen: at most MOST_READ of the prompt."""
    return all_ids(state)[:MOST_READ]


def ids_read(state: BlockState) -> list[int]:
    """The ids up to the chosen token: what comes after it, a causal block does not see."""
    return prompt_tokens(state)[: state.at + 1]


def pieces(ids: Sequence[int]) -> list[str]:
    tokenizer = models.tokenizer(MODEL)
    return [piece(tokenizer.token_bytes(i)) for i in ids]


def settle(state: BlockState) -> BlockState:
    """As many names as vectors, heads that divide the width."""
    T, C = len(state.vectors), len(state.vectors[0])
    if len(state.tokens) != T:
        raise errors.LinkError(where="tokens", found=len(state.tokens), wanted=T)
    if C % state.n_head:
        raise HeadsError(width=C, n_head=state.n_head)
    return state


def changed(before: BlockState, after: BlockState, keys: tuple[str, ...]) -> BlockState:
    """Another width takes the most heads that still divide it; another source opens nothing."""
    if "vectors" in keys:
        C = len(after.vectors[0])
        after = after.but(n_head=max(n for n in divisors(C) if n <= after.n_head))
    if "source" in keys:
        after = after.but(open=None, pins=[])
    return after
