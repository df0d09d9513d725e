"""The peer of the Korean model: a 5-gram by counting, checked on paper and by its sums."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from itertools import product

import pytest

from benchmarks.ngram import InterpolatedNgram
from tests.model.small import SHORT

TEXT = re.split("[가-힣]", SHORT.read_text(encoding="utf-8"))[0]  # its English part


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_chances_sum_to_one(n):
    """After every context of the text, and after some that it never saw."""
    model = InterpolatedNgram(TEXT, n)
    letters = sorted(model.alphabet | set("한글"))
    padded = "\n" * (n - 1) + TEXT
    contexts = {padded[i : i + n - 1] for i in range(0, len(TEXT), 7)}
    contexts |= {"한글한글"[: n - 1], "zzqx"[: n - 1], ("글" + "the ")[-(n - 1) :] if n > 1 else ""}
    for context in contexts:
        chances = [model.probability(context + letter, len(letters)) for letter in letters]
        assert min(chances) > 0
        assert math.fsum(chances) == pytest.approx(1, abs=1e-12)


def test_a_bigram_on_paper():
    """ "abac" after a line break: the grams \\na, ab, ba, ac, each once: discount 4/4 = 1.

    Single letters by what came before: a after \\n and b, b and c after a; of these
    four, two are seen once and one twice: discount 2 / (2 + 2·1) = 1/2.
    """
    model = InterpolatedNgram("abac", 2)
    p_a = (2 - 1 / 2) / 4 + (1 / 2 * 3 / 4) * (1 / 3)
    p_b = (1 - 1 / 2) / 4 + (1 / 2 * 3 / 4) * (1 / 3)
    assert p_a + 2 * p_b == pytest.approx(1)
    assert model.probability("aa", 3) == pytest.approx((0 + 1 * 2 * p_a) / 2)
    assert model.probability("ab", 3) == pytest.approx((0 + 1 * 2 * p_b) / 2)
    assert model.probability("ca", 3) == pytest.approx(p_a)  # nothing ever came after c
    assert model.nats("ab") == pytest.approx(-math.log(p_a) - math.log(p_b))


def recursive(text: str, n: int, gram: str, characters: int) -> float:
    """Chen & Goodman's equation by recursion, everything counted from the text anew."""
    padded = "\n" * (n - 1) + text
    whole = [padded[i : i + n] for i in range(len(text))]

    def counts(order: int) -> Counter[str]:
        """How often; below the highest order, after how many different characters."""
        if order == n:
            return Counter(whole)
        longer = {gram[-(order + 1) :] for gram in whole}
        return Counter(gram[1:] for gram in longer)

    def chance(gram: str) -> float:
        if not gram:
            return 1 / characters
        table = counts(len(gram))
        once, twice = (list(table.values()).count(k) for k in (1, 2))
        discount = once / (once + 2 * twice)
        after = {g: c for g, c in table.items() if g[:-1] == gram[:-1]}
        if not after:
            return chance(gram[1:])
        freed = discount * len(after) * chance(gram[1:])
        return (max(0.0, after.get(gram, 0) - discount) + freed) / sum(after.values())

    return chance(gram)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_chances_are_those_of_the_equation(n):
    text = "".join(random.Random(n).choices("abcde ", weights=[9, 5, 3, 1, 1, 4], k=60))
    model = InterpolatedNgram(text, n)
    for letters in product("abz", repeat=n):
        gram = "".join(letters)
        assert model.probability(gram, 8) == pytest.approx(recursive(text, n, gram, 8))


def test_longer_contexts_help_and_learned_text_surprises_least():
    train, held_out = TEXT[: len(TEXT) // 2], TEXT[len(TEXT) // 2 :]
    losses = [InterpolatedNgram(train, n).nats(held_out) / len(held_out) for n in (1, 2, 3)]
    assert losses == sorted(losses, reverse=True)
    model = InterpolatedNgram(train, 5)
    assert model.nats(train) / len(train) < 0.5 * model.nats(held_out) / len(held_out)
    assert losses[0] < math.log(len(set(TEXT)))
