"""Text and numbers as HTML.

Everything a person typed goes through `esc`; the result is marked as `Html`,
and only `Html` is ever joined into a page.
"""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def esc(text: object) -> Html:
    """Text made safe for HTML and for attributes; `Html` stays as it is."""
    return text if isinstance(text, Html) else Html(escape(str(text), quote=True))


def join(*parts: str) -> Html:
    return Html("".join(esc(part) for part in parts))


def action(do: str, **fields: Any) -> Html:
    """The attribute by which a button asks the server for something."""
    return Html(f'data-do="{escape(json.dumps({"do": do, **fields}))}"')


def number(value: float, digits: int = 2) -> str:
    """A number as the tables show it: two decimals, a true minus, −∞ and NaN written.

    >>> number(-0.2), number(0.0), number(float("-inf")), number(-0.0001), number(123456.0)
    ('−0.20', '0', '−∞', '−0.00', '1.235e+05')

    What is not 0 but too small to be anything but rounding is written "≈0".
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if abs(value) < 1e-12:
        return "≈0"
    text = f"{value:.3e}" if abs(value) >= 1e5 else f"{value:.{digits}f}"
    return text.replace("-", "−")


def apart(d: float) -> str:
    """A distance between numbers: "NaN" where one of them is, "∞" beside ±∞."""
    if not math.isfinite(d):
        return number(d)
    return f"{d:.4f}" if d >= 5e-5 else f"{d:.1e}".replace("-", "−")


def fine(value: float, digits: int = 4) -> str:
    """As `number`, but in powers of ten what so few digits would make 0.

    >>> fine(0.25), fine(2.6e-7), fine(0.0)
    ('0.2500', '2.6 × 10⁻⁷', '0')
    """
    tiny = math.isfinite(value) and 1e-12 <= abs(value) < 0.5 * 10**-digits
    return scientific(value) if tiny else number(value, digits)


def scientific(value: float) -> str:
    """Two figures and a power of ten, with true minus signs.

    >>> scientific(-2.5e-15), scientific(0.0)
    ('−2.5 × 10⁻¹⁵', '0')
    """
    if value == 0:
        return "0"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits} × 10{str(int(power)).translate(RAISED)}".replace("-", "−")


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
