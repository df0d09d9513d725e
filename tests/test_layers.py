"""Imports go app → playground → lessons → model, never back, and each room knows only its own tools."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = ("app", "playground", "lessons", "model")  # each may import itself and what follows it
OUTSIDE = ("tests", "benchmarks", "scripts")  # they may look into the rooms; no room may need them
MODEL_TOOLS = {"torch", "tiktoken", "safetensors"}
TRAINING_COMMAND = "model/__main__.py"  # alone it may also show its progress
TRAINING_TOOLS = {"tqdm", "matplotlib"}
NOT_FOR_LESSONS = {"gradio", "gradio_client", "pandas"}


def room_files(root: Path, room: str) -> list[Path]:
    """Every Python file of a room; app is a single file."""
    return [root / "app.py"] if room == "app" else sorted((root / room).rglob("*.py"))


def imported(path: Path, root: Path) -> Iterator[str]:
    """Dotted names of all that a file imports: at its top, inside functions, relative, by name."""
    package = path.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            module = [*base, *([node.module] if node.module else [])]
            if module:
                yield ".".join(module)
            else:  # `from .. import x` at the root
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            first = node.args[0]
            if isinstance(first, ast.JoinedStr):  # f"playground.tabs.{name}" starts with a constant
                first = first.values[0]
            if isinstance(first, ast.Constant):
                yield str(first.value)


def allowed(room: str, name: str, file: str = "") -> bool:
    """Whether a file in `room` may import the top-level package `name`."""
    if name in ORDER:
        return ORDER.index(name) >= ORDER.index(room)
    if name in OUTSIDE:
        return False
    if room == "model":
        if file == TRAINING_COMMAND and name in TRAINING_TOOLS:
            return True
        return name in MODEL_TOOLS or name in sys.stdlib_module_names
    return not (room == "lessons" and name in NOT_FOR_LESSONS)


def wrong_imports(root: Path) -> list[str]:
    """`room/file.py imports x` for each import that the rules forbid."""
    return [
        f"{path.relative_to(root).as_posix()} imports {name}"
        for room in ORDER
        for path in room_files(root, room)
        for name in imported(path, root)
        if not allowed(room, name.split(".")[0], path.relative_to(root).as_posix())
    ]


def test_no_import_goes_back():
    assert wrong_imports(ROOT) == []


@pytest.mark.parametrize("room", ORDER)
def test_every_room_is_read(room):
    found = [name for path in room_files(ROOT, room) for name in imported(path, ROOT)]
    expected = {"app": "playground.server", "playground": "gradio", "lessons": "tomllib"}
    assert expected.get(room, "torch") in found


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("model/a.py", "import gradio as gr", "gradio"),
        ("model/a.py", "import numpy.linalg", "numpy.linalg"),
        ("model/training.py", "from tqdm import tqdm", "tqdm"),
        ("model/__main__.py", "import numpy", "numpy"),
        ("model/a.py", "def f():\n    from lessons.grading import grade", "lessons.grading"),
        ("model/deep/a.py", "from ...playground import words", "playground"),
        ("model/deep/a.py", "from ... import app", "app"),
        ("lessons/a.py", "import pandas", "pandas"),
        ("lessons/a.py", "from gradio.events import Events", "gradio.events"),
        ("lessons/a.py", "import importlib\nimportlib.import_module('playground.api')", "playground.api"),
        ("lessons/a.py", "if True:\n    import app", "app"),
        ("playground/a.py", "from app import main", "app"),
        ("playground/tabs/a.py", "from tests.conftest import free_port", "tests.conftest"),
        ("app.py", "import benchmarks", "benchmarks"),
    ],
)  # fmt: skip
def test_a_wrong_import_is_found(tmp_path, file, source, found):
    write_rooms(tmp_path, {file: source})
    assert wrong_imports(tmp_path) == [f"{file} imports {found}"]


def test_right_imports_are_let_through(tmp_path):
    sources = {
        "app.py": "from playground.server import serve",
        "playground/a.py": "import gradio, pandas, torch\nfrom lessons import b\nfrom . import c",
        "playground/tabs/a.py": "from ..render import Html\nfrom model import attend",
        "lessons/a.py": "import tomllib\nfrom model.mistakes import MISTAKES",
        "model/a.py": "import math, torch\nfrom .errors import PlaygroundError",
        "model/__main__.py": "import tqdm\nfrom matplotlib import pyplot",
    }
    write_rooms(tmp_path, sources)
    assert wrong_imports(tmp_path) == []


def write_rooms(root: Path, sources: dict[str, str]) -> None:
    """The given files and an app.py, under an empty root."""
    for file, source in {"app.py": "", **sources}.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")


@pytest.mark.parametrize("room", ["model", "lessons"])
def test_a_room_loads_without_the_interface(room):
    """What is really loaded, also by way of others: every module of the room, in a fresh process."""
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in room_files(ROOT, room)
        if path.name != "__main__.py"
    ]
    load = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    program = f"{load}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert {room, "torch"} <= loaded
    assert not loaded & {"app", "playground", "gradio", "gradio_client", "pandas", "fastapi"}
