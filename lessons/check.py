"""Whether the course holds together: every finding is one sentence; none means all is well."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lessons.course import Asked, Station, asked, stations
from lessons.mistakes import mistake_words
from lessons.questions import HOLDS, apart, made
from lessons.words import LANGUAGES, Words

SEEDS = 1000  # each generated question is made for so many
WORDS = {"en": (150, 400), "ko": (100, 400)}  # Korean writes the same in fewer words
QUESTIONS, OF_A_STATION, GENERATED = 80, 4, 40
HANGUL = re.compile("[가-힣]")
CODE = re.compile(r"```.*?```|\$\$.*?\$\$|\$.*?\$", re.S)


def findings(seeds: int = SEEDS) -> Iterator[str]:
    """Everything amiss in `lessons/content/`, a sentence each."""
    yield from in_the_course()
    for station in stations().values():
        yield from in_station(station)
        for source in station.questions:
            yield from in_question(source)
            if source.generated:
                yield from in_generated(source, seeds)


def in_the_course() -> Iterator[str]:
    """Names, numbers, and how many questions there are."""
    every = [source for station in stations().values() for source in station.questions]
    for quiz_id, count in Counter(source.quiz_id for source in every).items():
        if count > 1:
            yield f"{quiz_id}: {count} questions of this name"
    numbers = [station.number for station in stations().values()]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the stations are numbered {numbers}, not one after another"
    if len(every) < QUESTIONS:
        yield f"{len(every)} questions; {QUESTIONS} are wanted"
    generated = sum(source.generated for source in every)
    if generated < GENERATED:
        yield f"{generated} generated questions; {GENERATED} are wanted"


def in_station(station: Station) -> Iterator[str]:
    for where, text in texts_of(station):
        yield from in_words(f"{station.name} {where}", text)
    for lang, (least, most) in WORDS.items():
        count = len(CODE.sub(" ", getattr(station.text, lang)).split())
        if not least <= count <= most:
            yield f"{station.name} text.{lang}: {count} words, not {least} to {most}"
    if "$" not in station.text.en or "```python" not in station.text.en:
        yield f"{station.name} text: a formula and an example in code are wanted"
    if blocks(station.text.en) != blocks(station.text.ko):
        yield f"{station.name} text: the code differs between the languages"
    if len(station.questions) < OF_A_STATION:
        yield f"{station.name}: {len(station.questions)} questions; {OF_A_STATION} are wanted"
    for needed in ("able", "tries", "terms"):
        if not getattr(station, needed):
            yield f"{station.name}: no {needed}"
    if not station.teacher.likely:
        yield f"{station.name} teacher: no likely questions"
    names = [t.name for t in station.tries]
    if len(set(names)) < len(names):
        yield f"{station.name}: two tries of one name among {names}"


def blocks(text: str) -> list[str]:
    """The code of a text, and what it prints."""
    return re.findall(r"```(?:python|text)\n.*?```", text, re.S)


def texts_of(station: Station) -> Iterator[tuple[str, Words]]:
    """Every text of a station but its questions', with its place."""
    yield from (("title", station.title), ("text", station.text), ("summary", station.summary))
    yield from ((f"able {i}", text) for i, text in enumerate(station.able))
    for t in station.tries:
        yield from ((f"try {t.name} label", t.label), (f"try {t.name} expect", t.expect))
    for term in station.terms:
        yield from ((f"term {term.word.en}", text) for text in (term.word, term.text))
    teacher = station.teacher
    yield from (("teacher purpose", teacher.purpose), ("teacher show", teacher.show))
    for likely in teacher.likely:
        yield from (("teacher likely", text) for text in (likely.question, likely.answer))


def in_words(where: str, text: Words, formula: bool = False) -> Iterator[str]:
    """`formula`: a text may be alike in both languages, as code and shapes are."""
    for lang in LANGUAGES:
        if not getattr(text, lang).strip():
            yield f"{where}: nothing in {lang}"
    alike = text.en == text.ko and (formula or not re.search(r"[A-Za-z]{2,} [a-z]{2,}", text.en))
    if not alike and not HANGUL.search(text.ko):
        yield f"{where}: the Korean has no Hangul"
    if (
        HANGUL.search(re.sub(r"[“‘'\"`].*?[”’'\"`]", "", CODE.sub("", text.en)))
        and text.en != text.ko
    ):
        yield f"{where}: the English has Hangul outside quotes"


def in_question(source: Asked) -> Iterator[str]:
    where = source.quiz_id
    yield from in_words(where, source.ask)
    for choice in source.choices:
        yield from in_words(f"{where} {choice.value}", choice.text, formula=True)
        yield from in_words(f"{where} {choice.value} why", choice.why)
        if choice.mistake and choice.mistake not in mistake_words():
            yield f"{where} {choice.value}: no mistake is called {choice.mistake}"
        if choice.mistake and choice.right:
            yield f"{where} {choice.value}: right, and a mistake"
    for name in ("claim", "verdict"):
        if text := getattr(source, name):
            yield from in_words(f"{where} {name}", text)
    complete = source.verdict and source.compute and source.holds in HOLDS
    if bool(source.claim) != bool(complete):
        yield f"{where}: a claim has a verdict, whether it holds, and a function that computes its numbers"
    tries = [t.name for t in stations()[source.station].tries]
    if source.beside and source.beside not in tries:
        yield f"{where}: {source.beside} is none of the tries {tries}"
    values = [choice.value for choice in source.choices]
    if len(set(values)) < len(values):
        yield f"{where}: a value comes twice among {values}"
    if any(not re.fullmatch(r"[\w.×, -]+", value) for value in values):
        yield f"{where}: values are letters, digits and _, not {values}"
    right = sum(choice.right for choice in source.choices)
    wanted = {"choice": right == 1, "line": right == 1, "choices": right >= 1}
    if not wanted.get(source.kind, True):
        yield f"{where}: {right} right choices"
    if source.kind in ("choice", "choices", "line", "order") and len(values) < 3:
        yield f"{where}: {len(values)} to choose from; 3 are wanted"
    if source.kind in ("number", "cell") and not source.generated:
        yield f"{where}: a number that no model computes"
    if source.kind == "shape" and not source.generated:
        if not source.answer or source.why is None:
            yield f"{where}: a shape needs an answer and why"
        else:
            yield from in_words(f"{where} why", source.why)


def in_generated(source: Asked, seeds: int) -> Iterator[str]:
    """Sound for every seed: `made` draws until it is, and says so where it cannot."""
    for seed in range(seeds):
        try:
            drawn = made(source, seed)
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            yield f"{source.quiz_id}, seed {seed}: {error}"
            return
        unknown = set(drawn.mistakes) - set(mistake_words())
        if unknown:
            yield f"{source.quiz_id}, seed {seed}: no words for {sorted(unknown)}"
        answers = [drawn.answer, *drawn.mistakes.values()]
        pairs = [(a, b) for i, a in enumerate(answers) for b in answers[i + 1 :]]
        if len(answers) < 3 or not all(apart(a, b) for a, b in pairs):
            yield f"{source.quiz_id}, seed {seed}: answers too near one another: {answers}"
        if drawn.worked is None or not drawn.worked.en.strip():
            yield f"{source.quiz_id}, seed {seed}: no worked solution"
            return


def main(seeds: int = SEEDS) -> int:
    """Print what was found; the exit status."""
    found = list(findings(seeds))
    print(*found, sep="\n", end="\n" if found else "")
    every = asked().values()
    drawn = sum(source.generated for source in every)
    print(
        f"{len(stations())} stations, {len(every)} questions ({drawn} generated, {seeds} seeds each)"
    )
    print(f"{len(found)} findings")
    return bool(found)
