"""Errors of input: what a person can hand to the playground wrongly.

    model.errors.PlaygroundError (a ValueError)
    └── InputError
        ├── NotAMatrixError       something else where a list of rows is needed
        ├── NotARowError          a row that is not a list
        ├── EmptyError            no rows, or a row without numbers
        ├── RaggedError           rows of different lengths
        ├── TooManyRowsError      more rows than are shown
        ├── TooManyColumnsError   wider than is shown
        ├── NotANumberError       text, null or a boolean in a cell
        ├── TooLargeError         a whole number beyond float64
        ├── NotSquareError        w_out must keep the width
        ├── NotWholeError         a count that is not a whole number
        ├── NotBooleanError       a switch that is neither true nor false
        ├── NotTextError          something else where text is needed
        ├── TextTooLongError      more characters than are read
        ├── WholeRangeError       not a whole number, or outside its limits
        ├── NumberRangeError      not a number, or outside its limits
        ├── TopKError             a top_k that keeps no token
        ├── TopPError             a top_p that is no share of 1
        ├── LanguageError         neither en nor ko
        ├── AnswerTypeError       an answer that is no value, text or list
        ├── HoldsObjectError      {…} where only lists and plain values go
        ├── ArgumentCountError    too few or too many arguments
        └── NotACallError         a body that is not {"data": [arguments]}

Places are written as one would write them in Python, from 0: `vectors[1][2]`.
Values are written as JSON, so that a sentence needs no word for their type.
"""

from __future__ import annotations

import json

from model.errors import PlaygroundError


def shown(value: object) -> str:
    """A value as short JSON: `shown("cat") == '"cat"'`, `shown([1, 2]) == '[…]'`."""
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    text = text.encode("utf-8", "backslashreplace").decode()  # JSON allows half a character
    return text if len(text) <= 24 else text[:23] + "…"


class InputError(PlaygroundError):
    """What was handed in is not what was asked for."""


class NotAMatrixError(InputError):
    en = "{name} is {value}; it must be a matrix: a list of rows, each a list of numbers."
    ko = "{name}에 {value} 값이 왔습니다. 행렬, 곧 숫자 목록(행)의 목록이어야 합니다."


class NotARowError(InputError):
    en = "{name}[{row}] is {value}; each row must be a list of numbers."
    ko = "{name}[{row}]에 {value} 값이 왔습니다. 행은 숫자의 목록이어야 합니다."


class EmptyError(InputError):
    en = "{name} is empty: it holds 0 {unit_en}; it needs at least 1."
    ko = "{name} 안이 비어 있습니다. {unit_ko}의 개수가 0입니다. 적어도 1개가 필요합니다."


class RaggedError(InputError):
    en = "{name}[{row}] has {length} numbers but {name}[0] has {first}; all rows must be equally long."
    ko = "숫자가 {name}[{row}]에는 {length}개, {name}[0]에는 {first}개 있습니다. 모든 행의 길이가 같아야 합니다."


class TooManyRowsError(InputError):
    en = "{name} has {rows} rows; at most {limit} are allowed."
    ko = "{name}의 행은 {rows}개입니다. 최대 {limit}개까지 쓸 수 있습니다."


class TooManyColumnsError(InputError):
    en = "{name} has {columns} columns; at most {limit} are allowed."
    ko = "{name}의 열은 {columns}개입니다. 최대 {limit}개까지 쓸 수 있습니다."


class NotANumberError(InputError):
    en = "{name}[{row}][{column}] is {value}; it must be a number."
    ko = "{name}[{row}][{column}] 자리에 {value} 값이 있습니다. 숫자여야 합니다."


class TooLargeError(InputError):
    en = "{name}[{row}][{column}] is a whole number of about {digits} digits; the largest is 1.8e308."
    ko = "{name}[{row}][{column}] 자리의 정수는 약 {digits}자리입니다. 가장 큰 수는 1.8e308입니다."


class NotSquareError(InputError):
    en = "{name} is {rows} × {columns}; it must be square, {width} × {width}, to keep the width."
    ko = "{name}의 크기는 {rows} × {columns}입니다. 너비가 그대로이려면 {width} × {width} 정사각이어야 합니다."


class NotWholeError(InputError):
    en = "{name} is {value}; it must be a whole number, at least 1."
    ko = "{name} 값이 {value}입니다. 1 이상의 정수여야 합니다."


class NotBooleanError(InputError):
    en = "{name} is {value}; it must be true or false."
    ko = "{name} 값이 {value}입니다. true 또는 false여야 합니다."


class NotTextError(InputError):
    en = "{name} is {value}; it must be text."
    ko = "{name}에 {value} 값이 왔습니다. 글이어야 합니다."


class TextTooLongError(InputError):
    en = "{name} has {length} characters; at most {limit} are read."
    ko = "{name}의 글은 {length}자입니다. 최대 {limit}자까지 읽습니다."


class WholeRangeError(InputError):
    en = "{name} is {value}; it must be a whole number from {low} to {high}."
    ko = "{name} 값이 {value}입니다. {low}부터 {high}까지의 정수여야 합니다."


class NumberRangeError(InputError):
    en = "{name} is {value}; it must be a number from {low} to {high}."
    ko = "{name} 값이 {value}입니다. {low}부터 {high}까지의 수여야 합니다."


class TopKError(InputError):
    en = "top_k is {value}; it must be a whole number, at least 1, or null to draw from all tokens."
    ko = "top_k 값이 {value}입니다. 1 이상의 정수이거나, 모든 토큰에서 뽑으려면 null이어야 합니다."


class TopPError(InputError):
    en = "top_p is {value}; it must be above 0 and at most 1, or null to draw from all tokens."
    ko = "top_p 값이 {value}입니다. 0보다 크고 1 이하인 수이거나, 모든 토큰에서 뽑으려면 null이어야 합니다."


class LanguageError(InputError):
    en = 'lang is {value}; it must be "en" or "ko".'
    ko = 'lang 값이 {value}입니다. "en" 또는 "ko"여야 합니다.'


class AnswerTypeError(InputError):
    en = "answer is {value}; it must be a number, text, or a list of these."
    ko = "answer 값이 {value}입니다. 숫자나 글, 또는 이들의 목록이어야 합니다."


class HoldsObjectError(InputError):
    en = "{name} holds an object {{…}}; only text, numbers, true, false, null and lists are read."
    ko = "{name} 안에 객체 {{…}}가 있습니다. 글, 숫자, true, false, null과 목록만 읽습니다."


class ArgumentCountError(InputError):
    en = "{name} got {given} arguments but takes {needed}: [{arguments}]."
    ko = "{name}에 인수 {given}개가 왔지만 필요한 인수는 {needed}개입니다: [{arguments}]."


class NotACallError(InputError):
    en = 'The body of a call is a JSON object {{"data": [every argument, in order]}}; this one {problem_en}.'
    ko = (
        '호출의 본문은 JSON 객체 {{"data": [모든 인수, 순서대로]}}입니다. 보낸 본문은 {problem_ko}.'
    )
