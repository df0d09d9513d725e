"""`python -m lessons practise N [FILE]`: a function to write, judged on one's own machine.

Without a file it writes one to fill in, `practical_N.py`, or judges the one already
there. The code runs in a process of its own with a time limit; its results are
compared with `model`. With `--experiment` a runnable script takes the place of the task.

Exit status: 0 right (or a task written), 1 not right, 2 misuse.
"""

from __future__ import annotations

import argparse
import locale
import os
import subprocess
import sys
from pathlib import Path

from lessons.judge import judge
from lessons.learner import ROOT, run_apart
from lessons.practicals import Experiment, Practical, experiments, practicals
from lessons.verdicts import (
    HintError,
    LearnerFileError,
    LimitError,
    NotWrittenError,
    PracticalError,
)
from lessons.words import LANGUAGES, Words
from model.errors import PlaygroundError

LONGEST = 3600.0  # seconds

LIST = Words("Write a function and have it judged:", "함수를 써서 채점을 받는 실습:")
LIST_EXPERIMENTS = Words(
    "Predict, run, change, run again:", "예상하고, 실행하고, 바꾸어 보는 실험:"
)
WRITTEN = Words(
    "{path} is written. Fill in the function, then run this again:",
    "{path} 파일을 만들었습니다. 함수를 채운 다음 같은 명령을 다시 실행하십시오.",
)
HINTS = Words("For a hint ({count} in all):", "힌트를 보려면(모두 {count}개):")
HINT = Words("Hint {number} of {count}: {hint}", "힌트 {number}/{count}: {hint}")
PRINTED = Words("Your code printed:", "코드가 출력한 내용:")
EXPERIMENT = Words(
    "{path} is the script: change it and run this again. It prints:",
    "스크립트는 {path} 파일입니다. 고친 다음 같은 명령을 다시 실행하십시오. 출력은 다음과 같습니다.",
)
NEXT = Words("Now the experiment of the same number:", "이제 같은 번호의 실험을 해 보십시오.")
KIND_PRACTICAL = Words("practical", "실습")
KIND_EXPERIMENT = Words("experiment", "실험")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `practise` to the commands of `python -m lessons`; it sets `do` to `run`."""
    parser = commands.add_parser("practise", help="write a function and have it judged here")
    parser.add_argument("station", type=int, nargs="?", help="number of the station; none: a list")
    parser.add_argument(
        "file", type=Path, nargs="?", help="default: practical_N.py, made if missing"
    )
    parser.add_argument("--lang", choices=LANGUAGES, help="default: that of this machine")
    parser.add_argument("--hint", type=int, metavar="K", help="show hint K instead of judging")
    parser.add_argument("--experiment", action="store_true", help="the station's experiment")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds the code may take (10)")
    parser.add_argument("--seed", type=int, default=0, help="other random numbers")
    parser.set_defaults(do=run)


def run(args: argparse.Namespace) -> int:
    """Do what was asked and say it; the exit status."""
    lang = args.lang or machine_language()
    try:
        if args.station is None:
            return show_list(lang)
        if args.experiment:
            return experiment(args.station, lang)
        practical = chosen(practicals(), args.station, KIND_PRACTICAL)
        if args.hint is not None:
            return show_hint(practical, args.hint, lang)
        if not 0 < args.limit <= LONGEST:
            raise LimitError(found=f"{args.limit:g}", most=f"{LONGEST:g}")
        path = args.file or Path(practical.starter.name)
        if args.file is None and write_starter(practical, path):
            return show_task(practical, path, lang)
        return judge_file(practical, path, args, lang)
    except PlaygroundError as error:
        say(error.text(lang), sys.stderr)
        return 2


def machine_language() -> str:
    """The language that the environment asks for, where it is one of ours; else English."""
    asked = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    found = next(filter(None, asked), None) or locale.getlocale()[0] or ""
    return "ko" if found.lower().startswith("ko") else "en"


def say(text: str, stream: object = None) -> None:
    """Print, with ? for what the terminal cannot show."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), file=stream, flush=True)


def chosen(
    known: dict[int, Practical] | dict[int, Experiment], station: int, kind: Words
) -> Practical | Experiment:
    """The practical or experiment of a station; else `PracticalError`."""
    if station not in known:
        raise PracticalError(kind=kind, found=station, choices=", ".join(map(str, known)))
    return known[station]


def show_list(lang: str) -> int:
    say(LIST(lang))
    for station, practical in practicals().items():
        say(f"  python -m lessons practise {station:<2}  {practical.title(lang)}")
    say(LIST_EXPERIMENTS(lang))
    for station, found in experiments().items():
        say(f"  python -m lessons practise {station} --experiment  {found.title(lang)}")
    return 0


def write_starter(task: Practical | Experiment, path: Path) -> bool:
    """Put the file to work on at `path`; False, and nothing done, where there is one already."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(task.starter.read_text(encoding="utf-8"))
    except FileExistsError:
        return False
    except OSError as error:
        raise NotWrittenError(path=path, reason=error.strerror) from error
    return True


def show_task(practical: Practical, path: Path, lang: str) -> int:
    command = f"  python -m lessons practise {practical.station}"
    say(f"{practical.title(lang)}\n\n{practical.task(lang)}\n")
    say(f"{WRITTEN(lang, path=path)}\n{command}")
    say(f"{HINTS(lang, count=len(practical.hints))}\n{command} --hint 1")
    return 0


def show_hint(practical: Practical, number: int, lang: str) -> int:
    count = len(practical.hints)
    if not 1 <= number <= count:
        raise HintError(found=number, count=count)
    say(HINT(lang, number=number, count=count, hint=practical.hints[number - 1](lang)))
    return 0


def judge_file(practical: Practical, path: Path, args: argparse.Namespace, lang: str) -> int:
    """Run the file apart, then say what it printed and what is right or wrong."""
    try:
        source = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LearnerFileError(path=path, reason=error.strerror) from error
    found = run_apart(path, practical.station, seed=args.seed, limit=args.limit)
    if found.printed:
        say(PRINTED(lang))
        say("\n".join(f"  | {line}" for line in found.printed.splitlines()))
    verdict = judge(practical, found, source, seed=args.seed, limit=args.limit)
    for said in verdict.said:
        say(said.text(lang))
    command = f"  python -m lessons practise {practical.station}"
    if not verdict.correct and found.failure is None:
        say(f"{HINTS(lang, count=len(practical.hints))}\n{command} --hint 1")
    if verdict.correct and practical.station in experiments():
        say(f"{NEXT(lang)}\n{command} --experiment")
    return 0 if verdict.correct else 1


def experiment(station: int, lang: str) -> int:
    """Say what to predict, write the script where there is none, and run it."""
    found = chosen(experiments(), station, KIND_EXPERIMENT)
    path = Path(found.starter.name)
    write_starter(found, path)
    say(f"{found.title(lang)}\n\n{found.task(lang)}\n\n{EXPERIMENT(lang, path=path)}\n")
    known = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    status = subprocess.run(
        [sys.executable, str(path), lang],
        env=os.environ | {"PYTHONPATH": known, "PYTHONUTF8": "1"},
        check=False,
    )
    return min(1, abs(status.returncode))
