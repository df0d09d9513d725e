"""Copy as PyTorch: a script with the present numbers that runs with torch alone.

The lines are not written here: they are read from the source of `attend`,
`multi_head` and the mistakes, so what a person copies is what the page ran.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lessons.mistakes import statements
from model.attention import AttentionTrace, attend
from model.mistakes import MISTAKES, diagonal_blocks
from model.multihead import merge_heads, multi_head, split_heads

STEPS = (*AttentionTrace.AXES, "heads", "concat", "output")


def active(mistake: str, mask: bool, keep: bool) -> str:
    """The mistake, or "" where what it would get wrong is switched off."""
    needs = MISTAKES[mistake].needs if mistake else ""
    return "" if (needs == "mask" and not mask) or (needs == "keep" and not keep) else mistake


def spoiled(mistake: str) -> dict[str, list[str]]:
    """The lines that a mistake puts in place of a step's own: {step: lines}."""
    if not mistake:
        return {}
    wrong: dict[str, list[str]] = {}
    before: list[str] = []
    for name, line in statements(MISTAKES[mistake].function):
        if name in ("right", "d_model"):
            continue
        line = line.replace("right.heads.output", "heads.output").replace("right.", "")
        before.append(line)
        if name in STEPS:  # helper lines (`visible = ...`) go before the step they serve
            wrong[name], before = before, []
    return wrong


def spoiled_lines(mistake: str) -> dict[str, str]:
    """{step: the line that goes wrong}, for the glass box."""
    return {step: lines[-1] for step, lines in spoiled(mistake).items()}


def lines_of(
    function: Callable[..., Any], mistake: str = "", given: dict[str, str] | None = None
) -> list[tuple[str, str]]:
    """(step, line) of `attend` or `multi_head`, with a mistake's or a given line in place."""
    wrong, given = spoiled(mistake), given or {}
    out = []
    for name, line in statements(function):
        if name in given:
            out.append((name, given[name]))
        elif name in wrong:
            out += [(name, text) for text in wrong[name]]
        else:
            out.append((name, line))
    return out


def line_for(step: str, mistake: str = "", function: Callable[..., Any] = attend) -> str:
    """The line of PyTorch that computes a step, as the glass box shows it."""
    found = [line for name, line in lines_of(function, mistake) if name == step]
    return found[-1] if found else ""


def literal(tensor: Tensor) -> str:
    """A tensor as text that Python reads back to the same float64 numbers."""
    rows = tensor.tolist()
    text = repr(rows).replace("nan", "float('nan')").replace("inf", "float('inf')")
    text = text.replace("], [", "],\n     [")
    if tensor.dtype == torch.bool:
        return f"torch.tensor({text})"
    return f"torch.tensor(\n    {text}, dtype=torch.float64)"


def shape(tensor: Tensor) -> str:
    return "(" + ", ".join(map(str, tensor.shape)) + ")"


def function_source(function: Callable[..., Any]) -> str:
    """The source of a helper without its docstring and checks, for a script of its own."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    doc = node.body[0]
    lines = source.splitlines()
    drop = set(range(doc.lineno - 1, doc.end_lineno or doc.lineno))
    for inner in node.body:
        call = inner.value if isinstance(inner, ast.Expr) else None
        if isinstance(call, ast.Call) and getattr(call.func, "id", "").startswith("check_"):
            drop |= set(range(inner.lineno - 1, inner.end_lineno or inner.lineno))
    return "\n".join(line for n, line in enumerate(lines) if n not in drop)


def comparison(name: str, expected: Tensor) -> list[str]:
    """The lines that assert what the page showed."""
    return [
        f"shown_{name} = {literal(expected)}  # {shape(expected)}, as on the page",
        f"torch.testing.assert_close({name}, shown_{name}, rtol=1e-9, atol=1e-9, equal_nan=True)",
    ]


def inputs(tokens: Sequence[str], **tensors: Tensor | None) -> list[str]:
    """The lines that define the tokens and the matrices typed or drawn."""
    out = [f"tokens = {list(tokens)!r}"]
    for name, tensor in tensors.items():
        if tensor is not None:
            out.append(f"{name} = {literal(tensor)}  # {shape(tensor)}")
    return out


def settings(state: Any, keep: Tensor | None, mask: bool) -> list[str]:
    """scale, mask, dropout and keep, as the switches have them."""
    T = "len(tokens)"
    lines = [
        f"scale = {state.scale}",
        f"mask = torch.ones({T}, {T}, dtype=torch.bool).tril()" if mask else "mask = None",
        f"dropout = {state.dropout}",
        "keep = None" if keep is None else f"keep = {literal(keep)}  # drawn by the page",
    ]
    return lines


def script(title: str, *parts: Sequence[str]) -> str:
    """A whole script: title, import, the parts with a blank line between."""
    head = [f"# {title}", "import torch"]
    return "\n\n".join("\n".join(part) for part in (head, *parts) if part) + "\n"


def head_helpers(mistake: str) -> list[str]:
    """The helpers that the lines of `multi_head` call, as source."""
    used = [split_heads, merge_heads]
    if mistake == "slice_instead_of_project":
        used.append(diagonal_blocks)
    text = "\n\n\n".join(function_source(f) for f in used)
    return ["", text.replace("Tensor", "torch.Tensor"), ""]


def multi_head_lines(mistake: str, given: dict[str, str] | None = None) -> list[str]:
    """The lines of `multi_head` with those of `attend` where it is called."""
    within = MISTAKES[mistake].spoils if mistake else ""
    attend_lines = lines_of(attend, mistake if within == "attend" else "", given)
    heads = "\n".join(line for _, line in attend_lines)
    lines = []
    for name, line in lines_of(multi_head, mistake if within == "multi_head" else ""):
        if name == "memory":
            continue  # the page shows self-attention: keys and values come from x
        line = heads if name == "heads" else line
        lines.append(line.replace("memory", "x").replace("heads.output", "output"))
    return lines
