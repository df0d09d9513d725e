"""A learner's file, run in a process of its own with a time limit; what came of it, as JSON.

`run_apart` starts `python -m lessons.learner`, which loads the file, calls its
function on every case and writes what came back. Only JSON is passed between the
two: nothing of the learner's is unpickled. What the code prints is kept apart.

This protects from accidents (endless loops, crashes), not from malice: it is
meant for one's own code on one's own machine, and the app never imports it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from lessons.practicals import practicals
from lessons.subjects import cases_of

ROOT = Path(__file__).parent.parent
NAME = "<practical>"  # the learner's file in tracebacks: plain ASCII whatever its folder is called
MOST_PRINTED = 4_000  # characters
MOST_SAID = 300  # characters of an exception's message
MOST_NUMBERS = 100_000  # in one result
START = 120.0  # seconds for Python and torch to start, before the limit counts

Outcome = dict[str, Any]  # {"kind": "tensor" | "tuple" | "other" | "raised", ...}


@dataclass(frozen=True)
class Run:
    """What came of a file: an outcome a case, or what kept it from any.

    `failure["kind"]` is syntax, raised, missing, call, stuck or ended; `line` a line of
    the file from 1, where one is known.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    failure: Outcome | None = None
    printed: str = ""


# In the process that judges


def run_apart(path: Path, station: int, *, seed: int = 0, limit: float = 10.0) -> Run:
    """Run a learner's file on a practical's cases in a new process, `limit` seconds at most."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder = Path(made)
        # -P: no torch.py that happens to lie beside the learner's file takes the place of torch
        command = [sys.executable, "-P", "-m", "lessons.learner", str(path), str(station)]
        nothing = subprocess.DEVNULL
        try:
            status = subprocess.run(
                [*command, str(seed), str(limit), str(folder)],
                env=environment,
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                timeout=START + limit,
            ).returncode
        except subprocess.TimeoutExpired:
            return Run(failure={"kind": "stuck", "line": None}, printed=read(folder / "printed"))
        printed = read(folder / "printed")
        if (folder / "result.json").exists():
            result = json.loads(read(folder / "result.json"))
            return Run(result["outcomes"], result["failure"], printed)
        stuck = read(folder / "stuck")
        if "Timeout" in stuck:
            line = re.search(rf'File "{NAME}", line (\d+)', stuck)
            return Run(failure={"kind": "stuck", "line": line and int(line[1])}, printed=printed)
        return Run(failure={"kind": "ended", "status": status}, printed=printed)


def read(path: Path) -> str:
    """A file's text; nothing where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


# In the learner's process


class Kept(io.TextIOBase):
    """A stream that keeps the beginning of what is printed: an endless loop fills no disk."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8", errors="replace")
        self.left = MOST_PRINTED

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.file.write(text[: self.left] + (" …" if 0 < self.left < len(text) else ""))
        self.file.flush()  # there may be no other time
        self.left = max(0, self.left - len(text))
        return len(text)


def main() -> None:
    """The learner's process: FILE STATION SEED LIMIT FOLDER."""
    path, station, seed, limit, folder = sys.argv[1:]
    torch.set_num_threads(1)
    printed = Kept(Path(folder) / "printed")
    with (
        (Path(folder) / "stuck").open("w") as stuck,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        # A thread outside Python's lock: it also ends a loop that never lets go of it.
        faulthandler.dump_traceback_later(float(limit), exit=True, file=stuck)
        run = run_here(Path(path), int(station), seed=int(seed))
        faulthandler.cancel_dump_traceback_later()
    written = Path(folder) / "result.json.new"
    written.write_text(json.dumps({"outcomes": run.outcomes, "failure": run.failure}))
    written.rename(Path(folder) / "result.json")


def run_here(path: Path, station: int, *, seed: int = 0) -> Run:
    """Load the file and call its function on each case, in this process and without a limit."""
    practical, cases = practicals()[station], cases_of(station, seed)
    try:
        code = compile(path.read_bytes(), NAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        return Run(failure={"kind": "syntax", "message": error.msg, "line": error.lineno})
    except ValueError as error:  # a null byte, in Python 3.11
        return Run(failure={"kind": "syntax", "message": str(error), "line": None})
    module = ModuleType("practical")
    sys.modules[module.__name__] = module  # dataclasses look there
    sys.path.append(str(path.resolve().parent))
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        return Run(failure=raised(error))
    finally:
        sys.path.pop()
    function = getattr(module, practical.function, None)
    if not callable(function):
        own = [n for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == "practical"]  # fmt: skip
        return Run(failure={"kind": "missing", "found": own})
    with contextlib.suppress(ValueError):  # some callables have no signature to ask for
        signature = inspect.signature(function)
        try:
            signature.bind(*cases[0].given.values())
        except TypeError:
            return Run(failure={"kind": "call", "found": str(signature)})
    return Run([call(function, case.given) for case in cases])


def call(function: Any, given: Any) -> Outcome:
    """One call, on copies of the inputs: what is done to them in place stays with the learner."""
    copies = [v.clone() if isinstance(v, Tensor) else v for v in given.values()]
    try:
        return described(function(*copies))
    except BaseException as error:  # SystemExit and KeyboardInterrupt too
        return raised(error)


def described(result: Any) -> Outcome:
    """A result as JSON: a tensor's numbers in order, the type of anything else."""
    if isinstance(result, tuple):
        return {"kind": "tuple", "items": [described(item) for item in result]}
    if not isinstance(result, Tensor):
        kind = type(result)
        module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        return {"kind": "other", "type": module + kind.__qualname__}
    shape, dtype = list(result.shape), str(result.dtype)
    tensor = {"kind": "tensor", "shape": shape, "dtype": dtype, "values": None}
    if not result.dtype.is_complex and result.numel() <= MOST_NUMBERS:
        tensor["values"] = result.detach().cpu().double().flatten().tolist()
    return tensor


def raised(error: BaseException) -> Outcome:
    """An exception, its message on one line, and the last line of the learner's file it came by."""
    lines = [
        number
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == NAME
    ]
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = ""
    return {
        "kind": "raised",
        "type": type(error).__name__,
        "message": message[:MOST_SAID],
        "line": lines[-1] if lines else None,
    }


if __name__ == "__main__":
    main()
