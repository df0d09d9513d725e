"""Words in two languages, side by side, so that neither can be forgotten.

>>> hello = Words("{n} tokens", "토큰 {n}개")
>>> hello("ko", n=3)
'토큰 3개'
"""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGES = ("en", "ko")  # the first serves a reader of neither


@dataclass(frozen=True)
class Words:
    """One text in English and in Korean; both use the same {blanks}."""

    en: str
    ko: str

    def __call__(self, lang: str, **values: object) -> str:
        text = self.ko if lang == "ko" else self.en
        return text.format(**values) if values else text


def same(text: str) -> Words:
    """A formula or a name that reads alike in both languages."""
    return Words(text, text)
