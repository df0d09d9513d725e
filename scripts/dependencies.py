"""Print the dependencies of pyproject.toml, one a line: those of the app, then of each extra named.

    python scripts/dependencies.py test

Make installs from this list and not from requirements.txt, whose first line
points at PyTorch's own index, which not every machine can reach.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def dependencies(*extras: str) -> list[str]:
    """The app's dependencies and those of `extras`. Raises KeyError for an unknown extra."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(line for extra in extras for line in optional[extra])]


if __name__ == "__main__":
    print("\n".join(dependencies(*sys.argv[1:])))
