"""`python -m benchmarks [name ...]`: print the table; exit status 1 if a target is missed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from benchmarks import MODULES, Row

COLUMNS = "{:<46} {:>12} {:>12}  {:<14} {:>6} {:>6}  {}"


def main(names: Sequence[str]) -> int:
    """Run the named benchmarks (all of them without a name), printing each as it is done."""
    print(
        COLUMNS.format(
            "median of one run", "ours", "peer", "which is", "ratio", "target", ""
        ).rstrip()
    )
    met = True
    for name in names or MODULES:
        for row in importlib.import_module(f"benchmarks.{name}").run():
            print(line(row), flush=True)
            met = met and row.met
    return 0 if met else 1


def line(row: Row) -> str:
    """One row of the table."""
    ours, theirs = (f"{figure:,.4g} {row.unit}" for figure in (row.ours, row.theirs))
    if row.unit == "B":
        ours, theirs = (f"{figure:,.0f} B" for figure in (row.ours, row.theirs))
    target, verdict = "", ""
    if row.target is not None:
        sign = "≥" if row.more_is_better else "≤"
        target, verdict = f"{sign} {row.target}", "ok" if row.met else "NOT MET"
    figures = (ours, theirs, row.peer, f"{row.ratio:.2f}")
    return COLUMNS.format(row.what, *figures, target, verdict).rstrip()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
