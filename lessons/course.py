"""The stations of the course, read from `lessons/content/`: one folder each, found by itself.

    content/06_scaling/
        lesson.toml      the text, what to try, words, the teacher's notes
        questions.toml   what is asked, with the explanations
        questions.py     where questions are generated: one function a question
        claims.py        where claims are checked: one function a claim, its numbers computed
        outcomes.py      where a try is an experiment: one function a try, whether what it
                         says to expect comes about with a seed

English and Korean stand side by side under one key everywhere; a plain string reads
alike in both.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from lessons.drawing import Drawn
from lessons.words import Words, same

CONTENT = Path(__file__).parent / "content"
KINDS = ("choice", "choices", "number", "cell", "shape", "order", "line")


@dataclass(frozen=True)
class Try:
    """A state of a tab worth seeing: `preset` of that tab, with `changes` to it."""

    name: str
    label: Words
    expect: Words  # what to look for, and what will be seen
    tab: str
    preset: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    holds: Callable[[int], bool] | None = None  # of an experiment: seed -> whether it is so


@dataclass(frozen=True)
class Term:
    """A word of the glossary, and what the same thing is called in well-known code."""

    word: Words
    text: Words
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Likely:
    """A question that a class is likely to ask, and its answer."""

    question: Words
    answer: Words


@dataclass(frozen=True)
class Teacher:
    purpose: Words
    minutes: int
    show: Words  # on the projector
    likely: tuple[Likely, ...]


@dataclass(frozen=True)
class Choice:
    """What can be chosen (or, of an order, a step), and why it is right or wrong."""

    value: str
    text: Words
    why: Words
    right: bool = False
    mistake: str | None = None


@dataclass(frozen=True)
class Asked:
    """A question as it is written down; `questions.question` makes it one to answer."""

    quiz_id: str
    station: str
    kind: str
    ask: Words
    choices: tuple[Choice, ...] = ()  # of an order: its steps, in the right order
    answer: str = ""  # of a shape
    why: Words | None = None  # of a shape: how it comes about
    draw: Callable[[Random], Drawn] | None = None  # of a generated one
    claim: Words | None = None  # what notes say; the question asks what will be computed
    holds: str = ""  # of a claim: "yes", "no" or "partly"
    beside: str = ""  # the "try this" that shows what the question is about
    verdict: Words | None = None  # what is true of it, with blanks for what is computed
    compute: Callable[[], Mapping[str, object]] | None = None  # fills them

    @property
    def generated(self) -> bool:
        return self.draw is not None


@dataclass(frozen=True)
class Station:
    name: str
    number: int
    title: Words
    able: tuple[Words, ...]  # what one will be able to do
    text: Words  # Markdown with LaTeX
    summary: Words
    tries: tuple[Try, ...]
    terms: tuple[Term, ...]
    teacher: Teacher
    questions: tuple[Asked, ...]


@cache
def stations() -> Mapping[str, Station]:
    """Every station by its name, in order. Read once, and read-only: all visitors share it."""
    folders = sorted(path.parent for path in CONTENT.glob("*/lesson.toml"))
    return MappingProxyType({folder.name: read_station(folder) for folder in folders})


@cache
def asked() -> Mapping[str, Asked]:
    """Every question of the course by its id, "station/name"."""
    found = [asked for station in stations().values() for asked in station.questions]
    return MappingProxyType({asked.quiz_id: asked for asked in found})


def read_station(folder: Path) -> Station:
    """A folder of `content/`. Raises `KeyError`, `TypeError` or `ValueError` where it is amiss."""
    found = tomllib.loads((folder / "lesson.toml").read_text(encoding="utf-8"))
    teacher, outcomes = found["teacher"], beside(folder, "outcomes")
    likely = [Likely(words(q["question"]), words(q["answer"])) for q in teacher["likely"]]
    return Station(
        name=folder.name,
        number=int(folder.name.split("_")[0]),
        title=words(found["title"]),
        able=tuple(words(able) for able in found["able"]),
        text=words(found["text"]),
        summary=words(found["summary"]),
        tries=tuple(read_try(entry, outcomes) for entry in found.get("tries", [])),
        terms=tuple(read_term(entry) for entry in found.get("terms", [])),
        teacher=Teacher(
            words(teacher["purpose"]), teacher["minutes"], words(teacher["show"]), tuple(likely)
        ),
        questions=tuple(read_questions(folder)),
    )


def words(found: str | dict[str, str]) -> Words:
    return same(found) if isinstance(found, str) else Words(**found)


def beside(folder: Path, name: str) -> Any:
    """The module of that name in a station's folder; None where there is none."""
    there = (folder / f"{name}.py").exists()
    return importlib.import_module(f"lessons.content.{folder.name}.{name}") if there else None


def read_try(entry: dict[str, Any], outcomes: Any) -> Try:
    texts = {key: words(entry[key]) for key in ("label", "expect")}
    return Try(**entry | texts, holds=getattr(outcomes, entry["name"], None))


def read_term(entry: dict[str, Any]) -> Term:
    return Term(words(entry["word"]), words(entry["text"]), tuple(entry.get("others", ())))


def read_questions(folder: Path) -> list[Asked]:
    entries = tomllib.loads((folder / "questions.toml").read_text(encoding="utf-8"))["questions"]
    drawing, computing = beside(folder, "questions"), beside(folder, "claims")
    return [read_question(folder.name, entry, drawing, computing) for entry in entries]


def read_question(station: str, entry: dict[str, Any], drawing: Any, computing: Any) -> Asked:
    """One entry of questions.toml. A generated one, and a claim, take the function of its name."""
    entry = dict(entry)
    name, kind, generated = entry.pop("name"), entry.pop("kind"), entry.pop("generated", False)
    if kind not in KINDS:
        raise ValueError(f"{station}/{name}: kind {kind!r} is none of {KINDS}")
    choices = entry.pop("choices", [])
    return Asked(
        quiz_id=f"{station}/{name}",
        station=station,
        kind=kind,
        ask=words(entry.pop("ask")),
        choices=tuple(read_choice(choice) for choice in choices),
        why=words(entry.pop("why")) if "why" in entry else None,
        draw=getattr(drawing, name) if generated else None,
        claim=words(entry.pop("claim")) if "claim" in entry else None,
        verdict=words(entry.pop("verdict")) if "verdict" in entry else None,
        compute=getattr(computing, name, None),
        **entry,
    )


def read_choice(entry: dict[str, Any]) -> Choice:
    texts = {key: words(entry[key]) for key in ("text", "why")}
    return Choice(**entry | texts)
