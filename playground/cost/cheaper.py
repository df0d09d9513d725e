"""Full, sparse, top-k and linear attention on the vectors a person typed, line below line.

q, k and v are the vectors themselves. All from `model`: `attend` with the masks of
`model.cheaper`, and `attend_linear`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lessons.words import Words, same
from model.attention import AttentionTrace, attend, causal_mask
from model.cheaper import (
    LinearTrace,
    VanishedError,
    attend_linear,
    strided_mask,
    top_k_mask,
    window_mask,
)
from playground.cost.parts import sentence, told_wrong
from playground.cost.state import CostState
from playground.cost.sums import (
    Why,
    why_apart,
    why_kv,
    why_linear_output,
    why_masked,
    why_output,
    why_phi,
    why_scaled,
    why_share,
    why_similarity,
    why_weights,
    why_z,
)
from playground.flow import Flow, Matrix
from playground.html import Html, join, number

SPARSE = {"window": window_mask, "strided": strided_mask}


@dataclass(frozen=True)
class Kinds:
    """The four attentions of one state; `linear` is the error's where its features vanish."""

    full: AttentionTrace
    sparse: AttentionTrace
    top_k: AttentionTrace
    linear: LinearTrace | VanishedError


def kinds(state: CostState) -> Kinds:
    x = torch.tensor(state.vectors, dtype=torch.float64)
    T = len(x)
    mask = causal_mask(T) if state.causal else None
    full = attend(x, x, x, mask)
    sparse = attend(x, x, x, SPARSE[state.pattern](T, state.window, state.causal))
    best = attend(x, x, x, top_k_mask(full.scaled, state.k, mask))
    try:
        return Kinds(full, sparse, best, attend_linear(x, x, x, state.causal))
    except VanishedError as error:
        return Kinds(full, sparse, best, error)


def farthest(found: AttentionTrace | LinearTrace, full: AttentionTrace) -> Tensor:
    """`(T, 1)`: how far the farthest number of each token's output lies from full attention's."""
    return (found.output - full.output).abs().amax(dim=-1, keepdim=True)


def flow(state: CostState, lang: str) -> Flow:
    of = kinds(state)
    rows = list(range(len(state.tokens)))
    x = Matrix("vectors", "X", of.full.q, rows=rows, kind="input", editable=True)
    scaled = Matrix(
        "scaled",
        "scaled",
        of.full.scaled,
        rows=rows,
        cols=rows,
        op=same(f"X Xᵀ ÷ √{of.full.q.size(-1)}"),
        line="scaled = x @ x.mT / x.size(-1) ** 0.5",
        why=why_scaled,
    )
    made = [x, scaled, *softmax_line("", FULL, of.full, rows)]
    made += softmax_line(
        "sparse",
        PATTERNS[state.pattern],
        of.sparse,
        rows,
        of.full,
        f"w = {state.window}",
    )
    made += softmax_line("top_k", TOP_K, of.top_k, rows, of.full, f"k = {state.k}")
    if isinstance(of.linear, LinearTrace):
        made += linear_line(of.linear, rows, of.full)
    return Flow(made)


def softmax_line(
    kind: str,
    title: Words,
    found: AttentionTrace,
    rows: list[int],
    full: AttentionTrace | None = None,
    note: str = "",
) -> list[Matrix]:
    """masked → weights → output of one kind, and how far from `full`."""
    end = f"_{kind}" if kind else ""
    mask = f"mask{end}"
    made = [
        Matrix(
            f"masked{end}",
            f"masked{end}",
            found.masked,
            rows=rows,
            cols=rows,
            op=title,
            op_note=same(note) if note else None,
            line=f"masked = scaled.masked_fill(~{mask}, -torch.inf)",
            new_row=True,
            why=why_masked,
        ),
        Matrix(
            f"weights{end}",
            f"weights{end}",
            found.weights,
            rows=rows,
            cols=rows,
            op=same("softmax"),
            kind="weight",
            hidden=found.masked.isneginf(),
            line="weights = masked.softmax(dim=-1)",
            why=why_weights(f"masked{end}"),
        ),
        output(end, found.output, rows, "output = weights @ x", why_output(f"weights{end}")),
    ]
    return [*made, apart(end, found, full, rows)] if full is not None else made


def linear_line(found: LinearTrace, rows: list[int], full: AttentionTrace) -> list[Matrix]:
    """φ(X) and the weights it implies; then the way without them: one sum over all tokens."""
    summed = found.kv[-1]  # causal: what the last token reads
    return [
        Matrix("phi", "φ(X)", found.phi_q, rows=rows, op=LINEAR, new_row=True, line=PHI, why=why_phi),
        Matrix(
            "similarity",
            "φ(X) φ(X)ᵀ",
            found.similarity,
            rows=rows,
            cols=rows,
            op=same("φ(q) · φ(k)"),
            causal=found.causal,
            line="similarity = phi(x) @ phi(x).mT" + (".tril()" if found.causal else ""),
            why=why_similarity,
        ),
        Matrix(
            "weights_linear",
            "weights_linear",
            found.weights,
            rows=rows,
            cols=rows,
            op=same("÷ Σ"),
            kind="weight",
            causal=found.causal,
            line="weights = similarity / similarity.sum(dim=-1, keepdim=True)",
            why=why_share,
        ),
        output("_linear", found.output, rows, LINEAR_OUTPUT, why_linear_output(found.causal)),
        apart("_linear", found, full, rows),
        Matrix("kv", "Σ φ(k) vᵀ", summed, op=WITHOUT, new_row=True, line="kv = phi(x).mT @ x", why=why_kv),
        Matrix("z", "Σ φ(k)", found.z[-1:], line="z = phi(x).sum(dim=0)", why=why_z),
    ]  # fmt: skip


def output(end: str, values: Tensor, rows: list[int], line: str, why: Why) -> Matrix:
    return Matrix(
        f"output{end}", f"output{end}", values, rows=rows, op=same("× V"), line=line, why=why
    )


def apart(
    end: str, found: AttentionTrace | LinearTrace, full: AttentionTrace, rows: list[int]
) -> Matrix:
    return Matrix(
        f"apart{end}",
        "apart",
        farthest(found, full),
        rows=rows,
        op=FROM_FULL,
        line=f"(output{end} - output).abs().amax(dim=-1)",
        why=why_apart(f"output{end}"),
    )


# What is said about it


def top(state: CostState, lang: str) -> Html:
    """How many scores each kind uses, and how far it moves the outputs."""
    of = kinds(state)
    pairs = int(of.full.masked.isfinite().sum())

    def said(words: Words, found: AttentionTrace) -> Html:
        used, far = int(found.masked.isfinite().sum()), float(farthest(found, of.full).max())
        return sentence(words(lang, used=used, pairs=pairs, far=number(far), n=state.window))

    parts = [said(USED[state.pattern], of.sparse), said(USED["top_k"], of.top_k)]
    if isinstance(of.linear, VanishedError):
        parts.append(told_wrong(of.linear.text(lang)))
    else:
        far = number(float(farthest(of.linear, of.full).max()))
        parts.append(sentence(LINEAR_USED(lang, pairs=pairs, far=far)))
    return join(*parts)


PHI = "phi = torch.where(x > 0, x + 1, x.exp())"
LINEAR_OUTPUT = "output = (phi(q) @ kv) / (phi(q) @ z)"
FULL = Words("full", "전체")
PATTERNS = {"window": Words("window", "창"), "strided": Words("strided", "띄엄띄엄")}
TOP_K = Words("top-k", "top-k(검색)")
LINEAR = Words("linear: elu + 1", "선형: elu + 1")
WITHOUT = Words("no T × T: one sum for all", "T × T 없이: 합 하나로")
FROM_FULL = Words("from full", "전체와의 차이")
USED = {
    "window": Words(
        "A window of {n} uses {used} of {pairs} scores and moves an output by up to {far}.",
        "크기 {n}인 창은 점수 {pairs}개 가운데 {used}개를 쓰고, 출력을 최대 {far}만큼 바꿉니다.",
    ),
    "strided": Words(
        "The nearest {n} and then one in {n} use {used} of {pairs} scores and move an output by up to {far}.",
        "가까운 {n}개와 그 너머 {n}개마다 하나씩: 점수 {pairs}개 가운데 {used}개를 쓰고, 출력을 최대 {far}만큼 바꿉니다.",
    ),
    "top_k": Words(
        "Top-k uses {used} of {pairs} scores and moves an output by up to {far}. But here all were computed to find the largest; real retrieval finds them with an index.",
        "top-k는 점수 {pairs}개 가운데 {used}개를 쓰고, 출력을 최대 {far}만큼 바꿉니다. 다만 여기서는 큰 점수를 고르려고 점수를 모두 계산했습니다. 실제 검색에서는 색인으로 찾습니다.",
    ),
}
LINEAR_USED = Words(
    "Linear attention needs none of the {pairs} scores and moves an output by up to {far}: it is another function.",
    "선형 어텐션은 점수 {pairs}개가 하나도 필요 없고, 출력을 최대 {far}만큼 바꿉니다. 다른 함수이기 때문입니다.",
)
