"""The words of the known mistakes, in English and Korean, read from mistakes.toml.

What each mistake computes is in model/mistakes.py; the two lists have the same
names, and a test holds them to it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType


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
