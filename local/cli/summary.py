"""What the command says in the end: for people a table, for programs one JSON object."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from local.import_states import ImportState
from local.reports import Reports

_COUNTS = (
    "rows_seen",
    "imported",
    "unchanged",
    "updated",
    "rejected",
    "warnings",
    "custodians_created",
    "tags_created",
)
_IN_THE_TABLE = ("rows_seen", "imported", "unchanged", "rejected", "warnings")
_WIDTH_WITHOUT_TERMINAL = 140


@dataclass(frozen=True)
class Outcome:
    """What became of one file; `state` is None where its import never began. `seconds` from upload to completion."""

    file: Path
    state: ImportState | None
    error: str | None
    seconds: float
    reports: Reports = field(default_factory=Reports)

    @property
    def status(self) -> str:
        """completed, completed_with_rejections or failed."""
        if self.error is not None or self.state is None or self.state.failed:
            return "failed"
        return self.state.status

    @property
    def failed(self) -> bool:
        """Whether the file was not imported."""
        return self.status == "failed"


def as_json(outcomes: Sequence[Outcome]) -> str:
    """The one JSON object of --json."""
    return json.dumps({"imports": [_entry(outcome) for outcome in outcomes]}, ensure_ascii=False, indent=2)


def _entry(outcome: Outcome) -> dict[str, Any]:
    state = outcome.state
    return {
        "file": str(outcome.file),
        "status": outcome.status,
        "error": outcome.error,
        **{name: getattr(state, name) if state else 0 for name in _COUNTS},
        **{name: getattr(state, name) if state else None for name in ("encoding", "delimiter", "qualifier")},
        "seconds": round(outcome.seconds, 3),
        "reports": {
            name: str(path) if path else None
            for name, path in (
                ("rejected_rows", outcome.reports.rejected_rows),
                ("report", outcome.reports.report),
                ("warnings", outcome.reports.warnings),
            )
        },
    }


def print_table(outcomes: Sequence[Outcome], output: TextIO) -> None:
    """The table, then errors and the paths of the reports, each on a line that can be copied."""
    console = Console(file=output, highlight=False)
    if not console.is_terminal:
        console = Console(file=output, highlight=False, width=_WIDTH_WITHOUT_TERMINAL)
    console.print(_table(outcomes))
    for outcome in outcomes:
        for line in _lines(outcome):
            console.print(f"{outcome.file.name}: {line}", soft_wrap=True, markup=False)


def _lines(outcome: Outcome) -> Iterator[str]:
    """What is worth looking at, and only that."""
    reports = outcome.reports
    if outcome.error:
        yield f"error: {outcome.error}"
    if outcome.state and outcome.state.rejected and reports.rejected_rows:
        yield f"reasons: {reports.report}"
        yield f"rejected rows: {reports.rejected_rows}"
        yield f"mend them and import that file with --mapping {shlex.quote(str(reports.options))}"
    if outcome.state and outcome.state.warnings:
        yield f"warnings: {reports.warnings}"


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("file", overflow="fold")
    table.add_column("status")
    for name in ("rows", "imported", "unchanged", "rejected", "warnings"):
        table.add_column(name, justify="right", no_wrap=True)
    for outcome in outcomes:
        counts = [getattr(outcome.state, name) if outcome.state else 0 for name in _IN_THE_TABLE]
        status = outcome.status.replace("_", " ")
        cells = [outcome.file.name, status, *(f"{count:,}" for count in counts)]
        table.add_row(*map(Text, cells))
    return table
