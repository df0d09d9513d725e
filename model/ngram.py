"""Counting: what comes next is what came next before, after the same few symbols.

An n-gram model of characters or tokens with interpolated Kneser–Ney smoothing:
the peer that a small GPT has to beat, and, where there is little text, its tutor
(`batches.tutored`).

    p(s | context) = max(0, count − discount) / total + freed · p(s | shorter context)

The shortest context is none, and below it every symbol has equal chances. Source:
Chen & Goodman 1999, "An Empirical Study of Smoothing Techniques for Language
Modeling", section 4.1, with one discount an order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from model import errors

Gram = tuple[int, ...]


class NgramModel:
    """p(symbol | the n − 1 before it), learned from texts of ids below `n_symbols`.

    Before a text's beginning stand ids of their own, `n_symbols`. Raises `SizeError`
    for n below 2.
    """

    def __init__(self, texts: Iterable[Sequence[int]], n_symbols: int, n: int = 5) -> None:
        if n < 2:
            raise errors.SizeError(name="n", found=n)
        self.n, self.n_symbols = n, n_symbols
        counts = Counter(gram for text in texts for gram in self.grams(text))
        self.orders: list[Order] = []  # from the longest contexts to none
        for _ in range(n):
            self.orders.append(Order(counts))
            before: dict[Gram, set[int]] = defaultdict(set)  # what came before the shorter gram
            for gram in counts:
                before[gram[1:]].add(gram[0])
            counts = Counter({gram: len(seen) for gram, seen in before.items()})
        single = [(symbol,) for symbol in range(n_symbols + 1)]
        none = torch.full((n_symbols + 1, n_symbols), 1 / n_symbols)
        self.bigram = self.longer(self.longer(none, single, n - 1), single, n - 2)

    def grams(self, text: Sequence[int]) -> list[Gram]:
        """Each symbol of a text, the n − 1 before it ahead of it."""
        padded = [self.n_symbols] * (self.n - 1) + list(text)
        return [tuple(padded[i : i + self.n]) for i in range(len(text))]

    def expected(self, texts: Tensor) -> Tensor:
        """What is likely to follow each symbol: ids `(B, T)` -> probabilities `(B, T, n_symbols)`."""
        contexts = [gram[1:] for text in texts.tolist() for gram in self.grams(text)]
        return self.probabilities(contexts).view(*texts.shape, -1)

    def probabilities(self, contexts: list[Gram]) -> Tensor:
        """p(· | context) of N contexts of n − 1 symbols: `(N, n_symbols)`."""
        p = self.bigram[torch.tensor([context[-1] for context in contexts])]
        for order in reversed(range(self.n - 2)):
            p = self.longer(p, contexts, order)
        return p

    def longer(self, p: Tensor, contexts: list[Gram], order: int) -> Tensor:
        """From the chances after shorter contexts, `(N, n_symbols)`, to those of one symbol more."""
        found = [self.orders[order].find(context, self.n - 1 - order) for context in contexts]
        start, length = torch.tensor([place[:2] for place in found]).unbind(1)  # (N,), (N,)
        freed = torch.tensor([[place[2]] for place in found])  # (N, 1)
        rows = torch.arange(len(contexts)).repeat_interleave(length)
        at = torch.arange(len(rows)) + (start - length.cumsum(0) + length)[rows]
        seen = self.orders[order]
        return (p * freed).index_put((rows, seen.symbols[at]), seen.chances[at], accumulate=True)

    def nats(self, text: Sequence[int]) -> float:
        """Total surprise over a text's ids: −Σ ln p(symbol | context)."""
        grams, total = self.grams(text), 0.0
        for start in range(0, len(grams), 1024):
            some = grams[start : start + 1024]
            p = self.probabilities([gram[:-1] for gram in some])
            came = torch.tensor([gram[-1:] for gram in some])
            total -= p.gather(1, came).double().log().sum().item()
        return total


class Order:
    """What was counted after contexts of one length, as one list with each context's part of it.

    discount = n₁ / (n₁ + 2 n₂), n₁ the grams counted once and n₂ those counted twice
    """

    def __init__(self, counts: Counter[Gram]) -> None:
        once, twice = (sum(count == k for count in counts.values()) for k in (1, 2))
        discount = once / max(1, once + 2 * twice)
        after: dict[Gram, dict[int, int]] = defaultdict(dict)
        for gram, count in counts.items():
            after[gram[:-1]][gram[-1]] = count
        self.places: dict[Gram, tuple[int, int, float]] = {}  # start, length, what is freed
        symbols: list[int] = []
        chances: list[float] = []  # (count − discount) / total
        for context, seen in after.items():
            total = sum(seen.values())
            self.places[context] = (len(symbols), len(seen), discount * len(seen) / total)
            symbols += seen
            chances += [(count - discount) / total for count in seen.values()]
        self.symbols, self.chances = torch.tensor(symbols), torch.tensor(chances)

    def find(self, context: Gram, length: int) -> tuple[int, int, float]:
        """The place of the last `length` symbols of a context; an empty one where they never came."""
        return self.places.get(context[len(context) - length :], (0, 0, 1.0))
