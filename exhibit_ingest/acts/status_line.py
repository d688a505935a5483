"""A line on standard error that says how far something is: standard output holds the result alone."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console

from exhibit_ingest.confirmation import ask

_SECONDS_BETWEEN_LINES = 10.0


class StatusLine:
    """A line that changes in a terminal; elsewhere, a line every 10 seconds. A context manager that removes it."""

    def __init__(self, text: str, *, as_json: bool) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False, force_terminal=False if as_json else None)
        self._status = self._console.status(text)
        self._printed = time.monotonic()

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def show(self, line: str) -> None:
        """Show how far it is."""
        self._status.update(line)
        if not self._console.is_terminal and time.monotonic() - self._printed >= _SECONDS_BETWEEN_LINES:
            self._printed = time.monotonic()
            print(line, file=sys.stderr)

    def say(self, sentence: str) -> None:
        """Print a sentence that stays."""
        self._console.print(sentence, soft_wrap=True, markup=False)

    def ask(self, statement: str, question: str) -> bool:
        """Print a statement, ask, and return whether the answer is yes."""
        self._status.stop()
        print(statement, file=sys.stderr)
        answer = ask(question)
        self._status.start()
        return answer
