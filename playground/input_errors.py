"""What can be wrong with what a person types, pastes, opens or uploads on the page.

PlaygroundError
├── CellError, EmptyCellError, SmallestWeightError   a cell holds what it cannot
├── RangeError, WholeError, FieldError               a number outside its range
├── TooManyError, TooFewError                        no room, or nothing left
├── PasteError, PasteCellError, PasteEmptyError      a pasted block that cannot be used
├── NameEmptyError, NameLongError                    a token without a usable name
├── NothingToAskError                                a matrix with no number to predict
├── LinkError                                        a link or file that cannot be used
├── UnknownNameError, TextLongError                  a model or a prompt that cannot be used
└── ActionError                                      a request that no button makes
"""

from __future__ import annotations

from model.errors import PlaygroundError


def readable(text: object) -> str:
    """Text that can be sent: half a character (a lone surrogate, which JSON allows) becomes ?."""
    return str(text).encode("utf-8", "replace").decode()


def short(value: object, most: int = 24) -> str:
    """`value` as text, cut so that a message stays readable."""
    text = readable(value if isinstance(value, str) else repr(value))
    return text if len(text) <= most else text[: most - 1] + "…"


class CellError(PlaygroundError):
    en = "“{found}” is not a number. Type one like 0.5 or −2; {kept} stays in use until then."
    ko = "‘{found}’ 값은 숫자가 아닙니다. 0.5나 −2처럼 입력하십시오. 그때까지 {kept} 값을 씁니다."


class EmptyCellError(PlaygroundError):
    en = "This cell is empty. Type a number; {kept} stays in use until then."
    ko = "빈칸입니다. 숫자를 입력하십시오. 그때까지 {kept} 값을 씁니다."


class RangeError(PlaygroundError):
    en = "{found} is out of range: from {low} to {high}. {kept} stays in use."
    ko = "{found} 값은 범위를 벗어납니다. {low}부터 {high}까지 쓸 수 있습니다. {kept} 값을 그대로 씁니다."


class WholeError(PlaygroundError):
    en = "“{found}” is not a whole number from {low} to {high}. {kept} stays in use."
    ko = "‘{found}’ 값은 {low}부터 {high}까지의 정수가 아닙니다. {kept} 값을 그대로 씁니다."


class FieldError(PlaygroundError):
    en = "“{found}” cannot be used here: from {low} to {high}. {kept} stays in use."
    ko = "‘{found}’ 값은 쓸 수 없습니다. {low}부터 {high}까지입니다. {kept} 값을 그대로 씁니다."


class TooManyError(PlaygroundError):
    en = "There is room for {most}, and {found} would be too many."
    ko = "최대 {most}개까지 쓸 수 있습니다. {found}개는 너무 많습니다."


class TooFewError(PlaygroundError):
    en = "At least {least} must stay; {found} would be too few."
    ko = "적어도 {least}개는 있어야 합니다. {found}개는 너무 적습니다."


class PasteError(PlaygroundError):
    en = (
        "The pasted block is {rows} × {cols}; from this cell on there is room for "
        "{room_rows} × {room_cols}. Nothing was changed."
    )
    ko = (
        "붙여 넣은 표는 {rows} × {cols} 크기인데, 이 칸부터는 {room_rows} × {room_cols}까지 "
        "들어갑니다. 아무것도 바꾸지 않았습니다."
    )


class PasteCellError(PlaygroundError):
    en = "In the pasted block, row {row}, column {col} holds “{found}”, which cannot be used. Nothing was changed."
    ko = "붙여 넣은 표의 {row}행 {col}열에 있는 ‘{found}’ 값은 쓸 수 없습니다. 아무것도 바꾸지 않았습니다."


class PasteEmptyError(PlaygroundError):
    en = "There is nothing in what was pasted. Nothing was changed."
    ko = "붙여 넣은 내용이 비어 있습니다. 아무것도 바꾸지 않았습니다."


class NothingToAskError(PlaygroundError):
    en = "{name} has no number to predict now: every cell is 0, −∞ or NaN."
    ko = "지금 {name}에는 예측할 숫자가 없습니다. 모든 칸이 0이거나 −∞ 또는 NaN입니다."


class NameEmptyError(PlaygroundError):
    en = "A token needs a name; “{kept}” stays."
    ko = "토큰에는 이름이 필요합니다. ‘{kept}’ 이름을 그대로 둡니다."


class NameLongError(PlaygroundError):
    en = "A token's name has at most {most} characters; this one has {found}. “{kept}” stays."
    ko = "토큰 이름은 {most}자까지 쓸 수 있는데 {found}자입니다. ‘{kept}’ 이름을 그대로 둡니다."


class SmallestWeightError(PlaygroundError):
    en = "A weight cannot be negative: {found}. A voice is at least 0; {kept} stays in use."
    ko = (
        "가중치는 음수일 수 없는데 {found}입니다. 목소리는 0 이상입니다. {kept} 값을 그대로 씁니다."
    )


class LinkError(PlaygroundError):
    en = "This link or file cannot be used: {where} is {found}, and should be {wanted}."
    ko = "이 링크나 파일은 쓸 수 없습니다. {where}의 값이 {found}인데, {wanted}이어야 합니다."


class ActionError(PlaygroundError):
    en = "The page asked for something unknown: {found}. Reload it, please."
    ko = "페이지가 알 수 없는 요청을 보냈습니다: {found}. 새로고침해 주십시오."


class UnknownNameError(PlaygroundError):
    en = "There is nothing named “{found}”; choose one of: {names}."
    ko = "‘{found}’(이)라는 이름은 없습니다. 다음 가운데에서 고르십시오: {names}."


class TextLongError(PlaygroundError):
    en = "The text has {found} characters; at most {most} are read. What was there stays."
    ko = "글은 {found}자입니다. 최대 {most}자까지 읽습니다. 앞의 글을 그대로 둡니다."
