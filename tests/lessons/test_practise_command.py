"""The process a learner's code runs in, the command around it, and the words of both."""

from __future__ import annotations

import importlib
import re
import string
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest
import torch

from lessons import learner, practise, verdicts
from lessons.judge import judge
from lessons.learner import run_apart, run_here
from lessons.mistakes import mistake_words
from lessons.practicals import experiments, practicals
from lessons.subjects import cases_of
from lessons.words import Words
from model.errors import PlaygroundError
from tests.lessons.solutions import RIGHT
from tests.lessons.test_practise import HANGUL, WRONG, both, told
from tests.test_layers import ROOT, imported, room_files

# The process of its own


def test_an_endless_loop_is_stopped_and_its_line_shown(tmp_path):
    source = "def scores(q, k):\n    print('안녕')\n    while True:\n        q = q + 1\n"
    path = tmp_path / "내 코드.py"
    path.write_text(source, encoding="utf-8")
    run = run_apart(path, 2, limit=0.5)
    assert run.printed == "안녕\n"
    verdict = judge(practicals()[2], run, source, limit=0.5)
    both(verdict, "0.5")
    assert re.search("line (3: while True:|4: q = q \\+ 1)", told(verdict))
    assert re.search("(3번째 줄: while True:|4번째 줄: q = q \\+ 1)", told(verdict, "ko"))


def test_a_process_that_ends_itself(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("import os\nos._exit(3)\n")
    both(judge(practicals()[2], run_apart(path, 2), ""), "3")


def test_only_the_beginning_of_what_is_printed_is_kept(tmp_path):
    kept = learner.Kept(tmp_path / "printed")
    for _ in range(3):
        print("x" * 3_000, file=kept)
    kept.file.close()
    text = (tmp_path / "printed").read_text(encoding="utf-8")
    assert text.count("x") == learner.MOST_PRINTED - 1  # and one end of line
    assert text.endswith(" …")


def test_the_command_judges_in_another_process(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("print('모양')\n" + WRONG[2, "queries_and_keys_swapped"], encoding="utf-8")
    command = [sys.executable, "-m", "lessons", "practise", "2", str(path), "--lang", "ko"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("코드가 출력한 내용:\n  | 모양\n")
    assert mistake_words()["queries_and_keys_swapped"].text["ko"] in done.stdout


def test_the_app_never_comes_near_a_learners_code():
    forbidden = {"lessons.learner", "lessons.practise", "lessons.judge"}
    files = [*room_files(ROOT, "app"), *room_files(ROOT, "playground")]
    assert len(files) > 10
    for path in files:
        assert not forbidden & set(imported(path, ROOT)), path


# The command


@pytest.fixture
def command(tmp_path, monkeypatch, capfd):
    """command("2 --hint 1") -> exit status, what was printed; run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    parser = ArgumentParser()
    practise.add_parser(parser.add_subparsers())

    def run(arguments):
        chosen = parser.parse_args(["practise", *arguments.split()])
        status = chosen.do(chosen)
        return status, "".join(capfd.readouterr())

    return run


def test_without_a_file_it_writes_one_and_then_judges_that(command, monkeypatch):
    status, text = command("9")
    assert status == 0
    assert practicals()[9].task("en") in text
    written = Path("practical_9.py")
    assert written.read_bytes() == practicals()[9].starter.read_bytes()
    written.write_text("my own work", encoding="utf-8")
    monkeypatch.setattr(practise, "run_apart", lambda path, station, **_: run_here(path, station))
    status, text = command("9")
    assert (status, "cannot read" in text) == (1, True)
    assert written.read_text(encoding="utf-8") == "my own work"
    written.write_text(RIGHT[9], encoding="utf-8")
    status, text = command("9")
    assert (status, "Right:" in text, "practise 9 --experiment" in text) == (0, True, True)


def test_any_whole_number_is_a_seed():
    for seed in (-5, 10**30):
        given, again = (cases_of(2, seed)[0].given["q"] for _ in range(2))
        assert torch.equal(given, again)


def test_the_language_is_the_machines_or_the_one_asked_for(command, monkeypatch):
    assert practicals()[2].title("en") in command("")[1]
    assert practicals()[2].title("ko") in command("--lang ko")[1]
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert practicals()[2].title("ko") in command("")[1]
    monkeypatch.setenv("LC_ALL", "fr_FR")
    assert practicals()[2].title("en") in command("")[1]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("8", "2, 3, 5, 6, 7, 9, 16"),
        ("2 --experiment", "7, 9, 14"),
        ("2 nothing.py", "nothing.py"),
        ("2 .", "(Is a directory)"),
        ("2 --limit 0", "0"),
        ("2 --hint 3", "2"),
        ("2 --hint 0", "0"),
    ],
)
def test_misuse_is_told_in_a_sentence(command, arguments, part):
    for lang in ("en", "ko"):
        status, text = command(f"{arguments} --lang {lang}")
        assert status == 2
        assert part in text
        assert bool(HANGUL.search(text)) == (lang == "ko")
    assert list(Path().iterdir()) == []


def test_a_folder_that_cannot_be_written_to():
    with pytest.raises(verdicts.NotWrittenError) as error:
        practise.write_starter(practicals()[2], Path("no/such/folder/practical_2.py"))
    assert "practical_2.py" in error.value.text("ko")


def test_a_hint(command):
    for lang in ("en", "ko"):
        assert practicals()[9].hints[2](lang) in command(f"9 --hint 3 --lang {lang}")[1]


# The words


def blanks(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


SENTENCES = [
    *(words for words in vars(verdicts).values() if isinstance(words, Words)),
    *(words for words in vars(practise).values() if isinstance(words, Words)),
    *(
        Words(kind.en, kind.ko)
        for kind in vars(verdicts).values()
        if isinstance(kind, type) and issubclass(kind, PlaygroundError) and kind.en
    ),
]


@pytest.mark.parametrize("words", SENTENCES, ids=lambda words: words.en[:30])
def test_both_languages_fill_the_same_blanks(words):
    assert blanks(words.en) == blanks(words.ko)
    assert not HANGUL.search(words.en)
    assert HANGUL.search(words.ko)


@pytest.mark.parametrize("station", RIGHT)
def test_a_practical_is_whole(station):
    practical = practicals()[station]
    for words in (practical.title, practical.task, practical.nan):
        assert HANGUL.search(words.ko)
        assert words.en
        assert not HANGUL.search(words.en)
    assert len(practical.hints) >= 2
    starter = practical.starter.read_text(encoding="utf-8")
    assert f"python -m lessons practise {station}\n" in starter
    assert f"def {practical.function}(" in starter
    assert HANGUL.search(starter)


# The experiments


def script(station):
    return importlib.import_module(f"lessons.practicals.experiment_{station}")


def test_each_experiment_has_its_words():
    assert list(experiments()) == [7, 9, 14]
    for found in experiments().values():
        assert found.task.en
        assert HANGUL.search(found.title.ko + found.task.ko)
        assert not HANGUL.search(found.title.en + found.task.en)


def test_without_the_mask_random_digits_are_predicted(monkeypatch):
    monkeypatch.setattr(script(7), "STEPS", 60)
    chance = torch.tensor(10.0).log().item()
    assert script(7).losses(causal=True)[-1] > chance - 0.1
    assert script(7).losses(causal=False)[-1] < chance - 0.5


def test_the_places_to_look_at_are_those_said():
    tokens, targets = script(9).batch(4, torch.Generator().manual_seed(0))
    assert (targets[:, :7] == -100).all()
    for b, t in ((0, 7), (3, 19)):
        digits = [tokens[b, t - back].item() for back in (1, 3, 5, 7)]
        assert targets[b, t] == sum(3**i * digit for i, digit in enumerate(digits))


def test_an_experiment_is_written_and_run(command):
    status, text = command("14 --experiment --lang ko")
    assert status == 0
    assert Path("experiment_14.py").read_bytes() == experiments()[14].starter.read_bytes()
    assert experiments()[14].task("ko") in text
    assert re.search(r"  0 'ROMEO' +-> 'ROMEO' 100.0%\n", text)  # the first token sees itself alone


def test_a_script_of_ones_own_is_run_and_kept(command):
    changed = "import sys\nprint(sys.argv[1], 'ran')\nsys.exit(3)\n"
    Path("experiment_7.py").write_text(changed)
    status, text = command("7 --experiment --lang ko")
    assert status == 1
    assert text.endswith("ko ran\n")
    assert Path("experiment_7.py").read_text() == changed
