"""The answer keys of all questions for one seed, for checking by machine; the app never serves them."""

from __future__ import annotations

import json
from typing import Any

from lessons.course import asked
from lessons.questions import made


def keys(seed: int) -> dict[str, dict[str, Any]]:
    """{quiz_id: {answer, mistakes: {name: answer}}}"""
    found = {quiz_id: made(source, seed) for quiz_id, source in asked().items()}
    return {
        quiz_id: {"answer": question.answer, "mistakes": dict(question.mistakes)}
        for quiz_id, question in found.items()
    }


def main(seed: int) -> int:
    print(json.dumps(keys(seed), ensure_ascii=False, indent=1))
    return 0
