"""The named API of the quizzes: what there is, one question, an answer graded.

No answer leaves the server before the learner has given one: `/quiz` sends the question
and what can be chosen, `/grade` what came of an answer.
"""

# No `from __future__ import annotations` here: Gradio reads the real types.
from typing import Any

from lessons import answers, course, questions
from lessons.words import LANGUAGES
from playground.errors import AnswerTypeError, LanguageError, NotTextError, WholeRangeError, shown
from playground.state import MAX_SEED


def quizzes(lang: str = "en") -> list:
    """All questions of the lessons.

    Parameters:
        lang: en or ko, the language of what an error says
    Returns:
        a list of objects: quiz_id, station, kind (choice, choices, number, cell, shape, order or line), generated (true: another seed, another question)
    """
    check_language(lang)
    return [
        {
            "quiz_id": source.quiz_id,
            "station": source.station,
            "kind": source.kind,
            "generated": source.generated,
        }
        for source in course.asked().values()
    ]


def quiz(quiz_id: str, seed: int = 1, lang: str = "en") -> dict:
    """One question, as text, numbers included; nothing in it tells the answer.

    Parameters:
        quiz_id: one of /quizzes
        seed: the same seed gives the same question; of a generated one, another seed gives other numbers
        lang: en or ko
    Returns:
        an object: quiz_id, seed, kind, ask, and choices, a list of {value, text}, empty where a number or a size is asked
    """
    found = asked_for(quiz_id, seed, lang)
    shown = () if found.kind == "shape" else found.choices
    return {
        "quiz_id": found.quiz_id,
        "seed": found.seed,
        "kind": found.kind,
        "ask": found.ask(lang),
        "choices": [{"value": c.value, "text": c.text(lang)} for c in shown],
    }


def grade(quiz_id: str, seed: int, answer: Any, lang: str = "en") -> dict:
    """Whether an answer is right; if not, the known mistake it comes from, where there is one.

    Parameters:
        quiz_id: one of /quizzes
        seed: the seed that /quiz was asked with
        answer: a value, a list of values, a number, or text such as 0.42, 42 % or 1/3
        lang: en or ko
    Returns:
        an object: correct, feedback (text), mistake (a name, or null)
    """
    found = asked_for(quiz_id, seed, lang)
    parts = answer if isinstance(answer, list) else [answer]
    if not all(
        isinstance(part, str | int | float) and not isinstance(part, bool) for part in parts
    ):
        raise AnswerTypeError(value=shown(answer))
    graded = answers.grade(found, answer, lang)
    return {"correct": graded.correct, "feedback": graded.feedback, "mistake": graded.mistake}


def asked_for(quiz_id: str, seed: int, lang: str) -> questions.Question:
    check_language(lang)
    if not isinstance(quiz_id, str):
        raise NotTextError(name="quiz_id", value=shown(quiz_id))
    if type(seed) is not int or not 0 <= seed <= MAX_SEED:
        raise WholeRangeError(name="seed", value=shown(seed), low=0, high=MAX_SEED)
    return questions.question(quiz_id, seed)


def check_language(lang: str) -> None:
    if lang not in LANGUAGES:
        raise LanguageError(value=shown(lang))
