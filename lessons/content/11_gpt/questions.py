"""Generated questions about the way from ids to the next token."""

from __future__ import annotations

from random import Random

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_dot, worked_softmax


def embedded_token(draw: Random) -> Drawn:
    """One number of wte[idx] + wpe, what the first block reads."""
    wte, wpe = matrix(draw, 3, 4), matrix(draw, 3, 4, low=-1, high=1, step=0.1)
    idx = [draw.randrange(3) for _ in range(3)]
    t, c = draw.randrange(3), draw.randrange(4)
    token, position = wte[idx[t]], wpe[t]
    answer, wrong = compared("embed", token, position, pick=lambda x: x[c])
    blanks = {"wte": show(wte), "wpe": show(wpe), "idx": idx, "t": t, "c": c}
    line = f"wte[{idx[t]}, {c}] + wpe[{t}, {c}] = {n(token[c])} + {n(position[c])} = {n(answer)}"
    return Drawn(blanks, answer, wrong, (line,))


def tied_logit(draw: Random) -> Drawn:
    """The logit of one token where lm_head shares the weights of wte."""
    normed, wte, token = vector(draw, 3), matrix(draw, 4, 3), draw.randrange(4)
    answer, wrong = compared("dot", normed, wte[token])
    blanks = {"normed": show(normed), "wte": show(wte), "token": token}
    return Drawn(blanks, answer, wrong, (worked_dot(f"logits[{token}]", normed, wte[token]),))


def next_token(draw: Random) -> Drawn:
    """The probability of one token after the whole text: softmax of the last row."""
    logits, token = matrix(draw, 3, 3, low=-1, high=3), draw.randrange(3)
    answer, wrong = compared("softmax", logits[-1], pick=lambda p: p[token])
    line = worked_softmax(f"p({token})", logits[-1], token)
    blanks = {"logits": show(logits), "token": token}
    return Drawn(blanks, answer, wrong, (f"logits[2] = {show(logits[-1])}", line))
