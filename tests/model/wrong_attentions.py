"""The known wrong attentions once more, in plain torch and independent of model/mistakes.py.

Each function is named like its mistake and returns the spoiled step and the
output, under a causal mask, from the tensors below.
"""

from __future__ import annotations

import torch

from model import causal_mask, draw_keep

T, HS, D_MODEL, DROPOUT = 5, 4, 12, 0.2
D_IN, C, N_HEAD = 8, 12, 4
HIDDEN = ~causal_mask(T)


def normal(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


Q, K, V = normal(1, 3, 2, T, HS).unbind(0)  # a batch of two
KEEP = draw_keep((2, T, T), DROPOUT, torch.Generator().manual_seed(2))
X = normal(3, 2, T, D_IN)
W_QUERY, W_KEY, W_VALUE = normal(4, 3, D_IN, C).unbind(0)
W_OUT = normal(5, C, C)
GIVEN = (X, W_QUERY, W_KEY, W_VALUE, W_OUT, N_HEAD)


def softmax(x, dim=-1):
    """By exponentials; a row of nothing but −∞ is 0 / 0, NaN."""
    powers = x.exp()
    return powers / powers.sum(dim, keepdim=True)


def scores(q=Q, k=K):
    return torch.einsum("...ic,...jc->...ij", q, k)


def hide(x, hidden=HIDDEN, value=-torch.inf):
    return torch.where(hidden, torch.tensor(value, dtype=torch.float64), x)


def rest(weights, v=V):
    """The output from weights, by a sum over the keys."""
    return torch.einsum("...ij,...jc->...ic", weights, v)


# For each mistake in one attention: the spoiled step and the output, under a causal mask.


def queries_and_keys_swapped():
    wrong = torch.stack([torch.stack([K[b] @ Q[b, j] for j in range(T)], dim=1) for b in (0, 1)])
    return wrong, rest(softmax(hide(wrong / 2)))


def no_scale():
    return scores(), rest(softmax(hide(scores())))


def scale_by_d_model():
    wrong = scores() / 12**0.5
    return wrong, rest(softmax(hide(wrong)))


def scale_without_root():
    return scores() / 4, rest(softmax(hide(scores() / 4)))


def no_mask():
    return scores() / 2, rest(softmax(scores() / 2))


def mask_diagonal():
    wrong = hide(scores() / 2, torch.ones(T, T).triu(0).bool())
    return wrong, rest(softmax(wrong))


def mask_inverted():
    wrong = hide(scores() / 2, ~HIDDEN)
    return wrong, rest(softmax(wrong))


def mask_with_zero():
    wrong = hide(scores() / 2, value=0.0)
    return wrong, rest(softmax(wrong))


def mask_after_softmax():
    wrong = softmax(scores() / 2).tril()
    return wrong, rest(wrong)


def softmax_over_queries():
    wrong = softmax(hide(scores() / 2), dim=-2)
    return wrong, rest(wrong)


def divide_by_sum():
    seen = (scores() / 2).tril()
    wrong = seen / seen.sum(-1, keepdim=True)
    return wrong, rest(wrong)


def dropout_divides_by_p():
    wrong = softmax(hide(scores() / 2)) * KEEP / 0.2
    return wrong, rest(wrong)


def dropout_renormalised():
    kept = softmax(hide(scores() / 2)) * KEEP
    wrong = kept / kept.sum(-1, keepdim=True)
    return wrong, rest(wrong)


IN_ONE_ATTENTION = {
    wrong.__name__: wrong
    for wrong in (
        queries_and_keys_swapped,
        no_scale,
        scale_by_d_model,
        scale_without_root,
        no_mask,
        mask_diagonal,
        mask_inverted,
        mask_with_zero,
        mask_after_softmax,
        softmax_over_queries,
        divide_by_sum,
        dropout_divides_by_p,
        dropout_renormalised,
    )
}


# For each mistake between heads: the spoiled step and the output. Heads are of 3 columns.


def head_by_head(q, k, v):
    """Right attention of (B, nh, T, 3), its heads joined by columns."""
    weights = softmax(hide(scores(q, k) / 3**0.5))
    return torch.cat([rest(weights, v)[:, h] for h in range(N_HEAD)], dim=-1)


def columns(h):
    return slice(3 * h, 3 * h + 3)


def split(w):
    return torch.stack([(X @ w)[..., columns(h)] for h in range(N_HEAD)], dim=1)


def slice_instead_of_project():
    def sliced(w):  # head h: inputs 2h and 2h + 1 through the matching block of W
        own = [slice(2 * h, 2 * h + 2) for h in range(N_HEAD)]
        heads = [X[..., own[h]] @ w[own[h], columns(h)] for h in range(N_HEAD)]
        return torch.stack(heads, dim=1)

    q, k, v = sliced(W_QUERY), sliced(W_KEY), sliced(W_VALUE)
    return q, head_by_head(q, k, v) @ W_OUT


def view_without_transpose():
    q, k, v = ((X @ w).reshape(2, N_HEAD, T, 3) for w in (W_QUERY, W_KEY, W_VALUE))
    return q, head_by_head(q, k, v) @ W_OUT


def merge_without_transpose():
    weights = softmax(hide(scores(split(W_QUERY), split(W_KEY)) / 3**0.5))
    wrong = rest(weights, split(W_VALUE)).reshape(2, T, C)
    return wrong, wrong @ W_OUT


def no_output_projection():
    wrong = head_by_head(split(W_QUERY), split(W_KEY), split(W_VALUE))
    return wrong, wrong


BETWEEN_HEADS = {
    wrong.__name__: wrong
    for wrong in (
        slice_instead_of_project,
        view_without_transpose,
        merge_without_transpose,
        no_output_projection,
    )
}
