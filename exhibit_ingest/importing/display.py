"""Progress of imports on a terminal; where standard error is not a terminal, a line every 10 seconds, and failures.

Guarantees that everything is written to standard error: standard output holds the result alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from exhibit_ingest.importing.state import ImportState
from exhibit_ingest.uploads.protocols import Progress as UploadProgress

_SECONDS_BETWEEN_LINES = 10.0
# A chunk takes a few seconds; a transaction that waits for another one's rows, up to 50 until it is tried again.
_SECONDS_WITHOUT_ROWS = 15.0


def open_display(*, as_json: bool) -> ProgressDisplay:
    """Return a display on standard error, which is off if the result is printed as JSON."""
    return ProgressDisplay(
        Console(stderr=True, highlight=False, emoji=False, force_terminal=False if as_json else None)
    )


class ProgressDisplay:
    """Display with one line per file: rows, rows per second, rejected rows, warnings, the time that is left."""

    def __init__(self, console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console or Console(stderr=True, highlight=False, emoji=False)
        self._clock = clock
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rows]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._printed: set[str] = set()

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

    def add_file(self, name: str, *, is_check: bool = False) -> FileProgress:
        """Add a line for a file and return it; a check does not wait for undos."""
        return FileProgress(self._progress, name, self._clock, is_check=is_check)

    def show_failures(self, failures: Iterable[str]) -> None:
        """Print failed invocations of functions, once for each function and error; all of them are retried."""
        for failure in failures:
            kind = _name_failure(failure)
            if kind not in self._printed:
                self._printed.add(kind)
                self._progress.console.print(Text(f"Retrying: {failure}"), soft_wrap=True)


def _name_failure(failure: str) -> str:
    """Return the function and the type of the error, with which the sentence begins."""
    return ":".join(failure.split(":", 2)[:2])


class FileProgress:
    """The line of one file; where there is no terminal, a new line every 10 seconds."""

    def __init__(self, progress: Progress, name: str, clock: Callable[[], float], *, is_check: bool) -> None:
        self._progress = progress
        self._is_check = is_check
        self._name = name
        self._clock = clock
        self._task = progress.add_task(name, total=None, rows="uploading")
        self._began = self._printed = self._moved = clock()
        self._done = 0

    def show_upload(self, progress: UploadProgress) -> None:
        """Update the line while the file is sent."""
        self._update(progress.bytes or None, progress.bytes_done, describe_upload(progress))

    def show(self, state: ImportState) -> None:
        """Update the line with the state of the import."""
        if not (state.rows_seen or state.finished):
            self._moved = self._clock()
            undone = None if self._is_check else state.waits_for_undo_of
            self._update(None, 0, "splitting" if undone is None else f"waiting for the undo of import {undone}")
            return
        done = state.rows_seen if state.finished else state.rows_processed
        if done != self._done:
            self._done, self._moved = done, self._clock()
        self._update(max(state.rows_seen, 1), done, self._describe(state))

    def show_step(self, text: str, done: int, total: int) -> None:
        """Update the line with a step that is not an import: what is done, and how much of how much, 0 if unknown."""
        self._update(total or None, done, text)

    def _describe(self, state: ImportState) -> str:
        rate = state.rows_processed / max(self._clock() - self._began, 0.001)
        rows = (
            f"{state.rows_processed:,}/{state.rows_seen:,} rows  {rate:,.0f}/s"
            f"  {state.rejected:,} rejected  {state.warnings:,} warnings"
        )
        left = state.rows_seen - state.rows_processed
        if left <= 0 or state.finished:
            return rows
        return f"{rows}{self._explain_waiting()}" + (f"  {_format_seconds(left / rate)} left" if rate else "")

    def _explain_waiting(self) -> str:
        """Return why no row may have been added for a while: nothing else that the command reads says it."""
        waited = self._clock() - self._moved
        if waited < _SECONDS_WITHOUT_ROWS:
            return ""
        return (
            f"  no new rows for {_format_seconds(waited)}: probably waiting for another import or request that is"
            " changing these documents"
        )

    def _update(self, total: int | None, done: int, rows: str) -> None:
        self._progress.update(self._task, total=total, completed=done, rows=rows)
        if self._progress.disable and self._clock() - self._printed >= _SECONDS_BETWEEN_LINES:
            self._printed = self._clock()
            self._progress.console.print(Text(f"{self._name}: {rows}"), soft_wrap=True)


def describe_upload(progress: UploadProgress) -> str:
    """Return how far an upload is, its rate and the time that is left, or what it waits for."""
    if progress.message:
        return progress.message
    files = f"{progress.files_done:,}/{progress.files:,} files, " if progress.files > 1 else ""
    sent = f"uploading {files}{progress.bytes_done / 1e6:,.1f}/{progress.bytes / 1e6:,.1f} MB"
    rate = f"  {progress.rate / 1e6:,.1f} MB/s" if progress.rate else ""
    left = f"  {_format_seconds(progress.seconds_left)} left" if progress.seconds_left else ""
    return f"{sent}{rate}{left}"


def _format_seconds(seconds: float) -> str:
    """Return a time in the unit that a person would use."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
