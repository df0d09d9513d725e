"""One block as matrices, in the order of its wiring, each with the sum that made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from lessons.words import Words, same
from model.anatomy import moments
from model.stack import length
from playground.block import parts, why
from playground.block.run import Run
from playground.block.state import BlockState
from playground.flow import Matrix

Part = Callable[["Sheet", str], list[Matrix]]  # (sheet, the matrix it reads) -> its own


@dataclass(frozen=True)
class Sheet:
    run: Run
    state: BlockState
    lang: str

    @property
    def x(self) -> str:
        """The matrix that holds the stream as it comes in."""
        return "vectors" if self.run.halves is None else "resid_pre"

    def table(self, name: str, whole: Tensor, **more: object) -> Matrix:
        """As much of `(rows, D)` as can be read, under its own name unless told otherwise."""
        D, most = whole.size(1), self.run.columns
        cut = most is not None and most < D
        found = {"symbol": name, "rows": self.run.rows}
        found |= {"note": same(FIRST(self.lang, n=most, D=D))} if cut else {}
        return Matrix(name=name, values=whole[:, :most], **(found | more))


def code(name: str) -> str:
    """What a matrix is called in a line of code, and after a plus sign."""
    return "x" if name == "vectors" else name


FIRST = Words("the first {n} of {D}", "{D}개 중 앞 {n}개")


def matrices(sheet: Sheet) -> list[Matrix]:
    t = sheet.run.found.trace
    return [
        start(sheet),
        *half(sheet, 1, (sheet.x, t.resid_pre), parts.attention),
        *half(sheet, 2, ("resid_mid", t.resid_mid), parts.mlp),
        norms(sheet),
    ]


def start(sheet: Sheet) -> Matrix:
    """The stream as it comes in: typed, or from the layers below."""
    x, halves = sheet.run.row(sheet.run.found.trace.resid_pre), sheet.run.halves
    if halves is None:
        return sheet.table("vectors", x, symbol="X", kind="input", editable=True)
    embeddings = "resid_pre = wte(idx) + wpe(positions)"
    below = "resid_pre = resid_mid + mlp_out  # of the block below"
    return sheet.table(
        "resid_pre",
        x,
        why=why.added(*((None, part[None]) for part in halves)),
        line=embeddings if sheet.state.layer == "1" else below,
    )


def half(sheet: Sheet, n: int, source: tuple[str, Tensor], part: Part) -> list[Matrix]:
    """Half a block: what the part reads, finds and adds; LayerNorm before it, after it or nowhere."""
    found, block, norm = sheet.run.found, sheet.run.block, sheet.state.norm
    t = found.trace
    ln, read, total, end = {
        1: (block.ln_1, t.normed_1, found.sum_1, t.resid_mid),
        2: (block.ln_2, t.normed_2, found.sum_2, t.resid_post),
    }[n]
    after = {1: "resid_mid", 2: "resid_post"}[n]
    if norm == "pre":
        normed = (f"normed_{n}", read)
        first = normalised(sheet, n, source, normed, ln)
        return [*first, *part(sheet, normed[0]), summed(sheet, n, after, source, total)]
    if norm == "none":
        return [*part(sheet, source[0]), summed(sheet, n, after, source, total)]
    added = summed(sheet, n, f"sum_{n}", source, total)
    last = normalised(sheet, n, (f"sum_{n}", total), (after, end), ln)
    return [*part(sheet, source[0]), added, *last]


def normalised(
    sheet: Sheet, n: int, source: tuple[str, Tensor], made: tuple[str, Tensor], ln: nn.LayerNorm
) -> list[Matrix]:
    """Mean and variance, what LayerNorm makes of the numbers, mean and variance again."""
    (of, stream), (name, out) = source, made
    x, y = sheet.run.row(stream), sheet.run.row(out)
    before = replace(
        statistics(sheet, f"before_{n}", of, x, BEFORE), op=Words("measured", "측정"), new_row=True
    )
    normed = sheet.table(
        name,
        y,
        op=Words("LayerNorm", "층 정규화"),
        why=why.normalised(of, x, f"before_{n}", ln),
        line=f"{name} = (x - mean) / (variance + {ln.eps:.5f}).sqrt() * weight + bias  # ln_{n}",
    )
    return [before, normed, statistics(sheet, f"after_{n}", name, y, AFTER)]


def statistics(sheet: Sheet, name: str, of: str, x: Tensor, when: Words) -> Matrix:
    return sheet.table(
        name,
        moments(x),
        symbol="μ, σ²",
        headers=[Words("mean", "평균"), Words("variance", "분산")],
        note=when,
        why=why.mean_and_variance(of, x),
        column_lines=(
            f"mean = {code(of)}.mean(dim=-1)",
            f"variance = {code(of)}.var(dim=-1, correction=0)",
        ),
    )


BEFORE = Words("before", "정규화 앞")
AFTER = Words("after", "정규화 뒤")


def summed(sheet: Sheet, n: int, name: str, source: tuple[str, Tensor], total: Tensor) -> Matrix:
    """The stream and what the part found; without residual that alone."""
    t = sheet.run.found.trace
    stream, part = {1: t.attn_out, 2: t.mlp_out}[n], {1: "attn_out", 2: "mlp_out"}[n]
    terms = [(part, sheet.run.row(stream))]
    if sheet.run.block.residual:
        terms.insert(0, (source[0], sheet.run.row(source[1])))
    return sheet.table(
        name,
        sheet.run.row(total),
        op=same(f"+ {code(source[0])}")
        if len(terms) == 2
        else Words("nothing added", "더하지 않음"),
        op_note=Words("residual", "잔차 연결") if len(terms) == 2 else None,
        why=why.added(*terms),
        line=f"{name} = {' + '.join(code(term) for term, _ in terms)}",
    )


def norms(sheet: Sheet) -> Matrix:
    """|x| of the stream: as it came, after attention, after the MLP."""
    t = sheet.run.found.trace
    steps = [(sheet.x, t.resid_pre), ("resid_mid", t.resid_mid), ("resid_post", t.resid_post)]
    rows = [(name, sheet.run.row(stream)) for name, stream in steps]
    return sheet.table(
        "norms",
        lengths(rows),
        symbol="|x|",
        headers=[
            Words("came in", "들어올 때"),
            Words("after attention", "어텐션 뒤"),
            Words("after the MLP", "피드포워드 뒤"),
        ],
        op=Words("length", "길이"),
        why=why.lengths(rows),
        column_lines=tuple(f"{code(name)}.norm(dim=-1)" for name, _ in rows),
    )


def lengths(rows: list[tuple[str, Tensor]]) -> Tensor:
    """Each row's length at each step: `(rows, steps)`."""
    return torch.stack([length(x.unsqueeze(-2)) for _, x in rows], dim=1)
