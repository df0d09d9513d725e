"""Tables of vectors beside plain loops, torch's cosine and the identities of sines."""

from __future__ import annotations

import math
import statistics

import pytest
import torch
import torch.nn.functional as F

from model import load_checkpoint, steps
from model.embeddings import (
    analogy,
    by_distance,
    cosine,
    cosines,
    dots,
    lengths,
    middle,
    nearest,
    position_table,
    usual,
)
from model.errors import RangeError, RankError, SizeError, WidthError


def table(V: int, C: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(V, C, generator=generator, dtype=torch.float64)


def plain_cosine(a: list[float], b: list[float]) -> float:
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return product / (math.hypot(*a) * math.hypot(*b))


# Neighbours


@pytest.mark.parametrize("seed", range(3))
def test_cosines_are_torchs_and_those_of_a_loop(exact, seed):
    matrix, vector = table(40, 7, seed), table(1, 7, seed + 50)[0]
    found = cosine(matrix, vector)
    exact.close(found, F.cosine_similarity(matrix, vector, dim=-1))
    expected = [plain_cosine(row, vector.tolist()) for row in matrix.tolist()]
    assert found.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 5, 40, 99])
def test_the_nearest_are_those_of_a_loop(k):
    matrix, out = table(40, 3, 1), {4, 17}
    vector = matrix[4]
    every = [(plain_cosine(row, vector.tolist()), i) for i, row in enumerate(matrix.tolist())]
    expected = sorted(((c, i) for c, i in every if i not in out), reverse=True)[:k]
    found = nearest(matrix, vector, k, exclude=out)
    assert [n.index for n in found] == [i for _, i in expected]
    assert [n.cosine for n in found] == pytest.approx([c for c, _ in expected])
    assert len(found) == min(k, 38)


def test_a_row_is_its_own_nearest_until_it_is_left_out():
    matrix = table(40, 5, 2)
    assert nearest(matrix, 3 * matrix[9], 1)[0].index == 9
    assert nearest(matrix, matrix[9], 1)[0].cosine == pytest.approx(1, abs=1e-15)
    assert nearest(matrix, matrix[9], 1, exclude=[9])[0].index != 9


def test_of_equal_rows_the_earlier_comes_first():
    matrix = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    assert [n.index for n in nearest(matrix, torch.tensor([1.0, 0.0]), 4)] == [1, 2, 3, 0]


def test_zeros_point_nowhere():
    matrix = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    assert cosine(matrix, torch.tensor([1.0, 1.0]))[0] == 0
    assert cosine(matrix, torch.zeros(2)).tolist() == [0, 0]
    assert cosines(matrix).tolist()[0] == [0, 0]


def test_a_trained_tables_neighbours_are_torchs():
    """In the precision that the model keeps; the token itself comes first."""
    checkpoint = load_checkpoint("shakespeare-64")
    wte, (token,) = checkpoint.gpt.wte.weight, checkpoint.tokenizer.encode(" king")
    found = nearest(wte, wte[token], 6)
    with torch.no_grad():
        theirs = F.cosine_similarity(wte.double(), wte[token].double(), dim=-1).topk(6)
    assert [n.index for n in found] == theirs.indices.tolist()
    assert found[0].index == token
    assert [n.cosine for n in found] == pytest.approx(theirs.values.tolist())


def test_what_is_usual_is_that_of_a_loop():
    matrix = table(200, 5, 6)
    found = usual(matrix, matrix[3], exclude=[3, 4])
    cosines = [
        plain_cosine(row, matrix[3].tolist())
        for i, row in enumerate(matrix.tolist())
        if i not in (3, 4)
    ]
    assert found.mean == pytest.approx(math.fsum(cosines) / 198)
    assert found.high == pytest.approx(statistics.quantiles(cosines, n=100, method="inclusive")[-1])


def test_lengths_and_middles_by_hand():
    rows = torch.tensor([[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]])
    assert lengths(rows).tolist() == pytest.approx([5, 0, 5**0.5])
    assert middle(rows, [0, 2]).tolist() == [2, 3]
    assert middle(rows, [2]).tolist() == [1, 2]


# Arithmetic


def test_an_analogy_by_hand():
    rows = torch.tensor([[1.0, 0.0], [1.0, 2.0], [5.0, 1.0], [5.0, 3.0]])
    assert analogy(rows, 0, 1, 2).tolist() == [5, 3]  # [1, 2] − [1, 0] + [5, 1]
    assert nearest(rows, analogy(rows, 0, 1, 2), 1, exclude=[0, 1, 2])[0].index == 3


def test_an_analogy_turned_round_leads_back(exact):
    rows = table(9, 4, 3)
    more = torch.cat([rows, analogy(rows, 1, 2, 3)[None]])
    exact.close(analogy(more, 2, 1, 9), rows[3])  # a − b + (b − a + c) = c


# Positions


@pytest.mark.parametrize(("T", "C"), [(1, 2), (5, 3), (40, 16), (128, 64)])
def test_the_table_is_made_of_sinusoids(T, C):
    found = position_table(T, C)
    assert found.shape == (T, C)
    for t in {0, T // 2, T - 1}:
        assert torch.equal(found[t], steps.sinusoid(t, C))


@pytest.mark.parametrize("C", [2, 16, 64])
def test_the_dot_product_of_sinusoids_knows_the_distance_alone(C):
    """Σ cos(δ ω) for each pair of columns, wherever the two positions are."""
    found = dots(position_table(60, C))
    omega = [10_000 ** (-2 * i / C) for i in range(C // 2)]
    for s, t in ((0, 0), (0, 13), (20, 33), (46, 59), (59, 46)):
        expected = math.fsum(math.cos((t - s) * w) for w in omega)
        assert found[s, t].item() == pytest.approx(expected, abs=1e-10)
    mean, low, high = by_distance(found).unbind(dim=1)
    assert (high - low).max() < 1e-10
    assert mean[0].item() == pytest.approx(C / 2)


def test_cosines_of_positions_are_torchs(exact):
    positions = table(12, 5, 4)
    theirs = F.cosine_similarity(positions.unsqueeze(1), positions.unsqueeze(0), dim=-1)
    exact.close(cosines(positions), theirs)


def test_learned_positions_know_more_than_the_distance():
    """The same distance, another cosine: and the same numbers as torch's."""
    wpe = load_checkpoint("shakespeare-64").gpt.wpe.weight
    found = cosines(wpe)
    with torch.no_grad():
        theirs = F.cosine_similarity(wpe[3].double(), wpe[7].double(), dim=0)
    assert found[3, 7].item() == pytest.approx(theirs.item())
    _, low, high = by_distance(found).unbind(dim=1)
    assert (high - low)[1] > 0.1


def test_by_distance_by_hand():
    pairs = torch.tensor([[1.0, 2.0, 9.0], [2.0, 3.0, 4.0], [9.0, 4.0, 5.0]])
    assert by_distance(pairs).tolist() == [[3, 1, 5], [3, 2, 4], [9, 9, 9]]


# What is refused


REFUSED = {
    "width": (lambda m: cosine(m, torch.zeros(4)), WidthError, ["4", "3"]),
    "rank": (lambda m: cosine(m[0], m[0]), RankError, ["1", "2"]),
    "k": (lambda m: nearest(m, m[0], 0), SizeError, ["k", "0"]),
    "exclude": (lambda m: nearest(m, m[0], 1, exclude=[9]), RangeError, ["9", "0 … 4"]),
    "negative": (lambda m: analogy(m, 0, -1, 2), RangeError, ["b", "-1", "0 … 4"]),
    "beyond": (lambda m: analogy(m, 5, 1, 2), RangeError, ["a", "5", "0 … 4"]),
    "no positions": (lambda m: position_table(0, 4), SizeError, ["T", "0"]),
    "no width": (lambda m: position_table(4, 0), SizeError, ["C", "0"]),
}


@pytest.mark.parametrize(("call", "error", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_both_numbers(call, error, says):
    with pytest.raises(error) as caught:
        call(table(5, 3, 5))
    for lang in ("en", "ko"):
        assert all(wanted in caught.value.text(lang) for wanted in says)
