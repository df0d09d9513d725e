"""What went wrong in a learner's code, put into sentences: the first thing that is off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lessons import verdicts
from lessons.learner import Outcome
from lessons.practicals import Practical
from lessons.results import EXACT, WANTED, Result, near, numbers_of
from lessons.verdicts import Said
from lessons.words import Words, same

NOT_RUN = {
    "syntax": verdicts.SYNTAX,
    "stuck": verdicts.STUCK,
    "ended": verdicts.ENDED,
    "missing": verdicts.MISSING,
    "call": verdicts.CALL,
    "raised": verdicts.RAISED_LOADING,
}


def not_run(
    practical: Practical, failure: Outcome, arguments: list[str], source: str, limit: float
) -> Said:
    """What kept the function from being called at all."""
    values = failure | {
        "function": practical.function,
        "limit": f"{limit:g}",
        "wanted": f"({', '.join(arguments)})",
        "line": line_of(source, failure),
    }
    if failure["kind"] == "missing":
        found = failure["found"]
        values["found"] = same(", ".join(found)) if found else verdicts.NONE_FOUND
    return Said(NOT_RUN[failure["kind"]], values)


def problem(
    practical: Practical, outputs: tuple[str, ...], result: Result, source: str
) -> list[Said]:
    """The first thing that is off in a case that is not right."""
    outcome = result.outcome
    values = {"function": practical.function, "given": shapes(result.case.given)}
    if outcome.get("type") == "NotImplementedError":
        return [Said(verdicts.EMPTY, values)]
    if outcome["kind"] == "raised":
        return [Said(verdicts.RAISED, values | outcome | {"line": line_of(source, outcome)})]
    if outcome.get("type") == "NoneType":
        return [Said(verdicts.RETURNS_NONE, values)]
    if not result.items or any(item["kind"] != "tensor" for item in result.items):
        values |= {"found": type_of(outcome), "wanted": type_wanted(outputs)}
        return [Said(verdicts.WRONG_TYPE, values)]
    fine: list[str] = []
    for name, item, right in zip(outputs, result.items, result.right, strict=True):
        off = off_in(item, right, values | {"name": name}, practical.nan)
        if off is not None:
            passed = {"right": ", ".join(fine), "name": name}
            return [*([Said(verdicts.FIRST_OFF, passed)] if fine else []), off]
        fine.append(name)
    raise AssertionError("a case that is not right has something that is off")


def off_in(item: Outcome, right: Tensor, values: dict[str, Any], nan: Words) -> Said | None:
    """What is off in one returned tensor: its shape, its type, a NaN or a number; or None."""
    if tuple(item["shape"]) != right.shape:
        sizes = {"found": tuple(item["shape"]), "wanted": tuple(right.shape)}
        return Said(verdicts.SHAPE, values | sizes)
    found = numbers_of(item)
    if item["dtype"] != WANTED or found is None:
        return Said(verdicts.DTYPE, values | {"found": item["dtype"], "wanted": WANTED})
    wrong = ~near(found, right, EXACT)
    if not wrong.any():
        return None
    if found.isnan().any():
        at = found.isnan().nonzero()[0].tolist()
        return Said(verdicts.NAN, values | {"position": at, "why": nan})
    at = wrong.nonzero()[0].tolist()
    numbers = {"found": shown(found, at), "wanted": shown(right, at)}
    return Said(verdicts.NUMBER, values | numbers | {"position": at})


def shown(tensor: Tensor, at: list[int]) -> str:
    """One number, with as many digits as tell a wrong one from a right one."""
    return f"{tensor[tuple(at)].item():.5g}"


def line_of(source: str, outcome: Mapping[str, Any]) -> Words:
    """The learner's line that an outcome names, on a line of its own; nothing where it names none."""
    number, lines = outcome.get("line"), source.splitlines()
    if not number or number > len(lines):
        return same("")
    values = {"number": number, "source": lines[number - 1].strip()}
    return Words(verdicts.LINE("en", **values), verdicts.LINE("ko", **values))


def type_of(outcome: Outcome) -> Words:
    """What was returned."""
    if outcome["kind"] != "tuple":
        return same(outcome.get("type", "torch.Tensor"))
    types = ", ".join(item.get("type", item["kind"]) for item in outcome["items"])
    return Words(verdicts.A_TUPLE("en", types=types), verdicts.A_TUPLE("ko", types=types))


def type_wanted(outputs: tuple[str, ...]) -> Words:
    """What was to be returned."""
    if len(outputs) == 1:
        return verdicts.A_TENSOR
    values = {"count": len(outputs), "names": ", ".join(outputs)}
    return Words(verdicts.TENSORS("en", **values), verdicts.TENSORS("ko", **values))


def shapes(given: Mapping[str, Any]) -> str:
    """`q (3, 4), k (3, 4)`; numbers as they are."""
    return ", ".join(
        f"{name} {tuple(value.shape)}" if isinstance(value, Tensor) else f"{name} = {value}"
        for name, value in given.items()
    )
