"""The practicals and experiments as data: the words (TOML) beside the file a learner gets (Python).

`practical_9.toml` and `practical_9.py` belong to station 9; so do `experiment_9.*`
where a station has one. A learner's file is a copy of the Python file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from lessons.words import Words

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Practical:
    """One function to write. `nan` says what a NaN here usually comes from."""

    station: int
    function: str
    title: Words
    task: Words
    nan: Words
    hints: tuple[Words, ...]

    @property
    def starter(self) -> Path:
        """The file with the signature, for the learner to fill in."""
        return FOLDER / f"practical_{self.station}.py"


@dataclass(frozen=True)
class Experiment:
    """One thing to predict, run, change and run again."""

    station: int
    title: Words
    task: Words

    @property
    def starter(self) -> Path:
        """The script, runnable as it is."""
        return FOLDER / f"experiment_{self.station}.py"


@cache
def practicals() -> Mapping[int, Practical]:
    """Every practical by its station, in order."""
    return MappingProxyType(
        {
            station: Practical(
                station,
                entry["function"],
                Words(**entry["title"]),
                Words(**entry["task"]),
                Words(**entry["nan"]),
                tuple(Words(**hint) for hint in entry["hints"]),
            )
            for station, entry in entries("practical")
        }
    )


@cache
def experiments() -> Mapping[int, Experiment]:
    """Every experiment by its station, in order."""
    return MappingProxyType(
        {
            station: Experiment(station, Words(**entry["title"]), Words(**entry["task"]))
            for station, entry in entries("experiment")
        }
    )


def entries(kind: str) -> list[tuple[int, dict]]:
    """(station, contents) of each `kind`_N.toml, by station."""
    return sorted(
        (
            (int(re.sub(r"\D", "", path.stem)), tomllib.loads(path.read_text(encoding="utf-8")))
            for path in FOLDER.glob(f"{kind}_*.toml")
        ),
        key=lambda entry: entry[0],
    )
