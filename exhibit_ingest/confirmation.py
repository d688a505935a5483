"""Questions that are answered in a terminal before something is deleted."""

from __future__ import annotations

import sys

from exhibit_ingest.errors import WrongUsageError

_ANSWERS = ("y", "yes")


def require_terminal(advice: str) -> None:
    """Raise WrongUsageError, with the advice, if no one can answer because standard input is not a terminal."""
    if not sys.stdin.isatty():
        raise WrongUsageError(advice)


def ask(question: str) -> bool:
    """Ask on standard error, which is not the result, and return whether the answer is yes."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return input("").strip().lower() in _ANSWERS
    except EOFError:
        return False
