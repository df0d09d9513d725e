"""The random inputs that a learner's function is called with.

They are float32, as PyTorch makes them, and of shapes in which no two mistakes look
alike: hs ≠ T, hs ≠ 1, C ≠ hs² where there are several heads.

Axes: T tokens (Tq queries, Tk keys), hs = head_size, hv the width of a value,
C = n_head · hs, V the vocabulary. `lead` are the axes before (batch, heads).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

Given = Mapping[str, Any]  # a function's arguments by name, in order


@dataclass(frozen=True)
class Case:
    """One call of the learner's function.

    `large` cases are judged only when all others are right. `changed_after` is t in a
    copy of case `copy_of` in which only the tokens after t are other ones.
    """

    given: Given
    large: bool = False
    copy_of: int | None = None
    changed_after: int | None = None


def with_changed_future(
    cases: list[Case], base: int, tokens: tuple[str, ...], generator: torch.Generator
) -> list[Case]:
    """`cases` and, for each t, a copy of case `base` with other tokens after t."""
    given = cases[base].given
    T = given[tokens[0]].size(-2)
    for t in range(T - 1):
        other = dict(given)
        for name in tokens:
            other[name] = given[name].clone()
            other[name][..., t + 1 :, :] = torch.randn(
                other[name][..., t + 1 :, :].shape, generator=generator
            )
        cases.append(Case(other, copy_of=base, changed_after=t))
    return cases


def queries_and_keys(generator: torch.Generator) -> list[Case]:
    sizes = [((), 3, 3, 4), ((), 5, 5, 2), ((2,), 3, 3, 4), ((2, 2), 4, 4, 3)]
    sizes += [((1,), 1, 1, 3), ((), 2, 5, 3)]  # a single token; two queries, five keys
    return [
        Case(
            {
                "q": torch.randn(*lead, Tq, hs, generator=generator),
                "k": torch.randn(*lead, Tk, hs, generator=generator),
            }
        )
        for lead, Tq, Tk, hs in sizes
    ]


def rows_of_scores(generator: torch.Generator) -> list[Case]:
    sizes = [(3, 4), (5, 2), (2, 3, 4), (2, 2, 4, 4), (1, 1, 1)]
    cases = [Case({"scores": torch.randn(*size, generator=generator) * 2}) for size in sizes]
    large = torch.randn(3, 4, generator=generator) * 2
    large += torch.tensor([[1000.0], [-1000.0], [0.0]])  # e^1000 is beyond any float
    return [*cases, Case({"scores": large}, large=True)]


def vectors_and_weights(generator: torch.Generator) -> list[Case]:
    sizes = [((), 3, 4, 2), ((2,), 5, 3, 3), ((1,), 1, 2, 4), ((2,), 4, 4, 6)]
    return [
        Case(
            {"x": torch.randn(*lead, T, d_in, generator=generator)}
            | {
                name: torch.randn(d_in, d_out, generator=generator)
                for name in ("w_query", "w_key", "w_value")
            }
        )
        for lead, T, d_in, d_out in sizes
    ]


# lead, Tq, Tk, hs, hv; the last but one a single token, the last with wider values
SELF_ATTENTION = [
    ((), 3, 3, 4, 4),
    ((), 5, 5, 2, 2),
    ((2,), 4, 4, 3, 3),
    ((2, 2), 3, 3, 8, 8),
    ((1,), 1, 1, 5, 5),
    ((2,), 4, 4, 2, 5),
]


def one_attention(generator: torch.Generator) -> list[Case]:
    sizes = [*SELF_ATTENTION, ((), 2, 5, 3, 4)]  # and two queries, five keys
    return [attention_case(generator, *size) for size in sizes]


def one_causal_attention(generator: torch.Generator) -> list[Case]:
    made = [attention_case(generator, *size) for size in SELF_ATTENTION]
    return with_changed_future(made, 2, ("q", "k", "v"), generator)


def attention_case(
    generator: torch.Generator, lead: tuple[int, ...], Tq: int, Tk: int, hs: int, hv: int
) -> Case:
    sizes = {"q": (Tq, hs), "k": (Tk, hs), "v": (Tk, hv)}
    return Case({n: torch.randn(*lead, *size, generator=generator) for n, size in sizes.items()})


def many_heads(generator: torch.Generator) -> list[Case]:
    sizes = [((2,), 3, 4, 2, 3), ((), 5, 6, 3, 2), ((2,), 4, 8, 4, 2)]
    sizes += [((1,), 1, 4, 2, 3), ((), 3, 3, 1, 4)]  # a single token; a single head
    cases = []
    for lead, T, d_in, n_head, hs in sizes:
        C = n_head * hs
        given = {"x": torch.randn(*lead, T, d_in, generator=generator)}
        for name, rows in (("w_query", d_in), ("w_key", d_in), ("w_value", d_in), ("w_out", C)):
            given[name] = torch.randn(rows, C, generator=generator) / rows**0.5
        cases.append(Case(given | {"n_head": n_head}))
    return with_changed_future(cases, 2, ("x",), generator)


def next_token_logits(generator: torch.Generator) -> list[Case]:
    sizes = [(7, 3, 1.0), (7, 3, 0.5), (12, 5, 2.0), (4, 1, 0.7), (1, 1, 1.5), (5, 9, 1.3)]
    cases = [
        Case({"logits": torch.randn(V, generator=generator) * 2, "k": k, "temperature": t})
        for V, k, t in sizes
    ]
    large = torch.randn(6, generator=generator) + 1000
    return [*cases, Case({"logits": large, "k": 3, "temperature": 0.8}, large=True)]
