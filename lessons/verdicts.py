"""What is said about a learner's code, in English and Korean, side by side.

A `Said` is one sentence with its blanks filled; a `Verdict` is all that is said of one
file. The errors at the end are those of use: a file that is not there, a practical
that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lessons.words import Words
from model.errors import PlaygroundError


@dataclass(frozen=True)
class Said:
    """One sentence. `values` fill its blanks; those that are words themselves follow the language."""

    words: Words
    values: Mapping[str, Any] = field(default_factory=dict)

    def text(self, lang: str) -> str:
        values = {k: v(lang) if isinstance(v, Words) else v for k, v in self.values.items()}
        return self.words(lang, **values)


@dataclass(frozen=True)
class Verdict:
    """Whether the code is right; if not, the mistake it makes, where one is known."""

    correct: bool
    said: tuple[Said, ...]
    mistake: str | None = None


RIGHT = Words(
    "Right: {function} gives the model's numbers in all {count} cases.",
    "맞았습니다. {function} 함수의 결과가 {count}가지 경우 모두에서 모델의 숫자와 같습니다.",
)

# What kept the function from running at all

SYNTAX = Words(
    "Python cannot read the file ({message}).{line}",
    "파이썬이 파일을 읽지 못했습니다({message}).{line}",
)
STUCK = Words(
    "The code was still running after {limit} s and was stopped. Does a loop never end?{line}",
    "{limit}초가 지나도 코드가 끝나지 않아 멈추었습니다. 끝나지 않는 반복문이 있습니까?{line}",
)
ENDED = Words(
    "The process that ran the code ended without a result (exit status {status}). Did the code end it, or use up the memory?",
    "코드를 실행하던 프로세스가 결과 없이 끝났습니다(종료 상태 {status}). 코드가 프로세스를 끝냈거나 메모리를 다 썼을 수 있습니다.",
)
MISSING = Words(
    "The file has no function named {function}. Functions in it: {found}.",
    "파일에 {function} 함수가 없습니다. 파일에 있는 함수: {found}.",
)
NONE_FOUND = Words("none", "없음")
CALL = Words(
    "{function} cannot be called with {wanted}: it is written as {function}{found}.",
    "{function} 함수를 {wanted} 순서의 인수로 부를 수 없습니다. 파일에는 {function}{found}라고 되어 있습니다.",
)
RAISED_LOADING = Words(
    "The file stops while it is loaded: {type}: {message}{line}",
    "파일을 불러오는 도중에 멈췄습니다. {type}: {message}{line}",
)

# What went wrong in one call. {given} is " with q (3, 4), k (3, 4)"; {line} the learner's own line.

EMPTY = Words(
    "{function} is still empty: write its body in place of “raise NotImplementedError”.",
    "{function} 함수가 아직 비어 있습니다. ‘raise NotImplementedError’ 자리에 코드를 쓰십시오.",
)
RAISED = Words(
    "{function} stops with {type}: {message} (inputs: {given}){line}",
    "{function} 함수가 오류로 멈췄습니다. {type}: {message} (입력: {given}){line}",
)
RETURNS_NONE = Words(
    "{function} returns None. Is “return” missing?",
    "{function} 함수가 None을 돌려줍니다. ‘return’을 빠뜨리지 않았습니까?",
)
WRONG_TYPE = Words(
    "{function} returns {found}; what is asked for is {wanted}.",
    "{function} 함수의 반환값은 {found}입니다. {wanted} 형태로 돌려주어야 합니다.",
)
A_TENSOR = Words("one tensor (torch.Tensor)", "텐서 하나(torch.Tensor)")
TENSORS = Words("a tuple of {count} tensors: {names}", "텐서 {count}개의 튜플({names})")
A_TUPLE = Words("a tuple ({types})", "튜플({types})")
SHAPE = Words(
    "{name} has the shape {found} instead of {wanted} (inputs: {given}).",
    "{name}의 모양이 {wanted}이어야 하는데 {found}입니다(입력: {given}).",
)
DTYPE = Words(
    "{name} has the type {found} instead of {wanted}, the type of the inputs.",
    "{name}의 자료형이 입력과 같은 {wanted}이어야 하는데 {found}입니다.",
)
NAN = Words(
    "{name} holds NaN at {position} (inputs: {given}). {why}",
    "{name}의 {position} 자리에 NaN이 있습니다(입력: {given}). {why}",
)
NUMBER = Words(
    "{name} at {position} is {found} instead of {wanted} (inputs: {given}).",
    "{name}의 {position} 자리가 {wanted}이어야 하는데 {found}입니다(입력: {given}).",
)
FIRST_OFF = Words(
    "{right}: right. The first that is off is {name}.",
    "{right}까지는 맞습니다. 처음으로 어긋난 것은 {name}입니다.",
)
LARGE = Words(
    "Ordinary numbers come out right; large ones (around ±1000) do not.",
    "보통 크기의 수에서는 맞지만, 큰 수(±1000 안팎)에서는 틀립니다.",
)
SOME = Words(
    "{right} of {count} cases are right; this one is not:",
    "{count}가지 경우 가운데 {right}가지는 맞고, 다음 경우는 틀립니다.",
)

# What was recognised

MISTAKE = Words("This is “{label}”. {text}", "‘{label}’ 실수입니다. {text}")
MISTAKE_STEP = Words(
    "The first step that is off: {step}.",
    "처음으로 어긋난 단계: {step}.",
)
FUTURE = Words(
    "The future is visible from row {row} on: change only the tokens after it, and row {row} changes (rows are counted from 0).",
    "{row}번 행부터 미래가 보입니다. 그 뒤의 토큰만 바꾸어도 {row}번 행이 달라집니다(행 번호는 0부터).",
)
OTHER_STEP = Words(
    "What is returned as {name} is {found}: rightly computed, but {name} is asked for.",
    "{name} 자리에 돌려준 것은 {found}입니다. 계산은 맞지만 필요한 것은 {name}입니다.",
)

LINE = Words("\n  line {number}: {source}", "\n  {number}번째 줄: {source}")


class PracticalError(PlaygroundError):
    en = "There is no {kind} {found}. There are: {choices}."
    ko = "{kind} {found}번은 없습니다. 있는 것: {choices}."

    def __init__(self, *, kind: Words, **values: object) -> None:
        self.kind = kind
        super().__init__(kind=kind.en, **values)

    def text(self, lang: str) -> str:
        return (self.ko if lang == "ko" else self.en).format(
            **self.values | {"kind": self.kind(lang)}
        )


class LearnerFileError(PlaygroundError):
    en = "The file {path} cannot be read ({reason}). Without a file name, the command writes one to fill in."
    ko = "{path} 파일을 읽을 수 없습니다({reason}). 파일 이름 없이 실행하면 채워 넣을 파일을 만들어 줍니다."


class NotWrittenError(PlaygroundError):
    en = "The file {path} cannot be written here ({reason}). Change to a folder of your own first."
    ko = "여기에 {path} 파일을 쓸 수 없습니다({reason}). 먼저 쓸 수 있는 폴더로 옮기십시오."


class LimitError(PlaygroundError):
    en = "The time limit is {found} seconds; it must be above 0 and at most {most}."
    ko = "제한 시간이 {found}초입니다. 0보다 크고 {most} 이하이어야 합니다."


class HintError(PlaygroundError):
    en = "There is no hint {found}: this practical has {count}, counted from 1."
    ko = "힌트 {found}번은 없습니다. 이 실습의 힌트는 1번부터 {count}번까지입니다."
