"""The notebook (document 4) from its causal mask on: dropout, a batch, many heads.

Every matrix it prints, from its seeds and inputs, to the four decimals it shows.
"""

from __future__ import annotations

import platform

import pytest
import torch
from torch import nn

from model import attend, causal_mask, draw_keep, multi_head, multi_head_loop
from model.mistakes import MISTAKES
from tests.model.documents import INPUTS, linears, printed, queries_keys_values

MASK = causal_mask(6)
INF = torch.inf


@pytest.fixture
def qkv():
    return queries_keys_values()


# Section 3.5: causal mask and dropout

CAUSAL_WEIGHTS = [
    [1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
    [0.5517, 0.4483, 0.0000, 0.0000, 0.0000, 0.0000],
    [0.3800, 0.3097, 0.3103, 0.0000, 0.0000, 0.0000],
    [0.2758, 0.2460, 0.2462, 0.2319, 0.0000, 0.0000],
    [0.2175, 0.1983, 0.1984, 0.1888, 0.1971, 0.0000],
    [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
]


def test_weights_before_masking(qkv):
    printed(
        attend(*qkv).weights,
        [
            [0.1921, 0.1646, 0.1652, 0.1550, 0.1721, 0.1510],
            [0.2041, 0.1659, 0.1662, 0.1496, 0.1665, 0.1477],
            [0.2036, 0.1659, 0.1662, 0.1498, 0.1664, 0.1480],
            [0.1869, 0.1667, 0.1668, 0.1571, 0.1661, 0.1564],
            [0.1830, 0.1669, 0.1670, 0.1588, 0.1658, 0.1585],
            [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
        ],
    )


def test_the_mask():
    printed(
        MASK.float(),
        [
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        ],
    )


def test_masked_after_softmax_then_renormalised(qkv):
    after = MISTAKES["mask_after_softmax"](*qkv, MASK).weights
    printed(
        after,
        [
            [0.1921, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
            [0.2041, 0.1659, 0.0000, 0.0000, 0.0000, 0.0000],
            [0.2036, 0.1659, 0.1662, 0.0000, 0.0000, 0.0000],
            [0.1869, 0.1667, 0.1668, 0.1571, 0.0000, 0.0000],
            [0.1830, 0.1669, 0.1670, 0.1588, 0.1658, 0.0000],
            [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
        ],
    )
    printed(after / after.sum(dim=-1, keepdim=True), CAUSAL_WEIGHTS)


def test_masked_scores_and_their_weights(qkv):
    """The notebook masks the scores before it scales them: `masked` of the unscaled attention."""
    printed(
        attend(*qkv, MASK, scale=False).masked,
        [
            [0.2899, -INF, -INF, -INF, -INF, -INF],
            [0.4656, 0.1723, -INF, -INF, -INF, -INF],
            [0.4594, 0.1703, 0.1731, -INF, -INF, -INF],
            [0.2642, 0.1024, 0.1036, 0.0186, -INF, -INF],
            [0.2183, 0.0874, 0.0882, 0.0177, 0.0786, -INF],
            [0.3408, 0.1270, 0.1290, 0.0198, 0.1290, 0.0078],
        ],
    )
    printed(attend(*qkv, MASK).weights, CAUSAL_WEIGHTS)


DROPPED_ONES = [
    [2.0, 2.0, 0.0, 2.0, 2.0, 0.0],
    [0.0, 0.0, 0.0, 2.0, 0.0, 2.0],
    [2.0, 2.0, 2.0, 2.0, 0.0, 2.0],
    [0.0, 2.0, 2.0, 0.0, 0.0, 2.0],
    [0.0, 2.0, 0.0, 2.0, 0.0, 2.0],
    [0.0, 2.0, 2.0, 2.0, 2.0, 0.0],
]


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="as the notebook says, the draws of a seed differ between platforms; its own were Linux",
)
def test_dropout_of_ones_from_the_seed():
    torch.manual_seed(123)
    printed(draw_keep((6, 6), 0.5) / (1 - 0.5), DROPPED_ONES)


def test_dropout_of_the_weights(qkv):
    """With the survivors the notebook drew, whatever this machine draws from the seed."""
    keep = torch.tensor(DROPPED_ONES) > 0
    printed(
        attend(*qkv, MASK, dropout=0.5, keep=keep).dropped,
        [
            [2.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
            [0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
            [0.7599, 0.6194, 0.6206, 0.0000, 0.0000, 0.0000],
            [0.0000, 0.4921, 0.4925, 0.0000, 0.0000, 0.0000],
            [0.0000, 0.3966, 0.0000, 0.3775, 0.0000, 0.0000],
            [0.0000, 0.3327, 0.3331, 0.3084, 0.3331, 0.0000],
        ],
    )


def test_causal_attention_of_a_batch():
    torch.manual_seed(123)
    batch = torch.stack([INPUTS, INPUTS])
    trace = attend(*(batch @ w for w in linears(3, 2, 3)), MASK)
    one = [
        [-0.4519, 0.2216],
        [-0.5874, 0.0058],
        [-0.6300, -0.0632],
        [-0.5675, -0.0843],
        [-0.5526, -0.0981],
        [-0.5299, -0.1081],
    ]
    printed(trace.output, [one, one])


# Section 3.6: many heads


@pytest.mark.parametrize("route", [multi_head, multi_head_loop])
def test_wrapper_of_two_heads(route):
    """Each head draws its own W_q, W_k, W_v; head by head, two columns each, four in all."""
    torch.manual_seed(123)
    heads = [linears(3, 2, 3) for _ in range(2)]
    w_query, w_key, w_value = (torch.hstack(parts) for parts in zip(*heads, strict=True))
    batch = torch.stack([INPUTS, INPUTS])
    one = [
        [-0.4519, 0.2216, 0.4772, 0.1063],
        [-0.5874, 0.0058, 0.5891, 0.3257],
        [-0.6300, -0.0632, 0.6202, 0.3860],
        [-0.5675, -0.0843, 0.5478, 0.3589],
        [-0.5526, -0.0981, 0.5321, 0.3428],
        [-0.5299, -0.1081, 0.5077, 0.3493],
    ]
    printed(route(batch, w_query, w_key, w_value, None, 2, MASK).output, [one, one])


@pytest.mark.parametrize("route", [multi_head, multi_head_loop])
def test_two_heads_in_one_class_with_a_last_projection(route):
    torch.manual_seed(123)
    w_query, w_key, w_value = linears(3, 2, 3)
    out_proj = nn.Linear(2, 2)
    batch = torch.stack([INPUTS, INPUTS])
    with torch.no_grad():
        trace = route(batch, w_query, w_key, w_value, out_proj.weight.mT, 2, MASK)
        output = trace.output + out_proj.bias
    one = [
        [0.3190, 0.4858],
        [0.2943, 0.3897],
        [0.2856, 0.3593],
        [0.2693, 0.3873],
        [0.2639, 0.3928],
        [0.2575, 0.4028],
    ]
    printed(output, [one, one])


def test_scores_of_two_heads_at_once_and_one_by_one():
    a = torch.tensor(
        [
            [
                [
                    [0.2745, 0.6584, 0.2775, 0.8573],
                    [0.8993, 0.0390, 0.9268, 0.7388],
                    [0.7179, 0.7058, 0.9156, 0.4340],
                ],
                [
                    [0.0772, 0.3565, 0.1479, 0.5331],
                    [0.4066, 0.2318, 0.4545, 0.9737],
                    [0.4606, 0.5159, 0.4220, 0.5786],
                ],
            ]
        ]
    )
    first = [[1.3208, 1.1631, 1.2879], [1.1631, 2.2150, 1.8424], [1.2879, 1.8424, 2.0402]]
    second = [[0.4391, 0.7003, 0.5903], [0.7003, 1.3737, 1.0620], [0.5903, 1.0620, 0.9912]]
    printed(attend(a, a, a).scores, [[first, second]])
    for head, scores in enumerate((first, second)):
        printed(attend(*[a[0, head]] * 3).scores, scores)
