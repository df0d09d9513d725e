"""Copy as PyTorch: the script runs with torch alone, and its assert is a real one."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys

import pytest

from model.attention import attend
from playground.code import lines_of, statements
from playground.tab import tabs
from tests.playground.random_states import broken_presets, presets, random_states

HOSTILE = [
    "it's", '"quoted"', "'''", '"""', "a\nb", "a\r\nb", "\\", "\\n", "\\'", "{x}", "{{", "%s", "🙂", "고양이",
    "# no", "\x00", "\u2028", "tokens = 1", "')#", "a\tb",
]  # fmt: skip
IMPORTED = """
import json, sys
for script in json.load(sys.stdin):
    exec(compile(script, "script", "exec"), {"__name__": "__main__"})
ours = {"playground", "model", "lessons", "gradio", "pandas"}
print(sorted({name.split(".")[0] for name in sys.modules} & ours))
"""


def run(script: str) -> dict:
    """The names a script leaves behind; what it prints is swallowed."""
    names: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(script, "script", "exec"), names)
    return names


@pytest.mark.parametrize("name", tabs())
def test_the_script_of_every_preset_and_mistake_runs(name):
    count = 0
    for tab, _, state in broken_presets():
        if tab.name == name:
            run(tab.script(state))
            count += 1
    assert count >= len(tabs()[name].presets) * (1 + len(tabs()[name].mistakes)) - 4


@pytest.mark.parametrize("name", tabs())
def test_the_script_of_a_random_state_computes_what_the_page_shows(name):
    tab = tabs()[name]
    for state in random_states(name):
        made = run(tab.script(state))
        final = "weights" if name == "masking" else "output"
        assert made["tokens"] == state.tokens
        assert same(made[final], tab.flow(state).get(final).values)


def same(a, b):
    return a.shape == b.shape and bool(((a - b).abs() <= 1e-9 * (1 + b.abs())).logical_or(a.isnan() & b.isnan()).all())  # fmt: skip


def numbers_shown(script):
    """Where each number stands that the page showed: (start, end) within the script."""
    found = []
    for block in re.finditer(r"^shown_\w+ = torch\.tensor\((.*?)dtype", script, re.S | re.M):
        for number in re.finditer(r"-?\d+\.\d+(?:e[-+]\d+)?", block[1]):
            found.append((block.start(1) + number.start(), block.start(1) + number.end()))
    return found


@pytest.mark.parametrize(
    ("tab", "state"), [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in presets()]
)
def test_a_changed_number_makes_the_script_fail(tab, state):
    """Any of the numbers shown, off by one millionth, is noticed."""
    script = tab.script(state)
    places = numbers_shown(script)
    assert len(places) >= tab.flow(state).get("weights").values.numel()
    for start, end in places[:: max(1, len(places) // 7)]:
        changed = float(script[start:end]) + 1e-6 * max(1.0, abs(float(script[start:end])))
        with pytest.raises(AssertionError, match="not close"):
            run(f"{script[:start]}{changed!r}{script[end:]}")


@pytest.mark.parametrize("name", tabs())
def test_a_changed_input_makes_the_script_fail(name):
    script = tabs()[name].script(tabs()[name].default)
    assert "0.87" in script
    with pytest.raises(AssertionError):
        run(script.replace("0.87", "0.78", 1))


@pytest.mark.parametrize("name", tabs())
def test_token_names_cannot_break_a_script(name):
    tab = tabs()[name]
    for start in range(0, len(HOSTILE), 6):
        tokens = HOSTILE[start : start + 6]
        state = tab.default.but(tokens=tokens, vectors=tab.default.vectors[: len(tokens)], query=0)
        assert run(tab.script(state))["tokens"] == tokens


def test_a_script_needs_torch_alone(tmp_path):
    """As a person runs it: a fresh Python in an empty folder, none of our files in reach."""
    scripts = [tab.script(random_states(name)[n]) for name, tab in tabs().items() for n in (3, 7)]
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORTED],
        input=json.dumps(scripts),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stdout.count("tensor(") == len(scripts)
    for script in scripts:
        assert re.findall(r"^\s*(?:import|from)\s.*", script, re.M) == ["import torch"]


def test_lines_are_those_of_the_source():
    """The scripts quote `attend`; where it is rewritten, this says which names they rely on."""
    names = [name for name, _ in statements(attend)]
    assert names == ["scores", "scaled", "masked", "weights", "dropped", "output"]
    assert dict(lines_of(attend, "no_scale"))["scaled"] == "scaled = scores"
