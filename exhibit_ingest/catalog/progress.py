"""One line of progress on a terminal; elsewhere nothing is printed."""

from __future__ import annotations

from typing import TextIO

from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.session.session import Session


class Line:
    """A line that is written again and again, and cleared at the end."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._last = ""

    def show(self, text: str) -> None:
        """Replace the line by this text."""
        if self._output.isatty() and text != self._last:
            # Of a narrow terminal: a line that wraps could not be written over.
            self._last = shorten_printable(text, 79)
            self._output.write(f"\r\x1b[K{self._last}")
            self._output.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self._last:
            self._output.write("\r\x1b[K")
            self._output.flush()
            self._last = ""


def explain_going_on(session: Session) -> str:
    """Return the sentences about work of a stack that does not change: it is not cancelled."""
    # The list of what runs is for administrators; documents are for all who may see the case.
    listed = format_command("operations", *session.name_options())
    return (
        "It goes on in the stack. In the console, the page Documents of its case shows how far it is; for "
        f"administrators, so does: {listed}"
    )
