"""The result of `check`: a table for people, or one JSON object for programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from core.imports.check_summary import CheckStatus, CodeSummary, Severity, judge_check, read_summaries
from local.cli.exit_codes import DONE, FAILED, REJECTED
from local.cli.summary import PROGRAM, ImportResult, build_console

_COUNTS = ("rows_seen", "would_import", "would_update", "unchanged", "would_reject", "new_custodians", "new_tags")


def choose_exit_code(results: Sequence[ImportResult]) -> int:
    """Return 1 if a file cannot be imported or was not checked, 3 if rows would be rejected, else 0."""
    if any(result.error for result in results):
        return FAILED
    return REJECTED if any(result.state and result.state.rejected for result in results) else DONE


def format_checks_json(results: Sequence[ImportResult]) -> str:
    """Return the JSON object that --json prints."""
    return json.dumps({"checks": [_build_entry(result) for result in results]}, ensure_ascii=False, indent=2)


def _build_entry(result: ImportResult) -> dict[str, Any]:
    state = result.state
    return {
        "file": str(result.file),
        "import_id": state.id if state else None,
        "status": judge_check(list_findings(result)).value,
        "error": result.error,
        **_count(result),
        **{name: getattr(state, name) if state else None for name in ("encoding", "delimiter", "qualifier")},
        "columns": [asdict(column) for column in result.columns],
        "findings": [asdict(finding) for finding in list_findings(result)],
        "report": str(result.reports.findings) if result.reports.findings else None,
        "seconds": round(result.seconds, 3),
    }


def _count(result: ImportResult) -> dict[str, int]:
    state = result.state
    if state is None:
        return dict.fromkeys(_COUNTS, 0)
    counts = (state.rows_seen, state.imported, state.updated, state.unchanged, state.rejected)
    return dict(zip(_COUNTS, (*counts, state.new_custodians or 0, state.new_tags or 0), strict=True))


def list_findings(result: ImportResult) -> list[CodeSummary]:
    """Return what was found by code; of a file that cannot be imported, that."""
    state = result.state
    if state and state.failure_code:
        return [CodeSummary(state.failure_code, Severity.ERROR, 1, 0, state.failure_message or "")]
    if result.error:
        return [CodeSummary("NOT_CHECKED", Severity.ERROR, 1, 0, result.error)]
    return read_summaries(state.findings) if state and state.findings else []


def print_checks(results: Sequence[ImportResult], case: str, tenant: str, output: TextIO) -> None:
    """Print a table of the counts, then the findings of each file and the command that imports it."""
    console = build_console(output)
    console.print(_build_table(results))
    for result in results:
        for line in _list_details(result, case, tenant):
            console.print(f"{result.file.name}: {line}", soft_wrap=True, markup=False)


def _build_table(results: Sequence[ImportResult]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("file", overflow="fold")
    table.add_column("result")
    for name in ("rows", "would import", "unchanged", "would reject", "new custodians", "new tags"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        counts = [f"{count:,}" for name, count in _count(result).items() if name != "would_update"]
        status = judge_check(list_findings(result)).value
        table.add_row(*map(Text, (result.file.name, status, *counts)))
    return table


def _list_details(result: ImportResult, case: str, tenant: str) -> Iterator[str]:
    found = list_findings(result)
    for each in found:
        where = f"from line {each.first_line}" if each.first_line else "the file"
        yield f"{each.severity.value} {each.code} {each.count:,}, {where}: {each.message}"
    if result.reports.findings:
        yield f"all findings: {result.reports.findings}"
    if result.error is None:
        names = ["--case", case, *([] if tenant == "local" else ["--tenant", tenant])]
        advice = "Nothing was imported. To import" + ("" if judge_check(found) is CheckStatus.OK else " it as it is")
        yield f"{advice}: {shlex.join([PROGRAM, 'import', str(result.file), *names])}"
