"""Every text in both languages: the same blanks, Korean in Korean, nothing said outside `Words`."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import model
import playground
from lessons.mistakes import mistake_words
from lessons.words import Words, same
from model.errors import PlaygroundError
from playground.tab import tabs
from tests.conftest import ROOT

HANGUL = re.compile("[가-힣]")
WORD = re.compile("[A-Za-z]{2,}")
# Names and formulas that read alike in both languages.
ALIKE = {
    "Your journey", "GPT", "ROMEO:", "A ↔ B?", "nn.Linear", "torch.rand", "softmax", "n_head", "÷ √d", "÷ Σ", "Q Kᵀ", "× V", "× Wo",
    "× Wq, Wk, Wv", "× W_out", "log w", "64 → 4 × 16 → 64", "X = Q = K = V", "Σ",
}  # fmt: skip
# English that Korean sentences quote: code, names, the words of an example.
QUOTED = re.compile(
    r"<[^>]*>|‘[^’]*’|\([^)]*\)|[A-Za-z_.]+\([^)]*\)|mask_type|F\.scaled_dot_product_attention|GPT|PyTorch|JSON"
)
SOURCES = sorted((ROOT / "playground").rglob("*.py"))


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def text_of(node: ast.expr) -> str:
    """A literal text; the expressions of an f-string as {…}."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(v.value) if isinstance(v, ast.Constant) else "{" + ast.unparse(v.value) + "}"
            for v in node.values
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return text_of(node.func.value)  # "…".replace(…)
    return str(node.value) if isinstance(node, ast.Constant) else "{" + ast.unparse(node) + "}"


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """Each call of Words or same in playground/, with its place."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


WORDS = [
    pytest.param(*map(text_of, node.args), id=where)
    for where, node in calls("Words")
    if not where.startswith("lessons/words.py")
]


def in_korean(text: str) -> bool:
    """Hangul in it, and no run of four English words but those it quotes."""
    plain = QUOTED.sub(" ", re.sub(r"\{[^}]*\}", " ", text))
    return bool(HANGUL.search(text)) and not re.search(r"[A-Za-z]{2,}(?: [A-Za-z]{2,}){3,}", plain)


@pytest.mark.parametrize(("en", "ko"), WORDS)
def test_a_text_is_in_both_languages(en, ko):
    assert en.strip()
    assert ko.strip()
    assert sorted(re.findall(r"\{[^}]*\}", en)) == sorted(re.findall(r"\{[^}]*\}", ko))
    assert not HANGUL.search(en.replace("나는 학교에 간다", ""))
    assert in_korean(ko) or ko in ALIKE


def test_many_texts_were_read():
    assert len(WORDS) > 100
    assert not in_korean("어텐션 as one would say it in English")
    assert not in_korean("softmax")


@pytest.mark.parametrize("text", sorted({text_of(node.args[0]) for _, node in calls("same")}))
def test_what_reads_alike_is_no_sentence(text):
    """A formula, a name, a number: nothing that a translation would change."""
    plain = re.sub(r"\{[^}]*\}", "", text)
    assert not HANGUL.search(text)
    assert plain in ALIKE or not WORD.search(plain), text


def every_error(cls: type[PlaygroundError] = PlaygroundError) -> Iterator[type[PlaygroundError]]:
    for below in cls.__subclasses__():
        yield below
        yield from every_error(below)


for package in (model, playground):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


@pytest.mark.parametrize("error", sorted(set(every_error()), key=lambda e: e.__qualname__))
def test_an_error_is_in_both_languages(error):
    """One that is raised has its sentence; a mere branch of the tree has none."""
    if not error.en:
        assert error.__subclasses__()
        assert not error.ko
        return
    paired = {name.removesuffix("_en") for name in blanks(error.en)}
    assert paired == {name.removesuffix("_ko") for name in blanks(error.ko)}
    assert in_korean(error.ko)
    assert not HANGUL.search(error.en)
    assert error.en.endswith((".", "!", "?"))
    assert error.ko.endswith((".", "!", "?"))


def found_in(value: object, seen: set[int]) -> Iterator[Words]:
    """Every `Words` inside a value, however deep."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Words):
        yield value
    elif isinstance(value, dict):
        for part in [*value, *value.values()]:
            yield from found_in(part, seen)
    elif isinstance(value, (list, tuple, set)):
        for part in value:
            yield from found_in(part, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from found_in(getattr(value, field.name), seen)


def test_the_words_of_the_running_page_are_all_of_them_read_here():
    """Tabs, presets and module globals hold no text that the source check has not seen."""
    read = {tuple(p.values) for p in WORDS} | {(t, t) for t in ALIKE}
    alike = {text_of(node.args[0]) for _, node in calls("same")}
    seen: set[int] = set()
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages(playground.__path__, "playground.")]  # fmt: skip
    held = [w for m in modules for w in found_in(vars(m), seen)]
    held += list(found_in(list(tabs().values()), seen))
    assert len(held) > 60
    assert [w for w in held if (w.en, w.ko) not in read and w.en not in alike] == []


def test_every_mistake_of_a_tab_has_its_words():
    for tab in tabs().values():
        for name in tab.mistakes:
            words = mistake_words()[name]
            assert in_korean(words.text["ko"]), name
            assert HANGUL.search(words.name["ko"]), name


# Nothing said outside Words


def allowed(path: Path, stack: list[ast.AST]) -> bool:
    """Whether a literal may hold Hangul here: Words, `ko`, a token, word or prompt of a preset, a *_ko blank."""
    for node in stack:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Words":
            return True
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ko":
            return True
        if isinstance(node, ast.keyword) and (node.arg or "").endswith(
            ("tokens", "_ko", "prompt", "word")
        ):
            return True
        if path.name == "app.py" and isinstance(node, ast.keyword) and node.arg == "title":
            return True  # one page title in both
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NAMES":
            return path.name == "app.py"  # a language is named in itself
    return False


def literals(path: Path) -> Iterator[tuple[str, int, list[ast.AST]]]:
    """Each text literal but docstrings: (text, line, what stands around it)."""

    def walk(node: ast.AST, stack: list[ast.AST]) -> Iterator[tuple[str, int, list[ast.AST]]]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno, stack
        for child in ast.iter_child_nodes(node):
            yield from walk(child, [*stack, node])

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), [])


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_korean_stands_only_beside_its_english(path):
    loose = [
        (line, text)
        for text, line, stack in literals(path)
        if HANGUL.search(text) and not allowed(path, stack)
    ]
    assert loose == []


PAGE = [p for p in SOURCES if p.parent.name == "tabs" or "render" in p.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", PAGE, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_english_sentence_is_said_to_all(path):
    """A text of three words that is neither in Words nor code is shown in one language only."""
    said = [
        (line, text)
        for text, line, stack in literals(path)
        if re.search(r"\b[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}\b", re.sub(r"<[^>]*>", " ", text))
        and not any(isinstance(n, ast.Assert) for n in stack)
        and not any(isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Words" for n in stack)
        and not re.search(r" = |# |: ", text)  # code, a heading of a script
    ]
    assert said == []


def test_templates_have_no_second_pass():
    """Gradio reads {{…}} and ${…} in a template: only ever the one that holds our finished html."""
    for path in [*SOURCES, *(ROOT / "playground").rglob("*.html")]:
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"\{\{\s*value", source), path
        assert set(re.findall(r"\$\{[^}]*\}", source)) <= {"${value.html}"}, path


def test_same_is_words():
    assert same("Q Kᵀ") == Words("Q Kᵀ", "Q Kᵀ")
    assert Words("{n} tokens", "토큰 {n}개")("ko", n=3) == "토큰 3개"
    assert Words("{n}", "{n}")("en") == "{n}"
