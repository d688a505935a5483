"""What the command says in the end: for people a table, for programs one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

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
        lines = [f"error: {outcome.error}"] if outcome.error else []
        lines += [str(path) for path in vars(outcome.reports).values() if path]
        for line in lines:
            console.print(f"{outcome.file.name}: {line}", soft_wrap=True, markup=False)


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table()
    table.add_column("file", overflow="fold")
    table.add_column("status", no_wrap=True)
    for name in ("rows", "imported", "unchanged", "updated", "rejected", "warnings", "seconds"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        counts = [getattr(outcome.state, name) if outcome.state else 0 for name in _COUNTS[:6]]
        status = outcome.status.replace("_", " ")
        cells = [outcome.file.name, status, *(f"{count:,}" for count in counts), f"{outcome.seconds:.1f}"]
        table.add_row(*map(Text, cells))
    return table
