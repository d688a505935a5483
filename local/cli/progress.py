"""Shows how an import goes on, on a terminal; elsewhere only what went wrong, a line each.

Everything goes to standard error, so that standard output holds the result alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from local.import_states import ImportState
from local.invocation import InvocationFailed


class ProgressDisplay:
    """One line per file: rows, rows a second, rejected, warnings."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rows]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._told: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def note(self, message: str) -> None:
        """Say what is being done, on a terminal only."""
        if self._console.is_terminal:
            self._progress.console.print(Text(message))

    def file(self, name: str) -> FileProgress:
        """A new line."""
        return FileProgress(self._progress, self._progress.add_task(name, total=None, rows="uploading"))

    def failures(self, failures: Iterable[InvocationFailed]) -> None:
        """Tell of failed invocations, once for each function and kind of failure: they are tried again."""
        for failure in failures:
            kind = (failure.function, failure.error_type)
            if kind not in self._told:
                self._told.add(kind)
                self._progress.console.print(Text(f"will be tried again: {failure}"), soft_wrap=True)


class FileProgress:
    """One file's line."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._began = time.monotonic()

    def show(self, state: ImportState | None) -> None:
        """Bring the line up to date."""
        if state is None or not (state.rows_seen or state.finished):
            self._progress.update(self._task, rows="splitting")
            return
        seconds = max(time.monotonic() - self._began, 0.001)
        rows = (
            f"{state.rows_settled:,}/{state.rows_seen:,} rows  {state.rows_settled / seconds:,.0f}/s"
            f"  {state.rejected:,} rejected  {state.warnings:,} warnings"
        )
        done = state.rows_seen if state.finished else state.rows_settled
        self._progress.update(self._task, total=max(state.rows_seen, 1), completed=done, rows=rows)
