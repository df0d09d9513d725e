"""Every mistake has its words, in both languages, and no words are left over."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import lessons
from lessons.mistakes import mistake_words
from model.mistakes import MISTAKES

HANGUL = re.compile("[가-힣]")


def test_the_words_and_the_mistakes_have_the_same_names():
    assert list(mistake_words()) == list(MISTAKES)


def test_the_file_holds_nothing_else():
    path = Path(lessons.__file__).with_name("mistakes.toml")
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        assert {part: set(words) for part, words in entry.items()} == {
            "name": {"en", "ko"},
            "text": {"en", "ko"},
        }, name


@pytest.mark.parametrize("name", MISTAKES)
def test_labels_are_short_and_texts_whole_sentences(name):
    words = mistake_words()[name]
    for lang in ("en", "ko"):
        assert 0 < len(words.name[lang]) <= 40
        assert words.text[lang].endswith(".")
    assert not HANGUL.search(words.name["en"] + words.text["en"])
    assert words.text["ko"].endswith("니다.")
    assert HANGUL.search(words.name["ko"])


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_no_two_mistakes_share_their_words(lang):
    for part in ("name", "text"):
        words = [getattr(entry, part)[lang] for entry in mistake_words().values()]
        assert len(set(words)) == len(words)


def test_the_words_are_read_once_and_cannot_be_changed():
    assert mistake_words() is mistake_words()
    with pytest.raises(TypeError):
        mistake_words()["no_scale"] = None
    with pytest.raises(TypeError):
        mistake_words()["no_scale"].name["en"] = "other"
