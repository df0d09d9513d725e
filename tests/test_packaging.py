"""What is shipped: versions, the Space's card, the files, and set-up that says what it lacks."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from scripts.dependencies import dependencies
from tests.test_layers import ORDER, imported, room_files

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CPU_TORCH = "--extra-index-url https://download.pytorch.org/whl/cpu"
LARGEST_FILE = 9_700_000  # bytes; above 10 MB a Space wants large-file storage
SPACE_COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def card() -> dict:
    """The YAML head of README.md, which Hugging Face reads."""
    _, head, _ = (ROOT / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head)


def shipped_files() -> list[Path]:
    """What git tracks or would track; of an unpacked archive, all but what the tools made."""
    if not (ROOT / ".git").exists():
        made = (".venv", ".uv", "__pycache__", ".pytest_cache", ".ruff_cache")
        files = [path for path in ROOT.rglob("*") if not set(made) & set(path.parts)]
        return [path for path in files if path.is_file()]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in files if path.is_file()]


def test_a_space_installs_what_pyproject_names():
    first, *rest = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert first == CPU_TORCH
    assert rest == PYPROJECT["project"]["dependencies"] == dependencies()


def test_make_installs_the_extra_too():
    extra = PYPROJECT["project"]["optional-dependencies"]["test"]
    assert dependencies("test") == [*PYPROJECT["project"]["dependencies"], *extra]
    with pytest.raises(KeyError):
        dependencies("no such extra")


@pytest.mark.parametrize("line", dependencies("test"))
def test_versions_are_bounded_and_installed(line):
    requirement = Requirement(line)
    operators = {specifier.operator for specifier in requirement.specifier}
    assert operators in ({"=="}, {">=", "<"})
    assert metadata.version(requirement.name) in requirement.specifier


def test_what_is_imported_is_declared_and_the_reverse():
    """Declared by us, or by the pinned gradio, whose own dependencies come with it."""
    ours = {canonicalize_name(Requirement(line).name) for line in dependencies("train")}
    of_gradio = [Requirement(line) for line in metadata.requires("gradio")]
    theirs = {canonicalize_name(r.name) for r in of_gradio if "extra" not in str(r.marker)}
    names = {
        name.split(".")[0]
        for room in ORDER
        for path in room_files(ROOT, room)
        for name in imported(path, ROOT)
    }
    outside = {canonicalize_name(name) for name in names - set(ORDER) - sys.stdlib_module_names}
    assert ours <= outside <= ours | theirs


def test_card_of_the_space():
    space = card()
    assert space["sdk"] == "gradio"
    assert f"gradio=={space['sdk_version']}" in dependencies()
    assert space["python_version"] in SpecifierSet(PYPROJECT["project"]["requires-python"])
    assert (ROOT / space["app_file"]).is_file()
    assert 0 < len(space["short_description"]) <= 60
    assert {space["colorFrom"], space["colorTo"]} <= SPACE_COLOURS
    assert space["license"].upper() == PYPROJECT["project"]["license"]
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_entry_point_is_there():
    module, function = PYPROJECT["project"]["scripts"]["attention-playground"].split(":")
    tree = ast.parse((ROOT / f"{module}.py").read_text(encoding="utf-8"))
    assert module in PYPROJECT["tool"]["setuptools"]["py-modules"]
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_wheel_would_carry_every_file_of_the_rooms():
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["*"]
    for room in ORDER[1:]:
        carried = {path for pattern in patterns for path in (ROOT / room).glob(pattern)}
        files = {path for path in shipped_files() if path.is_relative_to(ROOT / room)}
        code = {path for path in files if path.suffix == ".py"}
        assert files - code <= carried
        assert all((path.parent / "__init__.py").is_file() for path in code)


def test_no_file_is_too_large_for_a_space():
    sizes = {path: path.stat().st_size for path in shipped_files()}
    assert ROOT / "app.py" in sizes
    assert {path: size for path, size in sizes.items() if size > LARGEST_FILE} == {}


def test_ci_can_be_run():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize(
    ("python3", "message"),
    [
        (None, "Python 3.11 or 3.12 is needed and there is no python3."),
        ("3.9", "Python 3.9 has no venv module."),
    ],
)
def test_setup_says_what_is_missing(tmp_path, python3, message):
    """scripts/venv.sh on a machine with no Python, or one too old and without venv, and no apt-get."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "rm"):
        (tools / name).symlink_to(shutil.which(name))
    if python3:  # unsupported, and `-m venv` fails; asked for its version, it answers
        fake = f'case "$*" in *print*) echo {python3};; --version) echo Python {python3};; *) exit 1;; esac'
        (tools / "python3").write_text(f"#!/bin/sh\n{fake}\n")
        (tools / "python3").chmod(0o755)
    done = subprocess.run(
        ["sh", ROOT / "scripts" / "venv.sh"],
        cwd=tmp_path,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_setup_says_that_a_browser_is_missing():
    done = subprocess.run(
        [sys.executable, "-m", "scripts.browser"],
        cwd=ROOT,
        env={**os.environ, "PLAYGROUND_CHROMIUM": "/nowhere/chromium"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "No Chromium for the browser tests" in done.stderr
    assert "apt install chromium" in done.stderr
