"""The numbers that the source documents print, out of our functions.

Document 4 is a notebook: here its attention without and with weights, from its
seeds and inputs, to the four decimals it shows (causal mask, dropout and heads:
test_documents_masked.py). Documents 1 and 2: the worked examples. Each matrix is
typed as the document has it.
"""

from __future__ import annotations

import pytest
import torch

from model import attend, causal_mask, resume
from model.mistakes import MISTAKES
from tests.model.documents import INPUTS, printed, queries_keys_values

INF = torch.inf

# Document 4, section 3.3: attention without weights, and without √d


@pytest.fixture
def plain():
    return attend(INPUTS, INPUTS, INPUTS, scale=False)


def test_plain_scores(plain):
    printed(
        plain.scores,
        [
            [0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310],
            [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865],
            [0.9422, 1.4754, 1.4570, 0.8296, 0.7154, 1.0605],
            [0.4753, 0.8434, 0.8296, 0.4937, 0.3474, 0.6565],
            [0.4576, 0.7070, 0.7154, 0.3474, 0.6654, 0.2935],
            [0.6310, 1.0865, 1.0605, 0.6565, 0.2935, 0.9450],
        ],
    )


def test_plain_scores_divided_by_their_sum():
    by_sum = MISTAKES["divide_by_sum"](INPUTS, INPUTS, INPUTS, scale=False)
    printed(by_sum.weights[1], [0.1455, 0.2278, 0.2249, 0.1285, 0.1077, 0.1656])


def test_plain_weights(plain):
    printed(
        plain.weights,
        [
            [0.2098, 0.2006, 0.1981, 0.1242, 0.1220, 0.1452],
            [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581],
            [0.1390, 0.2369, 0.2326, 0.1242, 0.1108, 0.1565],
            [0.1435, 0.2074, 0.2046, 0.1462, 0.1263, 0.1720],
            [0.1526, 0.1958, 0.1975, 0.1367, 0.1879, 0.1295],
            [0.1385, 0.2184, 0.2128, 0.1420, 0.0988, 0.1896],
        ],
    )
    printed(plain.weights.sum(dim=-1), [1.0] * 6)


def test_plain_context_vectors(plain):
    printed(
        plain.output,
        [
            [0.4421, 0.5931, 0.5790],
            [0.4419, 0.6515, 0.5683],
            [0.4431, 0.6496, 0.5671],
            [0.4304, 0.6298, 0.5510],
            [0.4671, 0.5910, 0.5266],
            [0.4177, 0.6503, 0.5645],
        ],
    )


def test_one_query_alone_gives_the_same_context_vector():
    alone = attend(INPUTS[1:2], INPUTS, INPUTS, scale=False)
    printed(alone.scores, [[0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]])
    printed(alone.output, [[0.4419, 0.6515, 0.5683]])


# Section 3.4: with weights


def test_attention_of_the_second_token_with_weights():
    torch.manual_seed(123)
    w_query, w_key, w_value = (torch.rand(3, 2) for _ in range(3))
    q, k, v = INPUTS[1:2] @ w_query, INPUTS @ w_key, INPUTS @ w_value
    trace = attend(q, k, v)
    assert trace.k.shape == trace.v.shape == (6, 2)
    printed(trace.q, [[0.4306, 1.4551]])
    printed(trace.scores, [[1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]])
    printed(trace.weights, [[0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]])
    printed(trace.output, [[0.3061, 0.8210]])


def test_self_attention_v1():
    torch.manual_seed(123)
    weights = [torch.rand(3, 2) for _ in range(3)]
    printed(
        attend(*(INPUTS @ w for w in weights)).output,
        [
            [0.2996, 0.8053],
            [0.3061, 0.8210],
            [0.3058, 0.8203],
            [0.2948, 0.7939],
            [0.2927, 0.7891],
            [0.2990, 0.8040],
        ],
    )


def test_self_attention_v2():
    printed(
        attend(*queries_keys_values()).output,
        [
            [-0.0739, 0.0713],
            [-0.0748, 0.0703],
            [-0.0749, 0.0702],
            [-0.0760, 0.0685],
            [-0.0763, 0.0679],
            [-0.0754, 0.0693],
        ],
    )


# Document 2: the mask example. Its third row is misprinted as 0.1, 0.3, 0.6.

SCORES_2 = torch.tensor(
    [[2.1, 1.5, 0.8, 1.2], [1.3, 2.5, 1.1, 0.9], [0.7, 1.8, 2.2, 1.4], [1.0, 1.6, 1.9, 2.3]]
)


def scores_of_document_2():
    """Its scores are given, not computed: identity queries against them as keys."""
    return attend(torch.eye(4), SCORES_2.mT, torch.eye(4), causal_mask(4), scale=False)


def test_mask_example_of_document_2():
    trace = scores_of_document_2()
    printed(
        trace.masked,
        [
            [2.1, -INF, -INF, -INF],
            [1.3, 2.5, -INF, -INF],
            [0.7, 1.8, 2.2, -INF],
            [1, 1.6, 1.9, 2.3],
        ],
    )
    printed(trace.weights[0], [1.0, 0.0, 0.0, 0.0])
    printed(trace.weights[1], [0.2, 0.8, 0.0, 0.0], decimals=1)
    printed(trace.weights[2], [0.118, 0.354, 0.528, 0.0], decimals=3)
    printed(trace.weights[3], [0.1, 0.2, 0.3, 0.4], decimals=1)


def test_the_third_row_as_printed_in_document_2_is_wrong():
    with pytest.raises(AssertionError):
        printed(scores_of_document_2().weights[2], [0.1, 0.3, 0.6, 0.0], decimals=1)


# Document 1: voices of three tokens

VOICES = torch.tensor([[10.0, 10.0], [100.0, 100.0], [5.0, 5.0]])


def test_typed_weights_of_document_1():
    typed = torch.tensor([[0.1, 0.8, 0.1]] * 3)
    trace = resume(attend(VOICES, VOICES, VOICES), weights=typed)
    printed(trace.output, [[81.5, 81.5]] * 3)


def test_the_dot_products_of_document_1_do_not_give_its_weights():
    trace = attend(VOICES[:1], VOICES, VOICES)
    printed(trace.scores, [[200.0, 2000.0, 100.0]])
    printed(trace.weights, [[0.0, 1.0, 0.0]])
    printed(trace.output, [[100.0, 100.0]])
