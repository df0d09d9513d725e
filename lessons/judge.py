"""A learner's results against the model's: right, a known mistake, or the first thing that is off.

Cases with large numbers are judged only when the others are right, so that one
fault is told at a time. A mistake is named when its numbers are the learner's in
every case; what no mistake explains is told as it is.
"""

from __future__ import annotations

from torch import Tensor

from lessons import verdicts
from lessons.learner import Run
from lessons.mistakes import mistake_words
from lessons.practicals import Practical
from lessons.results import ALIKE, EXACT, Result, like
from lessons.subjects import SUBJECTS, Subject, cases_of, wrong_outcome
from lessons.telling import not_run, problem
from lessons.verdicts import Said, Verdict
from lessons.words import Words
from model.mistakes import MISTAKES


def judge(
    practical: Practical, run: Run, source: str, *, seed: int = 0, limit: float = 10.0
) -> Verdict:
    """The verdict on a run of a practical. `source` is the learner's text, to show lines of it."""
    cases, subject = cases_of(practical.station, seed), SUBJECTS[practical.station]
    if run.failure is not None:
        said = not_run(practical, run.failure, list(cases[0].given), source, limit)
        return Verdict(False, (said,))
    results = []
    for case, outcome in zip(cases, run.outcomes, strict=True):
        steps = subject.steps(case.given)
        results.append(Result(case, tuple(steps[name] for name in subject.outputs), outcome))
    plain = [result for result in results if not result.case.large]
    if not all(result.correct for result in plain):
        recognised = known_mistake(subject, plain) or other_step(subject, plain)
        verdict = recognised or first_problem(practical, subject, plain, source)
        return Verdict(False, (*verdict.said, *future(results)), verdict.mistake)
    large = [result for result in results if result.case.large]
    if not all(result.correct for result in large):
        verdict = first_problem(practical, subject, large, source)
        return Verdict(False, (Said(verdicts.LARGE), *verdict.said))
    values = {"function": practical.function, "count": len(results)}
    return Verdict(True, (Said(verdicts.RIGHT, values),))


def known_mistake(subject: Subject, results: list[Result]) -> Verdict | None:
    """The mistake that gives the learner's results in every case, and in some not the right ones."""
    for name, wrong in subject.wrong().items():
        outcomes = [wrong_outcome(wrong, result.case.given) for result in results]
        shows = any(
            outcome is not None and not like((outcome,), result.right, 2 * ALIKE)
            for outcome, result in zip(outcomes, results, strict=True)
        )
        if shows and all(map(explains, outcomes, results)):
            words, mistake = mistake_words()[name], MISTAKES[name]
            values = {"label": Words(**words.name), "text": Words(**words.text)}
            said = [Said(verdicts.MISTAKE, values)]
            if mistake.spoils in ("attend", "multi_head") and mistake.step not in subject.outputs:
                said.append(Said(verdicts.MISTAKE_STEP, {"step": mistake.step}))
            return Verdict(False, tuple(said), name)
    return None


def explains(wrong: Tensor | None, result: Result) -> bool:
    """Whether a mistake accounts for a case: the same numbers, or neither gives any that fit."""
    return result.numbers is None if wrong is None else like(result.tensors, (wrong,), ALIKE)


def other_step(subject: Subject, results: list[Result]) -> Verdict | None:
    """Where the function returns, in every case, a right step that is not the one asked for."""
    steps = [subject.steps(result.case.given) for result in results]
    for place, wanted in enumerate(subject.outputs):
        found = [result.tensors[place : place + 1] for result in results]
        for name in steps[0]:
            differs = any(not like((s[name],), (s[wanted],), 2 * ALIKE) for s in steps)
            if differs and all(like(f, (s[name],), EXACT) for f, s in zip(found, steps, strict=True)):  # fmt: skip
                return Verdict(False, (Said(verdicts.OTHER_STEP, {"name": wanted, "found": name}),))
    return None


def first_problem(
    practical: Practical, subject: Subject, results: list[Result], source: str
) -> Verdict:
    """What is off in the first case that is not right; before it, how many others are."""
    first = next(result for result in results if not result.correct)
    right = sum(result.correct for result in results)
    some = [Said(verdicts.SOME, {"right": right, "count": len(results)})] if right else []
    return Verdict(False, (*some, *problem(practical, subject.outputs, first, source)))


def future(results: list[Result]) -> list[Said]:
    """The first row that changes when only later tokens do, if one does."""
    rows = []
    for copy in results:
        t = copy.case.changed_after
        base = None if copy.case.copy_of is None else results[copy.case.copy_of].numbers
        if base is None or copy.numbers is None:
            continue
        before, after = base[0][..., t, :], copy.numbers[0][..., t, :]
        if not like((after,), (before,), EXACT):
            rows.append(t)
    return [Said(verdicts.FUTURE, {"row": min(rows)})] if rows else []
