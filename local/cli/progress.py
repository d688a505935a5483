"""Progress of imports on a terminal; where standard error is not a terminal, only failures, one line each.

Guarantees that everything is written to standard error: standard output holds the result alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from local.cli.import_status import ImportProgress
from local.lambda_runtime.invocation import InvocationFailedError


class ProgressDisplay:
    """Display with one line per file: rows, rows per second, rejected rows, warnings."""

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
        self._printed: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def note(self, message: str) -> None:
        """Print a message, on a terminal only."""
        if self._console.is_terminal:
            self._progress.console.print(Text(message))

    def warn(self, message: str) -> None:
        """Print a message, on a terminal or not."""
        self._progress.console.print(Text(message), soft_wrap=True)

    def add_file(self, name: str) -> FileProgress:
        """Add a line for a file and return it."""
        return FileProgress(self._progress, self._progress.add_task(name, total=None, rows="uploading"))

    def show_failures(self, failures: Iterable[InvocationFailedError]) -> None:
        """Print failed invocations, once for each function and error type; all of them are retried."""
        for failure in failures:
            kind = (failure.function, failure.error_type)
            if kind not in self._printed:
                self._printed.add(kind)
                self._progress.console.print(Text(f"Retrying: {failure}"), soft_wrap=True)


class FileProgress:
    """The line of one file."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._began = time.monotonic()

    def show(self, state: ImportProgress | None) -> None:
        """Update the line; None stands for an import that is not registered yet."""
        if state is None or not (state.rows_seen or state.finished):
            self._progress.update(self._task, rows="splitting")
            return
        seconds = max(time.monotonic() - self._began, 0.001)
        rows = (
            f"{state.rows_processed:,}/{state.rows_seen:,} rows  {state.rows_processed / seconds:,.0f}/s"
            f"  {state.rejected:,} rejected  {state.warnings:,} warnings"
        )
        done = state.rows_seen if state.finished else state.rows_processed
        self._progress.update(self._task, total=max(state.rows_seen, 1), completed=done, rows=rows)
