"""Kinds of settings: what each may hold, how it is read from a control, and the control.

`check` is for what comes from a link or a file and raises a `LinkError`; `read` is for
what a person typed or chose and raises a `PlaygroundError` too. A field without a label
has no control: the tab's own actions set it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lessons.grading import parse_number
from lessons.words import Words
from playground import input_errors as errors
from playground.controls import check as check_box
from playground.controls import radios
from playground.form.state import FormState
from playground.html import Html, esc
from playground.state import MAX_NAME, check_rows, is_number, is_text


def need(ok: bool, name: str, value: Any, wanted: str) -> None:
    if not ok:
        raise errors.LinkError(where=name, found=errors.short(value), wanted=wanted)


@dataclass(frozen=True)
class Field:
    label: Words | None = None

    def check(self, name: str, value: Any) -> Any:
        raise NotImplementedError

    def read(self, name: str, value: Any, kept: Any) -> Any:
        return self.check(name, value)

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        raise NotImplementedError


def written(number: float) -> str:
    """A number in a sentence, never in powers of ten.

    >>> written(1e-05), written(-0.5), written(3.0)
    ('0.00001', '−0.5', '3')
    """
    return f"{number:.10f}".rstrip("0").rstrip(".").replace("-", "−")


@dataclass(frozen=True)
class Decimal(Field):
    """A number from `low` to `high`; with `slide`, a slider of that step."""

    low: float = 0.0
    high: float = 1.0
    slide: float = 0.0

    def check(self, name: str, value: Any) -> Any:
        need(
            is_number(value) and self.low <= value <= self.high,
            name,
            value,
            f"{self.low:.10g} … {self.high:.10g}",
        )
        return value

    def read(self, name: str, value: Any, kept: Any) -> Any:
        try:
            number = parse_number(str(value))
        except errors.PlaygroundError:
            number = None
        if number is None or not self.allows(number):
            raise self.refusal(value, kept)
        return number

    def allows(self, number: float) -> bool:
        return self.low <= number <= self.high

    def refusal(self, value: Any, kept: Any) -> errors.PlaygroundError:
        low, high, used = (written(n) for n in (self.low, self.high, kept))
        return errors.FieldError(found=errors.short(value), low=low, high=high, kept=used)

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        value, label = f"{getattr(state, name):.10g}", esc(self.label(lang))
        wrong = state.bad.get(f"set:{name}")
        if self.slide and wrong is None:
            return Html(
                f'<label>{label} <input type="range" data-set="{name}" min="{self.low:.10g}" max="{self.high:.10g}" '
                f'step="{self.slide:.10g}" value="{value}"> <output>{value.replace("-", "−")}</output></label>'
            )
        message = extra = ""
        if wrong is not None:
            told = esc(self.refusal(wrong, getattr(state, name)).text(lang))
            message = f'<span class="msg" role="alert" id="bad-{form}-{name}">{told}</span>'
            extra = f' aria-invalid="true" aria-describedby="bad-{form}-{name}"'
        return Html(
            f'<label class="num">{label} <input class="field short" data-set="{name}" inputmode="decimal" '
            f'value="{esc(value if wrong is None else wrong)}" autocomplete="off"{extra}>{message}</label>'
        )


@dataclass(frozen=True)
class Whole(Decimal):
    """A whole number from `low` to `high`."""

    def check(self, name: str, value: Any) -> Any:
        ok = type(value) is int and self.low <= value <= self.high
        need(ok, name, value, f"{self.low} … {self.high}")
        return value

    def read(self, name: str, value: Any, kept: Any) -> Any:
        return int(super().read(name, value, kept))

    def allows(self, number: float) -> bool:
        return super().allows(number) and number == int(number)

    def refusal(self, value: Any, kept: Any) -> errors.PlaygroundError:
        return errors.WholeError(found=errors.short(value), low=self.low, high=self.high, kept=kept)


@dataclass(frozen=True)
class Choice(Field):
    """One of `options`: radio buttons, or a list where there are many."""

    options: dict[str, Words] = field(default_factory=dict)
    as_list: bool = False

    def check(self, name: str, value: Any) -> Any:
        ok = isinstance(value, str) and value in self.options
        need(ok, name, value, " | ".join(self.options))
        return value

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        now, label = getattr(state, name), esc(self.label(lang))
        if self.as_list:
            options = "".join(
                f'<option value="{esc(value)}"{" selected" if value == now else ""}>{esc(words(lang))}</option>'
                for value, words in self.options.items()
            )
            return Html(f'<label>{label} <select data-set="{name}">{options}</select></label>')
        found = radios(name, form, [(v, words(lang)) for v, words in self.options.items()], now)
        return Html(
            f'<span class="row" role="radiogroup" aria-label="{label}"><span class="kick">{label}</span>{found}</span>'
        )


@dataclass(frozen=True)
class Switch(Field):
    def check(self, name: str, value: Any) -> Any:
        need(isinstance(value, bool), name, value, "true | false")
        return value

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        return check_box(name, self.label(lang), getattr(state, name))


@dataclass(frozen=True)
class Text(Field):
    """Text of up to `most` characters; with `rows`, over several lines."""

    most: int = 200
    rows: int = 0

    def check(self, name: str, value: Any) -> Any:
        need(is_text(value, self.most), name, value, f"≤ {self.most}")
        return value

    def read(self, name: str, value: Any, kept: Any) -> Any:
        text = errors.readable(value).replace("\r\n", "\n")
        if len(text) > self.most:
            raise errors.TextLongError(found=len(text), most=self.most)
        return text

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        value, label = esc(getattr(state, name)), esc(self.label(lang))
        if self.rows:
            return Html(
                f'<label class="wide"><span>{label}</span><textarea data-set="{name}" rows="{self.rows}" '
                f'spellcheck="false" maxlength="{self.most}">\n{value}</textarea></label>'
            )
        return Html(
            f'<label class="num">{label} <input class="field" data-set="{name}" value="{value}" '
            f'maxlength="{self.most}" autocomplete="off"></label>'
        )


@dataclass(frozen=True)
class Rows(Field):
    """A matrix of typed numbers, edited in the cells of the matrix of the field's name."""

    most_rows: int = 16
    most_cols: int = 16

    def check(self, name: str, value: Any) -> Any:
        check_rows(name, value)
        size = f"≤ {self.most_rows} × {self.most_cols}"
        ok = len(value) <= self.most_rows and len(value[0]) <= self.most_cols
        need(ok, name, f"{len(value)} × {len(value[0])}", size)
        return value


@dataclass(frozen=True)
class Names(Field):
    """The names of the tokens: one for each row of the vectors, typed in the row's header."""

    most: int = 16

    def check(self, name: str, value: Any) -> Any:
        ok = isinstance(value, list) and 1 <= len(value) <= self.most
        need(ok, name, value, f"1 … {self.most}")
        need(all(is_text(t, MAX_NAME) and t.strip() for t in value), name, value, f"1 … {MAX_NAME}")
        return value


@dataclass(frozen=True)
class Checked(Field):
    """Anything JSON holds that `ok` says yes to: a measurement, say. `wanted` is told otherwise."""

    ok: Callable[[Any], bool] = lambda value: False
    wanted: str = ""

    def check(self, name: str, value: Any) -> Any:
        need(self.ok(value), name, value, self.wanted)
        return value
