"""The mistakes in the small steps once more, in plain Python and independent of model/.

RIGHT holds ordinary inputs of each step and what comes out; WRONG, by step and name, what
comes out with the mistake. Probabilities are sums of sixteenths, so that they can be read.
"""

from __future__ import annotations

import math

import torch


def tensor(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def shares(numbers):
    return [number / sum(numbers) for number in numbers]


def softmax(scores):
    return shares([math.exp(score) for score in scores])


def normal(row, square_mean=None):
    """Mean 0 and variance 1; `square_mean` is divided by instead of the variance."""
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    return [(x - mean) / math.sqrt((square_mean or variance) + 1e-5) for x in row]


Q, K = [1.5, -0.5, 2.0], [0.5, 1.0, -1.0]  # q · k = 0.75 − 0.5 − 2
SCORES = [2.0, 0.5, -1.0]
P = softmax(SCORES)
X = [[1.0, 2.0, 6.0, -3.0], [0.5, 0.0, -1.0, 2.5], [2.0, 4.0, 1.0, 3.0]]
FOUND = [[2.0, -1.0, 0.5, 1.0]] * 3
TOKEN, PLACE = [0.5, -1.0, 2.0, 1.5], [1.0, 0.5, -0.5, 0.0]
LOGITS = tensor(6.0, 5.0, 3.0, 2.0).div(16).log()  # probabilities 6, 5, 3 and 2 sixteenths
ROWS = tensor([8.0, 2.0, 6.0], [1.0, 12.0, 3.0]).div(16).log()
TARGETS = torch.tensor([1, 1])  # probabilities ⅛ and ¾
WEIGHT, GRADIENT = [0.8, -0.3], [2.0, -1.5]


def f(x):
    """Any sublayer, of tensors as of lists."""
    return [f(row) for row in x] if isinstance(x, list) else x * x + 1


def added(x, y):
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]


def of_rows(change, x=X):
    return [change(row) for row in x]


def row_of(*angles):
    """Sine, cosine, sine, cosine of four angles."""
    return [turn(angle) for turn, angle in zip([math.sin, math.cos] * 2, angles, strict=True)]


RIGHT = {
    "dot": ((tensor(*Q), tensor(*K)), -1.75),
    "softmax": ((tensor(*SCORES),), P),
    "softmax_slope": ((tensor(*SCORES),), [p - p * p for p in P]),
    "layer_norm": ((tensor(*X),), of_rows(normal)),
    "residual": ((tensor(*X), tensor(*FOUND)), added(X, FOUND)),
    "pre_norm": ((tensor(*X), f), added(X, f(of_rows(normal)))),
    "embed": ((tensor(*TOKEN), tensor(*PLACE)), [1.5, -0.5, 1.5, 1.5]),
    "sinusoid": ((5, 4), row_of(5, 5, 0.05, 0.05)),
    "temperature": ((LOGITS, 2.0), shares([math.sqrt(n) for n in (6, 5, 3, 2)])),
    "top_k": ((LOGITS, 2), [6 / 11, 5 / 11, 0, 0]),
    "top_p": ((LOGITS, 0.8), [6 / 14, 5 / 14, 3 / 14, 0]),
    "cross_entropy": ((ROWS, TARGETS), (math.log(8) + math.log(4 / 3)) / 2),
    "gradient_step": ((tensor(*WEIGHT), tensor(*GRADIENT), 0.1), [0.6, -0.15]),
    "visible_pairs": ((6,), 21),
    "linear_parameters": ((8, 32), 288),
    "attention_parameters": ((12, 3), 624),
    "score_bytes": ((6, 4), 144),
    "kv_cache_bytes": ((3, 12, 6, 4), 1728),
    "utf8_bytes": (("고양이 cat",), 13),
}

WRONG = {
    "dot": {
        "dot_as_cosine": -1.75 / math.sqrt(6.5 * 2.25),
        "dot_ignores_signs": 3.25,
        "dot_adds_instead": 3.5,
        "dot_of_sums": 1.5,
    },
    "softmax": {
        "softmax_by_sum": [4 / 3, 1 / 3, -2 / 3],
        "softmax_not_normalised": [math.exp(score) for score in SCORES],
        "softmax_hard": [1, 0, 0],
        "softmax_base_2": shares([2**score for score in SCORES]),
    },
    "softmax_slope": {
        "slope_is_p": P,
        "slope_is_one_minus_p": [1 - p for p in P],
        "slope_minus_p_squared": [-p * p for p in P],
    },
    "layer_norm": {
        "norm_keeps_mean": of_rows(
            lambda row: [x / math.sqrt(sum(y * y for y in row) / 4) for x in row]
        ),
        "norm_only_centred": of_rows(lambda row: [x - sum(row) / 4 for x in row]),
        "norm_over_tokens": [
            list(row) for row in zip(*of_rows(normal, zip(*X, strict=True)), strict=True)
        ],
        "norm_by_variance": of_rows(
            lambda row: normal(row, (sum(x * x for x in row) / 4 - (sum(row) / 4) ** 2) ** 2)
        ),
        "norm_unbiased": of_rows(
            lambda row: normal(row, (sum(x * x for x in row) - sum(row) ** 2 / 4) / 3)
        ),
    },
    "residual": {
        "no_residual": FOUND,
        "residual_averaged": of_rows(lambda row: [x / 2 for x in row], added(X, FOUND)),
    },
    "pre_norm": {
        "residual_of_the_normed": added(of_rows(normal), f(of_rows(normal))),
        "norm_after_adding": of_rows(normal, added(X, f(X))),
        "norm_left_out": added(X, f(X)),
    },
    "embed": {
        "position_forgotten": TOKEN,
        "position_multiplied": [0.5, -0.5, -1.0, 0.0],
        "embedding_times_root_width": [2.0, -1.5, 3.5, 3.0],
    },
    "sinusoid": {
        "sine_cosine_swapped": [math.cos(5), math.sin(5), math.cos(0.05), math.sin(0.05)],
        "sinusoid_in_degrees": row_of(*(math.pi / 180 * a for a in (5, 5, 0.05, 0.05))),
        "sinusoid_pair_not_doubled": row_of(5, 5, 0.5, 0.5),
        "sinusoid_by_column": row_of(5, 0.05, 0.0005, 0.000005),
    },
    "temperature": {
        "temperature_multiplied": shares([36, 25, 9, 4]),
        "temperature_after_softmax": [6 / 32, 5 / 32, 3 / 32, 2 / 32],
        "temperature_ignored": [6 / 16, 5 / 16, 3 / 16, 2 / 16],
    },
    "top_k": {
        "top_k_not_renormalised": [6 / 16, 5 / 16, 0, 0],
        "top_k_off_by_one": [6 / 14, 5 / 14, 3 / 14, 0],
        "top_k_filled_with_zero": shares([6 / 16, 5 / 16, 1, 1]),
        "top_k_all_alike": [1 / 2, 1 / 2, 0, 0],
    },
    "top_p": {
        "top_p_drops_crossing": [6 / 11, 5 / 11, 0, 0],
        "top_p_as_threshold": [1, 0, 0, 0],
        "top_p_not_renormalised": [6 / 16, 5 / 16, 3 / 16, 0],
    },
    "cross_entropy": {
        "loss_in_bits": (3 + math.log2(4 / 3)) / 2,
        "loss_in_log10": (math.log10(8) + math.log10(4 / 3)) / 2,
        "loss_summed": math.log(8) + math.log(4 / 3),
        "loss_of_the_largest": (math.log(2) + math.log(4 / 3)) / 2,
        "loss_is_one_minus_p": (7 / 8 + 1 / 4) / 2,
        "loss_softmax_twice": -(
            math.log(softmax([1 / 2, 1 / 8, 3 / 8])[1])
            + math.log(softmax([1 / 16, 3 / 4, 3 / 16])[1])
        )
        / 2,
    },
    "gradient_step": {
        "step_uphill": [1.0, -0.45],
        "step_without_rate": [-1.2, 1.2],
        "step_replaces": [-0.2, 0.15],
    },
    "visible_pairs": {"pairs_without_diagonal": 15, "pairs_all": 36, "pairs_half": 18},
    "linear_parameters": {"bias_forgotten": 256, "bias_per_input": 264},
    "attention_parameters": {
        "parameters_per_head_times_n": 1560,
        "parameters_of_slices": 9 * 20 + 156,
        "one_projection_only": 312,
        "projection_out_forgotten": 468,
        "attention_biases_forgotten": 576,
    },
    "score_bytes": {"cost_linear": 24, "cost_in_bits": 1152, "cost_of_the_visible": 84},
    "kv_cache_bytes": {
        "cache_keys_only": 864,
        "cache_queries_too": 2592,
        "cache_of_one_layer": 576,
        "cache_squared": 10368,
    },
    "utf8_bytes": {"one_byte_a_character": 7, "two_bytes_a_hangul": 10},
}
