"""The words of the known mistakes, in English and Korean, read from mistakes.toml.

What each mistake computes is in model/mistakes.py; the two lists have the same
names, and a test holds them to it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from model.mistakes import MISTAKES


@dataclass(frozen=True)
class MistakeWords:
    """What to call one mistake and how to explain it; each by language, "en" and "ko"."""

    name: Mapping[str, str]  # a label of at most 40 characters
    text: Mapping[str, str]  # what was done wrong, how it shows, what is right


@cache
def mistake_words() -> Mapping[str, MistakeWords]:
    """Every mistake's words by its name. Read once, and read-only: all visitors share it.

    >>> mistake_words()["no_scale"].name["en"]
    'no ÷ √d'
    """
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            key: MistakeWords(MappingProxyType(entry["name"]), MappingProxyType(entry["text"]))
            for key, entry in entries.items()
        }
    )


@cache
def statements(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """The body of a function as (name assigned to, source line with its comment).

    Left out: docstring, checks, `if` guards, the return.
    """
    lines, body = read(function)
    assigned = (n for n in body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name))
    return [(node.targets[0].id, line_of(node, lines)) for node in assigned]


def wrong_line(mistake: str) -> str:
    """The line of a mistake that goes wrong, as its source has it.

    >>> wrong_line("no_scale"), wrong_line("no_residual")
    ('scaled = scores', 'sublayer')
    """
    found = MISTAKES[mistake]
    lines, body = read(found.function)
    line = dict(statements(found.function)).get(found.step) or line_of(body[-1], lines)
    line = line.replace("right.heads.output", "heads.output").replace("right.", "")
    return line.removeprefix("return ")


def read(function: Callable[..., Any]) -> tuple[list[str], list[ast.stmt]]:
    """The source lines of a function, and the statements in its body."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef))
    return source.splitlines(), tree.body


def line_of(node: ast.stmt, lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
