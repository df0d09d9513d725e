"""From a `State` to the matrices on the screen: one attention, right and as broken.

A `Flow` is what a tab shows, in the order it is computed. All numbers come from
`model`, in float64; this file only gives them names, labels and places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from lessons.words import Words, same
from model.attention import AttentionTrace, attend, causal_mask, draw_keep, resume
from model.mistakes import MISTAKES
from playground.state import QKV, State


@dataclass(frozen=True)
class Matrix:
    """One table: its numbers and how it is labelled.

    `rows` and `cols` are indices of tokens, or None where an axis is not tokens.
    `right` holds the numbers without the mistake, where one is switched on.
    """

    name: str
    symbol: str
    values: Tensor  # (rows, cols)
    rows: list[int] | None = None
    cols: list[int] | None = None
    op: Words | None = None  # the operation that made it, written before it
    op_note: Words | None = None
    note: Words | None = None  # beside the shape
    kind: str = "signed"  # or "weight", "input"
    editable: bool = False
    head: int = 0
    step: str = ""  # the step of the trace; the name where empty
    line: str = ""  # the line of PyTorch that computes it
    column_lines: tuple[str, ...] = ()  # where each column is computed by a line of its own
    of_head: bool = False  # one of several heads' own; `note` then says whose
    right: Tensor | None = None
    heads_columns: int = 0  # columns a head owns, where they are coloured by head
    headers: list[Words] | None = None  # column titles that are not tokens
    new_row: bool = False  # starts a new line of the equation
    above: bool = False  # its operation is written above it, not beside it
    digits: int = 2  # decimals in its cells
    causal: bool = False  # a 0 above its diagonal is a hidden key, not a small weight
    hidden: Tensor | None = None  # (rows, cols) booleans: where a 0 is a hidden key, whatever mask
    shown: bool = True  # else only there for the glass box to draw on
    why: Callable[[Flow, Matrix, int, int], Any] | None = None  # its own `Explanation` of a cell

    @property
    def key(self) -> tuple[str, int]:
        return (self.name, self.head)

    @property
    def differs(self) -> float:
        """Largest distance from the right numbers; NaN where one of them is."""
        return 0.0 if self.right is None else distance(self.values, self.right)


@dataclass(frozen=True)
class Flow:
    """The matrices of a tab in order, and facts its text speaks about."""

    matrices: list[Matrix]
    facts: dict[str, Any] = field(default_factory=dict)

    def get(self, name: str, head: int = 0) -> Matrix | None:
        return next((m for m in self.matrices if m.key == (name, head)), None)

    @property
    def first_wrong(self) -> Matrix | None:
        """The first matrix whose numbers the mistake changes."""
        return next((m for m in self.matrices if not m.differs <= 1e-12), None)


def groups(flow: Flow) -> list[list[Matrix]]:
    """Matrices by operation: one with an `op` opens a group, those after it join."""
    out: list[list[Matrix]] = []
    for m in flow.matrices:
        if not m.shown:
            continue
        if m.op is not None or not out:
            out.append([m])
        else:
            out[-1].append(m)
    return out


def distance(a: Tensor, b: Tensor) -> float:
    """Largest |a - b|; equal infinities are 0 apart. NaN where a number is compared with NaN."""
    assert a.shape == b.shape, "a mistake keeps the shapes"
    same = (a == b) | (a.isnan() & b.isnan())
    return float(torch.where(same, 0.0, (a - b).abs()).max())


def x_of(state: State) -> Tensor:
    """The tokens' vectors `(T, d_in)`, typed or drawn from their seed."""
    if state.x == "seeded":
        g = torch.Generator().manual_seed(state.x_seed)
        return torch.randn(len(state.tokens), state.x_width, generator=g).double()
    return torch.tensor(state.vectors, dtype=torch.float64)


def w_of(state: State, out: bool = False) -> list[Tensor | None]:
    """W_q, W_k, W_v `(d_in, C)`, and W_out `(C, C)` where `out`; None is the identity."""
    names = ["w_query", "w_key", "w_value"] + (["w_out"] if out else [])
    if state.w in ("identity", "given"):
        return [None] * len(names)
    if state.w == "typed":
        typed = [getattr(state, name) for name in names]
        return [None if w is None else torch.tensor(w, dtype=torch.float64) for w in typed]
    g = torch.Generator().manual_seed(state.w_seed)
    C = state.d_out
    return [draw_w(state.w_init, C if n == "w_out" else state.width, C, g) for n in names]


def draw_w(init: str, d_in: int, d_out: int, generator: torch.Generator) -> Tensor:
    """One `(d_in, d_out)`: as `torch.rand`, or as a fresh `nn.Linear` has it (transposed)."""
    if init == "rand":
        return torch.rand(d_in, d_out, generator=generator).double()
    bound = d_in**-0.5  # Kaiming uniform with a = √5, what nn.Linear does
    return torch.empty(d_out, d_in).uniform_(-bound, bound, generator=generator).T.double()


def mask_of(state: State) -> Tensor | None:
    T = len(state.tokens)
    return causal_mask(T) if state.causal else None


def keep_of(state: State, shape: tuple[int, ...]) -> Tensor | None:
    """Which weights survive dropout, from the state's seed; None without dropout."""
    if not state.dropout:
        return None
    g = torch.Generator().manual_seed(state.dropout_seed)
    return draw_keep(shape, state.dropout, g)


def options_of(state: State, shape: tuple[int, ...]) -> dict[str, Any]:
    """The keyword arguments of `attend` that the switches set."""
    return {
        "scale": state.scale,
        "dropout": state.dropout,
        "keep": keep_of(state, shape),
    }


def typed_weights(state: State, heads: int = 1, rows: int | None = None) -> Tensor | None:
    """The weights typed by hand, `(heads, rows, T)`; None where softmax is in charge."""
    if not state.typed or not state.weights:
        return None
    typed = torch.tensor(state.weights, dtype=torch.float64)
    T = len(state.tokens)
    return typed if typed.shape == (heads, rows or T, T) else None


def project(x: Tensor, w: Tensor | None) -> Tensor:
    return x if w is None else x @ w


def qkv_of(state: State) -> list[Tensor]:
    """q, k, v: projected from the vectors, or as they are given."""
    if state.w == "given":
        return [torch.tensor(getattr(state, name), dtype=torch.float64) for name in QKV]
    x = x_of(state)
    return [project(x, w) for w in w_of(state)]


def single_head(state: State) -> tuple[AttentionTrace, AttentionTrace, dict[str, Any]]:
    """One attention of the state: (as shown, as it should be, the options used)."""
    q, k, v = qkv_of(state)
    mask = mask_of(state)
    options = options_of(state, (len(q), len(q)))
    right = attend(q, k, v, mask, **options)
    typed = typed_weights(state)
    if typed is not None:
        shown = resume(right, mask, weights=typed[0], **options)
        return shown, shown, options
    if not state.mistake:
        return right, right, options
    extra = {"d_model": state.width} if state.mistake == "scale_by_d_model" else {}
    return MISTAKES[state.mistake](q, k, v, mask, **options, **extra), right, options


SYMBOLS = {
    "vectors": "X",
    "w_query": "W_q",
    "w_key": "W_k",
    "w_value": "W_v",
    "w_out": "W_out",
    "q": "Q",
    "k": "K",
    "v": "V",
}


def input_matrix(state: State) -> Matrix:
    """The tokens' vectors, editable where they are typed."""
    x = x_of(state)
    return Matrix(
        "vectors",
        "X",
        x,
        rows=list(range(len(x))),
        kind="input",
        editable=state.x == "typed",
        note=None if state.x == "typed" else Words("seed {seed}", "시드 {seed}"),
    )


def w_matrices(state: State, out: bool = False) -> list[Matrix]:
    """W_q, W_k, W_v (and W_o) as tables, where the person wants to see them."""
    if not state.show_w or state.w in ("identity", "given"):
        return []
    names = ["w_query", "w_key", "w_value"] + (["w_out"] if out else [])
    return [
        Matrix(name, SYMBOLS[name], w, kind="input", editable=state.w == "typed", new_row=i == 0)
        for i, (name, w) in enumerate(zip(names, w_of(state, out), strict=True))
        if w is not None
    ]


def attention_matrices(
    state: State, shown: AttentionTrace, right: AttentionTrace, head: int = 0
) -> list[Matrix]:
    """scores → scaled → masked → weights (→ dropped) → output of one attention, as tables."""
    tokens = list(range(len(state.tokens)))
    hs = shown.q.size(-1)
    causal = state.causal
    steps: list[Matrix] = [
        Matrix("scores", "scores", shown.scores, op=same("Q Kᵀ"), new_row=True),
        Matrix(
            "scaled",
            "scaled",
            shown.scaled,
            op=same(f"÷ √{hs}") if state.scale else Words("no ÷ √d", "÷ √d 없음"),
        ),
        Matrix(
            "masked",
            "masked",
            shown.masked,
            op=Words("mask", "마스크"),
            note=Words("−∞ above the diagonal", "대각선 위는 −∞")
            if causal
            else Words("no mask", "마스크 없음"),
            new_row=True,
        ),
        Matrix(
            "weights",
            "weights",
            shown.weights,
            op=Words("typed", "직접 입력") if state.typed else same("softmax"),
            op_note=None if state.typed else Words("each row sums to 1", "각 행의 합은 1"),
            kind="weight",
            editable=state.typed,
        ),
    ]
    if state.dropout:
        steps.append(
            Matrix(
                "dropped",
                "dropped",
                shown.dropped,
                op=Words("dropout", "드롭아웃"),
                op_note=same(f"÷ (1 − {state.dropout:g})"),
                kind="weight",
            )
        )
    placed = [
        replace(m, rows=tokens, cols=tokens, head=head, causal=causal and m.kind == "weight")
        for m in steps
    ]
    placed.append(Matrix("output", "output", shown.output, rows=tokens, op=same("× V"), head=head))
    if shown is right:
        return placed
    return [replace(m, right=getattr(right, m.name)) for m in placed]


def qkv_matrices(
    shown: AttentionTrace, right: AttentionTrace, T: int, head: int = 0, editable: bool = False
) -> list[Matrix]:
    """Q, K, V of one attention as tables."""
    made = []
    for name in ("q", "k", "v"):
        kind = "input" if editable else "signed"
        m = Matrix(
            name,
            SYMBOLS[name],
            getattr(shown, name),
            rows=list(range(T)),
            head=head,
            kind=kind,
            editable=editable,
        )
        made.append(m if shown is right else replace(m, right=getattr(right, name)))
    return made
