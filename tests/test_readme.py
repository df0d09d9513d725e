"""README in both languages: its commands work, its paths exist, its halves say the same.

A block in a language, or a command, that no test here knows how to try fails
`test_every_block_is_tried` or `test_every_command_is_tried`.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import torch

from tests.conftest import AppServer

ROOT = Path(__file__).parent.parent
PAPERS = ("README.md", "README.ko.md", "CONTRIBUTING.md", "CHANGELOG.md")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MAP_LINE = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
ADDRESS = "http://127.0.0.1:7860"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the `text` block after it, if any."""

    language: str
    text: str
    printed: str

    def commands(self) -> list[list[str]]:
        """Each line of a shell block as its words; a line that ends in a backslash goes on."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [shlex.split(line, posix=self.language != "powershell") for line in lines if line]


def read(paper: str) -> str:
    return (ROOT / paper).read_text(encoding="utf-8")


def blocks(paper: str, language: str | None = None) -> list[Block]:
    """The fenced blocks of a paper, of one language or of all."""
    found = FENCE.findall(read(paper))
    following = [*found, ("", "")][1:]  # as many as found
    every = [
        Block(language, text, after if after_language == "text" else "")
        for (language, text), (after_language, after) in zip(found, following, strict=True)
    ]
    return [block for block in every if language in (None, block.language)]


def commands(language: str, program: str) -> list[list[str]]:
    """The commands of all papers that start with `program`, without it, each once."""
    every = [c for paper in PAPERS for block in blocks(paper, language) for c in block.commands()]
    once = dict.fromkeys(tuple(words) for first, *words in every if first == program)
    return [list(words) for words in once]


def test_every_block_is_tried():
    used = {block.language for paper in PAPERS for block in blocks(paper)}
    assert used == {"sh", "powershell", "python", "text"}


def test_every_command_is_tried():
    every = [c for paper in PAPERS for block in blocks(paper, "sh") for c in block.commands()]
    assert {command[0] for command in every} == {"make", "curl"}


def test_both_languages_have_the_same_blocks_and_map():
    english, korean = read("README.md"), read("README.ko.md")
    assert blocks("README.md") == blocks("README.ko.md")
    assert MAP_LINE.findall(english) == MAP_LINE.findall(korean)
    assert english.count("\n#") == korean.count("\n#") + 1  # the first heading of one is its line 1


@pytest.mark.parametrize("words", commands("sh", "make"), ids=" ".join)
def test_make_command(words):
    """make knows the target and hands on what it is given; nothing is run."""
    again = ["-W", "pyproject.toml"]  # as if nothing were installed yet
    done = subprocess.run(["make", "-n", *again, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for variable in words[1:]:
        name, value = variable.split("=", 1)
        shown = {"TORCH_INDEX": f"--extra-index-url {value}", "ARGS": value, "MODELS": value}
        assert shown[name] in done.stdout


def test_options_of_the_app():
    """The options in README's table are those of --help, and its example is accepted."""
    options = set(re.findall(r"^\| `(--\w+)` \|", read("README.md"), re.MULTILINE))
    given = next(w[1].removeprefix("ARGS=") for w in commands("sh", "make") if "--lang" in w[-1])
    shown = subprocess.run(
        [sys.executable, "app.py", *shlex.split(given), "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert options == set(re.findall(r"--\w+", shown)) - {"--help"}
    assert "default: 127.0.0.1" in shown
    assert "default: 7860" in shown


@pytest.mark.parametrize("words", commands("sh", "curl"), ids=lambda words: words[0])
def test_curl_command(words, app_url: AppServer):
    """The request that curl would send, answered with attention as PyTorch computes it."""
    address, *options = words
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert set(given) == {"-H", "-d"}  # -d makes it a POST
    name, value = given["-H"].split(": ")
    response = httpx.post(
        address.replace(ADDRESS, app_url.url), headers={name: value}, content=given["-d"]
    )
    vectors, *weights, causal, scale = json.loads(given["-d"])["data"]
    x = torch.tensor(vectors, dtype=torch.float64)
    assert weights == [None, None, None]
    assert scale is True
    expected = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=causal)
    output = torch.tensor(response.json()["data"][0]["output"], dtype=torch.float64)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "block", blocks("README.md", "python"), ids=["shakespeare", "korean", "client", "model"]
)
def test_python_block(block, app_url: AppServer):
    """It runs as it stands, but for the port, and prints what README says it prints."""
    program = block.text.replace(ADDRESS, app_url.url)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert block.printed
    assert done.stdout.rstrip() == block.printed.rstrip()


def test_described_address(app_url: AppServer):
    """The addresses that README names answer, and list the endpoints of its table."""
    text = read("README.md")
    described = httpx.get(f"{app_url.url}/gradio_api/info").json()["named_endpoints"]
    rows = dict(re.findall(r"^\| `(/\w+)` \| `([^`]+)` \|", text, re.MULTILINE))
    assert f"<{ADDRESS}/gradio_api/info>" in text
    assert set(rows) == set(described)
    for name, arguments in rows.items():
        names = [parameter["parameter_name"] for parameter in described[name]["parameters"]]
        assert arguments.split(", ") == names


def windows_commands() -> list[list[str]]:
    return [c for block in blocks("README.md", "powershell") for c in block.commands()]


def test_windows_commands():
    """Each names a version we support, a file, a module or an extra that is there."""
    pyproject = tomllib.loads(read("pyproject.toml"))["project"]
    seen = set()
    for program, *words in windows_commands():
        if program == "py":
            assert words == ["-3.12", "-m", "venv", ".venv"]
            assert pyproject["requires-python"] == ">=3.11,<3.13"
            seen.add("venv")
            continue
        assert program == r".venv\Scripts\python"
        if words[0] == "app.py":
            assert (ROOT / words[0]).is_file()
            seen.add("app")
        else:
            assert words[0] == "-m"
            assert importlib.util.find_spec(words[1])
            seen.add(words[1])
        if "-r" in words:
            assert (ROOT / words[words.index("-r") + 1]).is_file()
            seen.add("requirements")
        if "-e" in words:
            extra = re.fullmatch(r'"\.\[(\w+)\]"', words[words.index("-e") + 1])[1]
            assert extra in pyproject["optional-dependencies"]
            seen.add("extra")
    assert seen == {"venv", "pip", "requirements", "app", "extra", "playwright", "pytest"}


@pytest.mark.parametrize("paper", ["README.md", "README.ko.md"])
def test_map_of_the_files(paper):
    """Every path in the map exists, and every folder and room of the tree is in the map."""
    heading = {"README.md": "## Map of the files", "README.ko.md": "## 파일 지도"}[paper]
    mapped = MAP_LINE.findall(read(paper).split(heading)[1])
    missing = [path for path in mapped if not (ROOT / path).exists()]
    rooms = {f"{path.parent.name}/" for path in ROOT.glob("*/__init__.py")}
    assert missing == []
    assert {"app.py", "scripts/", ".ci/run"} | rooms <= set(mapped)


@pytest.mark.parametrize("paper", PAPERS)
def test_local_links(paper):
    """Each link to a file leads to one; each other link is an address in the open web."""
    for link in LINK.findall(read(paper)):
        if not link.startswith("https://"):
            assert (ROOT / link).exists(), link


@pytest.mark.parametrize("paper", PAPERS)
def test_paths_in_the_text(paper):
    """`model/mistakes.py`, `tests/test_layers.py`: what looks like a path of ours is one."""
    rooms = "model|lessons|playground|tests|benchmarks|scripts"
    later = {"lessons/content/"}  # said there to be still to come
    for path in set(re.findall(rf"`((?:{rooms})/[\w./]*)`", read(paper))) - later:
        assert (ROOT / path).exists(), path
