"""What counting alone can do: a character n-gram model with interpolated Kneser–Ney smoothing.

The peer of the Korean model. Each order backs off to the next shorter one, down
to equal chances for every character of the corpus (those of the held-out text
too, which is a gift to the peer).

Source: Chen & Goodman 1999, "An Empirical Study of Smoothing Techniques for
Language Modeling", section 4.1, with one discount an order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict


class InterpolatedNgram:
    """p(character | the n − 1 before it), learned from `text`."""

    def __init__(self, text: str, n: int = 5) -> None:
        self.n = n
        padded = "\n" * (n - 1) + text
        counts: Counter[str] = Counter(padded[i : i + n] for i in range(len(text)))
        self.orders: list[tuple[Counter[str], Counter[str], Counter[str], float]] = []
        for _ in range(n):  # from the longest contexts to none
            total: Counter[str] = Counter()  # how often each context was followed
            kinds: Counter[str] = Counter()  # by how many different characters
            for gram, count in counts.items():
                total[gram[:-1]] += count
                kinds[gram[:-1]] += 1
            once, twice = (sum(c == k for c in counts.values()) for k in (1, 2))
            self.orders.append((counts, total, kinds, once / (once + 2 * twice)))
            before: dict[str, set[str]] = defaultdict(set)  # what came before the shorter gram
            for gram in counts:
                before[gram[1:]].add(gram[0])
            counts = Counter({gram: len(seen) for gram, seen in before.items()})
        self.alphabet = set(text)

    def nats(self, text: str) -> float:
        """Total surprise over `text`: −Σ ln p(character | context)."""
        characters = len(self.alphabet | set(text))
        padded = "\n" * (self.n - 1) + text
        return -sum(
            math.log(self.probability(padded[i : i + self.n], characters)) for i in range(len(text))
        )

    def probability(self, gram: str, characters: int) -> float:
        """(count − discount) / total + what the discounts freed · p(one character less)."""
        p = 1 / characters
        for order in reversed(range(self.n)):
            counts, total, kinds, discount = self.orders[order]
            part = gram[order:]
            if total[part[:-1]]:
                seen = max(0.0, counts[part] - discount)
                p = (seen + discount * kinds[part[:-1]] * p) / total[part[:-1]]
        return p
