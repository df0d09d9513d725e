"""`python -m lessons check | keys --seed N | practise N [FILE]`"""

from __future__ import annotations

import argparse

from lessons import check, keys, practise


def main() -> int:
    """Do what was asked; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m lessons", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="whether the course holds together")
    checking.add_argument(
        "--seeds", type=int, default=check.SEEDS, help="of each generated question"
    )
    printing = commands.add_parser("keys", help="all answers for one seed, as JSON")
    printing.add_argument("--seed", type=int, required=True)
    practise.add_parser(commands)
    chosen = parser.parse_args()
    if chosen.command == "practise":
        return practise.run(chosen)
    return check.main(chosen.seeds) if chosen.command == "check" else keys.main(chosen.seed)


if __name__ == "__main__":
    raise SystemExit(main())
