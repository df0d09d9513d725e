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
    checking.set_defaults(do=lambda chosen: check.main(chosen.seeds))
    printing = commands.add_parser("keys", help="all answers for one seed, as JSON")
    printing.add_argument("--seed", type=int, required=True)
    printing.set_defaults(do=lambda chosen: keys.main(chosen.seed))
    practise.add_parser(commands)
    chosen = parser.parse_args()
    return chosen.do(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
