"""Shapes as people write them: `[2, 5, 64]`, `2 × 5 × 64`, `torch.Size([2, 5, 64])`, `8, 1,024`."""

from __future__ import annotations

import re

from lessons.grading import PLAIN

LONGEST = 200  # characters; more is no shape
SIZE = r"[a-z0-9_]+"  # a whole number or a name
TIMES = re.compile(r"[×*·、]|(?<=[0-9])\s*x\s*(?=[0-9])")
THOUSANDS = re.compile(r"(?<![0-9])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])")
UNKNOWN = re.compile(r"\[[^\[\]]*\?[^\[\]]*\]")  # [2, 10, ?] in a question


def readings(text: str) -> list[str]:
    """The ways to read a shape, each as sizes with commas; none where it is no shape.

    As written comes first; after it, with commas between thousands, where those can be.
    Brackets, spaces and capitals do not matter.

    >>> readings("(B, 10)"), readings("2 x 1,024"), readings("about six?")
    (['b,10'], ['2,1,024', '2,1024'], [])
    """
    if len(text) > LONGEST:
        return []
    plain = re.sub(r"torch\.size", " ", text.translate(PLAIN).lower())
    plain = TIMES.sub(",", re.sub(r"[\[\](){}]", " ", plain)).strip().strip(",")
    parts = re.split(r"\s*,\s*" if "," in plain else r"\s+", plain.strip())
    if not all(re.fullmatch(SIZE, part) for part in parts):
        return []
    grouped = THOUSANDS.sub(lambda found: found[0].replace(",", ""), plain)
    found = [",".join(parts), re.sub(r"\s", "", grouped) if "," in plain else ",".join(parts)]
    return list(dict.fromkeys(found))


def forms(size: str, ask: str) -> set[str]:
    """What a size may be given as: itself, or the question's `[2, 10, ?]` filled with it.

    >>> sorted(forms("256", "The shape is [2, 10, ?]. What is missing?"))
    ['2,10,256', '256']
    """
    wholes = [found.replace("?", size) for found in UNKNOWN.findall(ask)]
    return {reading for text in (size, *wholes) for reading in readings(text)[:1]}
