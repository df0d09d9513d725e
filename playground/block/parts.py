"""The two parts of a block as matrices: attention, and the MLP."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lessons.words import Words, same
from playground.block import why
from playground.flow import Matrix

if TYPE_CHECKING:
    from playground.block.sheet import Sheet


def attention(sheet: Sheet, reads: str) -> list[Matrix]:
    """Every head's weights, the heads' outputs side by side, what attention found."""
    run, attn = sheet.run, sheet.run.block.attn
    found = run.found.trace.attn
    concat = run.row(found.concat)
    heads = [m for h in range(attn.n_head) for m in head(sheet, h, reads)]
    return [
        *in_order(heads, sheet.state.inside),
        sheet.table(
            "concat",
            concat,
            op=Words("× V, side by side", "× V, 나란히"),
            heads_columns=concat.size(1) // attn.n_head,
            why=why.voices(found.heads.weights[0][:, run.rows], found.heads.v[0]),
            line="concat = merge_heads(weights @ v)",
        ),
        sheet.table(
            "attn_out",
            run.row(found.output),
            op=same("× W_out"),
            why=why.linear("concat", concat, attn.c_proj),
            line="attn_out = attn.c_proj(concat)",
        ),
    ]


def head(sheet: Sheet, h: int, reads: str) -> list[Matrix]:
    """Q, K and V of one head where they are wanted, and its weights."""
    run, attn = sheet.run, sheet.run.block.attn
    t = run.found.trace
    heads, tokens, hs = t.attn.heads, list(range(len(run.names))), attn.n_embd // attn.n_head
    own = {"head": h, "of_head": True, "note": same(HEAD(sheet.lang, n=h + 1))}
    made, read = [], "x" if reads == "vectors" else reads
    for n, name in enumerate("qkv"):
        rows = run.rows if name == "q" else tokens
        source = reads if rows == run.rows else None  # else its row is not on the page
        values = getattr(heads, name)[0, h][rows]
        first = n * attn.n_embd + h * hs  # c_attn holds W_q, W_k and W_v side by side
        made.append(
            sheet.table(
                name,
                values,
                **own,
                symbol=name.upper(),
                rows=rows,
                why=why.linear(source, t.normed_1[0, rows], attn.c_attn, first),
                line=f"{name} = split_heads(attn.c_attn({read}).chunk(3, dim=-1)[{n}], {attn.n_head})",
                shown=sheet.state.inside,
            )
        )
    scores = {"cols": tokens, "rows": run.rows, **own}
    masked, weights = heads.masked[0, h][run.rows], heads.weights[0, h][run.rows]
    made.append(Matrix("masked", "masked", masked, **scores, shown=False))
    causal = run.halves is None and sheet.state.causal
    mask = MASK if sheet.state.causal or run.halves else ""
    line = f"weights = (q @ k.mT / {hs} ** 0.5){mask}.softmax(dim=-1)"
    return [
        *made,
        Matrix("weights", "weights", weights, **scores, kind="weight", causal=causal, line=line),
    ]


HEAD = Words("head {n}", "헤드 {n}")
MASK = ".masked_fill(~mask, -torch.inf)"


def in_order(heads: list[Matrix], inside: bool) -> list[Matrix]:
    """Head after head; the first of what is shown opens a line of the equation."""
    shown = [m for m in heads if m.shown]
    hidden = [m for m in heads if not m.shown]
    opened = replace(shown[0], op=Words("attention", "어텐션"), new_row=True)
    return [*hidden, opened, *shown[1:]]


def mlp(sheet: Sheet, reads: str) -> list[Matrix]:
    """C → H → C for each token on its own, the activation between."""
    run, net = sheet.run, sheet.run.block.mlp
    t = run.found.trace
    read, before, after = (run.row(step) for step in (t.normed_2, t.hidden_pre, t.hidden))
    C, H = read.size(1), before.size(1)
    soft = net.activation == "gelu"
    return [
        sheet.table(
            "hidden_pre",
            before,
            op=same(f"{C} → {H}"),
            op_note=Words("each token on its own", "토큰마다 따로"),
            new_row=True,
            why=why.linear(reads, read, net.c_fc),
            line=f"hidden_pre = mlp.c_fc({reads})",
        ),
        sheet.table(
            "hidden",
            after,
            op=Words("through GELU", "GELU 통과") if soft else Words("through ReLU", "ReLU 통과"),
            new_row=H > WIDE,
            why=why.bent("hidden_pre", before, net.activation),
            line=GELU if soft else RELU,
        ),
        sheet.table(
            "mlp_out",
            run.row(t.mlp_out),
            op=same(f"{H} → {C}"),
            new_row=True,
            why=why.linear("hidden", after, net.c_proj),
            line="mlp_out = mlp.c_proj(hidden)",
        ),
    ]


WIDE = 8  # numbers: two such rows do not fit beside each other
GELU = "hidden = 0.5 * x * (1 + ((2 / pi) ** 0.5 * (x + 0.044715 * x ** 3)).tanh())"
RELU = "hidden = hidden_pre.clamp(min=0)"
