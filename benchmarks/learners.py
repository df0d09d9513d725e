"""Simulated learners: is the mistake named that a learner really makes?

For every known mistake, a learner who computes everything with just that mistake answers
each generated question on 200 seeds, rounded to two decimals as a person would write it.
Where the mistake shows at all (its answer is farther from the right one than both could be
off), it should be named. A careful learner, who rounds rightly, should never be accused.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from benchmarks import Row
from lessons.answers import grade
from lessons.course import asked
from lessons.drawing import Answer, none_left_out
from lessons.questions import Question, apart, draw, made

SEEDS = 200
UNNAMED = "(none)"


def run() -> list[Row]:
    """The confusion table is printed; the rows are what it comes to."""
    table, accused, careful = confusion(SEEDS)
    print_table(table)
    shown = sum(counts.total() for counts in table.values())
    right = sum(counts[mistake] for mistake, counts in table.items())
    worst = min(counts[m] / counts.total() for m, counts in table.items())
    return [
        Row(
            "mistakes named, of those that show", 100 * right / shown, 100.0, "%", 0.95, "all", True
        ),
        Row("the same, of the mistake named worst", 100 * worst, 100.0, "%", None, "all", True),
        Row(
            "careful learners not accused",
            100 * (1 - accused / careful),
            100.0,
            "%",
            1.0,
            "all",
            True,
        ),
    ]


def confusion(seeds: int) -> tuple[dict[str, Counter[str]], int, int]:
    """{mistake made: {mistake named: times}}, careful learners accused, careful learners."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    accused = careful = 0
    for source in asked().values():
        for seed in range(seeds) if source.generated else ():
            question = made(source, seed)
            for mistake, answer in answers_with_a_mistake(question).items():
                if apart(answer, question.answer):
                    named = grade(question, written(answer), "en").mistake
                    table[mistake][named or UNNAMED] += 1
            careful += 1
            accused += not grade(question, written(question.answer), "en").correct
    return table, accused, careful


def answers_with_a_mistake(question: Question) -> dict[str, Answer]:
    """What each mistake gives, those too that the question itself does not tell apart."""
    with none_left_out():
        drawn = draw(question.source, question.seed, question.attempt)
    return {**drawn.mistakes, **question.mistakes}


def written(answer: Answer | tuple[str, ...]) -> str:
    """As a person writes it: two decimals."""
    return f"{answer:.2f}" if isinstance(answer, float) else str(answer)


def print_table(table: dict[str, Counter[str]]) -> None:
    print(f"{'mistake made':<34} {'shows':>7} {'named':>7}  named as another")
    for mistake, counts in sorted(table.items()):
        others = [(name, n) for name, n in counts.most_common() if name != mistake]
        rest = ", ".join(f"{name} {n}" for name, n in others)
        share = 100 * counts[mistake] / counts.total()
        print(f"{mistake:<34} {counts.total():>7} {share:>6.1f}%  {rest}".rstrip())
