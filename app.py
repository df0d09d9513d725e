"""`python app.py [--host H] [--port N] [--lang ko|en] [--model NAME]`: serve the attention playground."""

from __future__ import annotations

from playground.server import serve


def main() -> int:
    """Serve until Ctrl-C or SIGTERM; the exit status."""
    return serve()


if __name__ == "__main__":
    raise SystemExit(main())
