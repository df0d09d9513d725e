"""Counting: a 5-gram checked on paper, beside the equation by recursion, and by its sums."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from itertools import product

import pytest
import torch

from model.errors import SizeError
from model.ngram import NgramModel
from tests.model.small import SHORT

TEXT = re.split("[가-힣]", SHORT.read_text(encoding="utf-8"))[0]  # its English part
LETTERS = sorted(set(TEXT))
IDS = [LETTERS.index(letter) for letter in TEXT]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_chances_sum_to_one(n):
    """After every context of the text, and after some that it never saw."""
    model = NgramModel([IDS], len(LETTERS) + 1, n)  # one symbol that never came
    contexts = [gram[1:] for gram in model.grams(IDS)]
    contexts += [(len(LETTERS),) * (n - 1), tuple(range(n - 1))]
    p = model.probabilities(contexts)
    assert p.shape == (len(contexts), len(LETTERS) + 1)
    assert p.min() > 0
    torch.testing.assert_close(p.sum(1), torch.ones(len(contexts)))


def test_a_bigram_on_paper():
    """ "abac" from its beginning ^: the grams ^a, ab, ba, ac, each once: discount 4/4 = 1.

    Single letters by what came before: a after ^ and b, b and c after a; of these three
    letters two were seen after one thing and one after two: discount 2 / (2 + 2·1) = 1/2.
    """
    a, b, c, begin = 0, 1, 2, 3
    model = NgramModel([[a, b, a, c]], 3, n=2)
    p_a = (2 - 1 / 2) / 4 + (1 / 2 * 3 / 4) * (1 / 3)
    p_b = (1 - 1 / 2) / 4 + (1 / 2 * 3 / 4) * (1 / 3)
    assert p_a + 2 * p_b == pytest.approx(1)
    after = model.probabilities([(a,), (c,), (begin,)])
    assert after[0].tolist() == pytest.approx([p_a, p_b, p_b])  # all discounted away
    assert after[1].tolist() == pytest.approx([p_a, p_b, p_b])  # nothing ever came after c
    assert after[2].tolist() == pytest.approx([p_a, p_b, p_b])
    assert model.nats([a, b]) == pytest.approx(-math.log(p_a) - math.log(p_b))


def recursive(text: list[int], n: int, gram: tuple[int, ...], symbols: int) -> float:
    """Chen & Goodman's equation by recursion, everything counted from the text anew."""
    padded = [symbols] * (n - 1) + text
    whole = [tuple(padded[i : i + n]) for i in range(len(text))]

    def counts(order: int) -> Counter[tuple[int, ...]]:
        """How often; below the highest order, after how many different symbols."""
        if order == n:
            return Counter(whole)
        longer = {gram[-(order + 1) :] for gram in whole}
        return Counter(gram[1:] for gram in longer)

    def chance(gram: tuple[int, ...]) -> float:
        if not gram:
            return 1 / symbols
        table = counts(len(gram))
        once, twice = (list(table.values()).count(k) for k in (1, 2))
        discount = once / (once + 2 * twice)
        after = {g: c for g, c in table.items() if g[:-1] == gram[:-1]}
        if not after:
            return chance(gram[1:])
        freed = discount * len(after) * chance(gram[1:])
        return (max(0.0, after.get(gram, 0) - discount) + freed) / sum(after.values())

    return chance(gram)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_chances_are_those_of_the_equation(n):
    text = random.Random(n).choices(range(6), weights=[9, 5, 3, 1, 1, 4], k=60)
    contexts = list(product([0, 1, 5, 7], repeat=n - 1))  # 7 never came
    p = NgramModel([text], 8, n).probabilities(contexts)
    for context, row in zip(contexts, p.tolist(), strict=True):
        expected = [recursive(text, n, (*context, symbol), 8) for symbol in range(8)]
        assert row == pytest.approx(expected, rel=1e-5)


def test_longer_contexts_help_and_learned_text_surprises_least():
    train, held_out = IDS[: len(IDS) // 2], IDS[len(IDS) // 2 :]
    losses = [NgramModel([train], len(LETTERS), n).nats(held_out) for n in (2, 3)]
    assert losses[1] < losses[0] < math.log(len(LETTERS)) * len(held_out)
    model = NgramModel([train], len(LETTERS), 5)
    assert model.nats(train) / len(train) < 0.5 * model.nats(held_out) / len(held_out)


def test_texts_begin_anew():
    """What ended one text says nothing of the next."""
    apart = NgramModel([[0, 1], [2, 1], [0, 1]], 3, n=3)
    together = NgramModel([[0, 1, 2, 1, 0, 1]], 3, n=3)
    assert apart.probabilities([(3, 3)])[0].argmax() == 0
    assert together.probabilities([(0, 1)])[0, 2] > apart.probabilities([(0, 1)])[0, 2]


def test_expected_follows_each_symbol_of_a_row():
    model = NgramModel([IDS], len(LETTERS), 3)
    rows = torch.tensor([IDS[:7], IDS[20:27]])
    expected = model.expected(rows)
    assert expected.shape == (2, 7, len(LETTERS))
    begin = len(LETTERS)
    assert torch.equal(expected[1, 0], model.probabilities([(begin, IDS[20])])[0])
    assert torch.equal(expected[1, 6], model.probabilities([(IDS[25], IDS[26])])[0])


def test_a_single_symbol_is_no_context():
    with pytest.raises(SizeError):
        NgramModel([IDS], len(LETTERS), 1)
