"""Practicals solved rightly in plain torch, and the one line that makes each known mistake of it."""

from __future__ import annotations

RIGHT: dict[int, str] = {}
RIGHT[2] = """
import torch

def scores(q, k):
    return q @ k.transpose(-2, -1)
"""
RIGHT[3] = """
import torch

def softmax(scores):
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)
"""
RIGHT[5] = """
def project(x, w_query, w_key, w_value):
    return x @ w_query, x @ w_key, x @ w_value
"""
RIGHT[6] = """
import torch

def attention(q, k, v):
    scores = q @ k.transpose(-2, -1)
    scaled = scores / q.size(-1) ** 0.5
    weights = torch.softmax(scaled, dim=-1)
    return weights @ v
"""
RIGHT[7] = """
import math
import torch

def causal_attention(q, k, v):
    T = q.size(-2)
    seen = torch.ones(T, T).tril() == 1
    scores = q @ k.transpose(-2, -1)
    scaled = scores / math.sqrt(q.size(-1))
    masked = scaled.masked_fill(~seen, float("-inf"))
    weights = torch.softmax(masked, dim=-1)
    return weights @ v
"""
RIGHT[9] = """
import torch

def multi_head(x, w_query, w_key, w_value, w_out, n_head):
    *lead, T, d_in = x.shape
    C = w_query.size(1)
    hs = C // n_head
    seen = torch.ones(T, T).tril() == 1
    q = (x @ w_query).view(*lead, T, n_head, hs).transpose(-3, -2)
    k = (x @ w_key).view(*lead, T, n_head, hs).transpose(-3, -2)
    v = (x @ w_value).view(*lead, T, n_head, hs).transpose(-3, -2)
    scores = q @ k.transpose(-2, -1)
    scaled = scores / hs ** 0.5
    masked = scaled.masked_fill(~seen, float("-inf"))
    weights = torch.softmax(masked, dim=-1)
    heads = weights @ v
    concat = heads.transpose(-3, -2).reshape(*lead, T, C)
    return concat @ w_out
"""
RIGHT[16] = """
import torch

def sample_top_k(logits, k, temperature):
    hot = logits / temperature
    values, at = hot.topk(min(k, len(hot)))
    kept = torch.full_like(hot, float("-inf"))
    kept[at] = values
    return torch.softmax(kept, dim=-1)
"""

# (name of the mistake, how the line begins, the wrong line), in each attention
IN_ATTENTION = [
    ("queries_and_keys_swapped", "scores = ", "scores = k @ q.transpose(-2, -1)"),
    ("no_scale", "scaled = ", "scaled = scores"),
    ("scale_without_root", "scaled = ", "scaled = scores / q.size(-1)"),
    ("softmax_over_queries", "weights = ", "weights = torch.softmax({masked}, dim=-2)"),
    ("divide_by_sum", "weights = ", "weights = {visible} / {visible}.sum(dim=-1, keepdim=True)"),
]
UNDER_A_MASK = [
    ("no_mask", "masked = ", "masked = scaled"),
    ("mask_diagonal", "seen = ", "seen = torch.ones(T, T).tril(-1) == 1"),
    ("mask_inverted", "masked = ", "masked = scaled.masked_fill(seen, float('-inf'))"),
    ("mask_with_zero", "masked = ", "masked = scaled * seen"),
    ("mask_after_softmax", "weights = ", "weights = torch.softmax(scaled, dim=-1) * seen"),
]
BETWEEN_HEADS = [
    ("scale_by_d_model", "scaled = ", "scaled = scores / C ** 0.5"),
    ("view_without_transpose", "q = ", "q = (x @ w_query).view(*lead, n_head, T, hs); k = (x @ w_key).view(*lead, n_head, T, hs)"),
    ("merge_without_transpose", "concat = ", "concat = heads.reshape(*lead, T, C)"),
    ("no_output_projection", "return ", "return concat"),
    ("slice_instead_of_project", "q = ", "q = sliced(w_query); k = sliced(w_key)"),
]  # fmt: skip
# Those two spoil q, k and v: the lines after the first.
MORE_LINES = {
    "view_without_transpose": [("k = ", "pass"), ("v = ", "v = (x @ w_value).view(*lead, n_head, T, hs)")],
    "slice_instead_of_project": [
        ("k = ", "pass"),
        ("v = ", "v = sliced(w_value)"),
        (
            "seen = ",
            "d = d_in // n_head; sliced = lambda w: torch.stack("
            "[x[..., h*d:(h+1)*d] @ w[h*d:(h+1)*d, h*hs:(h+1)*hs] for h in range(n_head)], dim=-3); "
            "seen = torch.ones(T, T).tril() == 1",
        ),
    ],
}  # fmt: skip
SMALL = {
    2: [
        ("queries_and_keys_swapped", "return ", "return k @ q.transpose(-2, -1)"),
        ("dot_ignores_signs", "return ", "return q.abs() @ k.abs().transpose(-2, -1)"),
        ("dot_as_cosine", "return ", "return torch.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1)"),
        ("dot_adds_instead", "return ", "return q.sum(-1)[..., :, None] + k.sum(-1)[..., None, :]"),
        ("dot_of_sums", "return ", "return q.sum(-1)[..., :, None] * k.sum(-1)[..., None, :]"),
    ],
    3: [
        ("softmax_by_sum", "return ", "return scores / scores.sum(dim=-1, keepdim=True)"),
        ("softmax_not_normalised", "return ", "return torch.exp(scores)"),
        ("softmax_hard", "return ", "return torch.nn.functional.one_hot(scores.argmax(-1), scores.size(-1)).float()"),
        ("softmax_base_2", "return ", "return 2 ** scores / (2 ** scores).sum(-1, keepdim=True)"),
        ("softmax_over_queries", "return ", "return torch.exp(scores) / torch.exp(scores).sum(dim=-2, keepdim=True)"),
    ],
    16: [
        ("temperature_multiplied", "hot = ", "hot = logits * temperature"),
        ("temperature_ignored", "hot = ", "hot = logits"),
        ("top_k_not_renormalised", "return ", "return torch.softmax(hot, dim=-1) * (kept > float('-inf'))"),
        ("top_k_off_by_one", "values, at", "values, at = hot.topk(min(k + 1, len(hot)))"),
        ("top_k_filled_with_zero", "kept = ", "kept = torch.zeros_like(hot)"),
        ("top_k_all_alike", "return ", "return (kept > float('-inf')).float() / k"),
    ],
}  # fmt: skip


def with_line(source: str, begins: str, line: str) -> str:
    """`source` with the one line that begins so put in another way."""
    lines = source.splitlines()
    at = [n for n, text in enumerate(lines) if text.strip().startswith(begins)]
    assert len(at) == 1, (begins, at)
    lines[at[0]] = "    " + line
    return "\n".join(lines) + "\n"


def wrong_sources() -> dict[tuple[int, str], str]:
    """A learner's file for each (station, mistake)."""
    found = {}
    for station, visible in ((6, "scaled"), (7, "(scaled * seen)"), (9, "(scaled * seen)")):
        masked = "scaled" if station == 6 else "masked"
        lines = [*IN_ATTENTION, *(UNDER_A_MASK if station > 6 else [])]
        for name, begins, line in lines + (BETWEEN_HEADS if station == 9 else []):
            source = with_line(
                RIGHT[station],
                begins,
                line.replace("{masked}", masked).replace("{visible}", visible),
            )
            for more in MORE_LINES.get(name, []):
                source = with_line(source, *more)
            found[station, name] = source
    for station, lines in SMALL.items():
        for name, begins, line in lines:
            found[station, name] = with_line(RIGHT[station], begins, line)
    after = "return torch.softmax(kept, dim=-1) / temperature"
    found[16, "temperature_after_softmax"] = with_line(
        found[16, "temperature_ignored"], "return ", after
    )
    return found
