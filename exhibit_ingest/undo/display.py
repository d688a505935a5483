"""The question and the progress of `undo`, on standard error: standard output holds the result alone."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console

from exhibit_ingest.confirmation import ask
from exhibit_ingest.undo.output import describe_import, describe_progress
from exhibit_ingest.undo.resuming import OpenUndo, describe_resumed
from exhibit_ingest.undo.undo_session import Undo

_SECONDS_BETWEEN_LINES = 10.0


class UndoDisplay:
    """Display of an undo that asks first unless it is `confirmed`; `has_begun` says that the undo may be requested."""

    def __init__(self, *, confirmed: bool, as_json: bool) -> None:
        self.has_begun = False
        self._confirmed = confirmed
        self._console = Console(stderr=True, highlight=False, emoji=False, force_terminal=False if as_json else None)
        self._status = self._console.status("Starting the database, S3, SQS, SNS and the functions ...")
        self._printed = time.monotonic()

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def show_resumed(self, undo: OpenUndo) -> None:
        """Print that another undo is resumed."""
        self._console.print(describe_resumed(undo), soft_wrap=True, markup=False)

    def confirm(self, import_record: dict[str, Any]) -> bool:
        """Show the import and return whether it is to be undone."""
        self.has_begun = self._confirmed
        if not self._confirmed:
            self._status.stop()
            print(describe_import(import_record), file=sys.stderr)
            self.has_begun = ask("Undo it?")
            self._status.start()
        return self.has_begun

    def show(self, undo: Undo) -> None:
        """Show how far the undo is; without a terminal a line every 10 seconds."""
        line = describe_progress(undo["importId"], undo)
        self._status.update(line)
        if not self._console.is_terminal and time.monotonic() - self._printed >= _SECONDS_BETWEEN_LINES:
            self._printed = time.monotonic()
            print(line, file=sys.stderr)
