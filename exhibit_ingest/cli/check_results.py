"""The result of `check`: a table for people, or one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from core.codes import Rejection
from core.imports.check_summary import CheckStatus, CodeSummary, Severity, judge_check, read_summaries
from core.imports.check_updates import Updates, describe_rows
from core.imports.columns.report import ColumnReading
from core.load_file.field_mapping import ORIGINAL_LINE
from core.load_mode import Mode
from exhibit_ingest.cli.summary import (
    ImportResult,
    build_console,
    list_advice,
    list_deficiencies,
    list_stored_paths,
    list_unreferenced,
)
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.program import format_command

SHOWN_EXAMPLES = 10
_COUNTS = ("rows_seen", "would_import", "would_update", "unchanged", "would_reject", "new_custodians", "new_tags")


def choose_exit_code(results: Sequence[ImportResult]) -> int:
    """Return 1 if a file cannot be imported or was not checked, or a profile not saved; 3 for rejections, else 0."""
    if any(result.error or result.is_profile_refused for result in results):
        return FAILED
    return REJECTED if any(result.state and result.state.rejected for result in results) else DONE


def format_checks_json(results: Sequence[ImportResult]) -> str:
    """Return the JSON object that --json prints."""
    return json.dumps({"checks": [_build_entry(result) for result in results]}, ensure_ascii=False, indent=2)


def _build_entry(result: ImportResult) -> dict[str, Any]:
    state, updates = result.state, _read_updates(result)
    return {
        "file": str(result.file),
        "import_id": state.id if state else None,
        "status": judge_check(list_findings(result)).value,
        "error": result.error,
        **_count(result),
        **{name: getattr(state, name) if state else None for name in ("encoding", "delimiter", "qualifier")},
        "columns": [asdict(column) for column in result.columns],
        "stored_paths": dict(result.stored_paths) or None,
        "changed_columns": [{"column": name, "rows": rows} for name, rows in describe_rows(updates.rows)],
        "saved_profile": result.saved_profile._asdict() if result.saved_profile else None,
        "examples": [each._asdict() for each in updates.examples],
        "findings": [asdict(finding) for finding in list_findings(result)],
        "report": str(result.reports.findings) if result.reports.findings else None,
        "deficiencies": str(result.reports.deficiencies) if result.reports.deficiencies else None,
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


def print_checks(
    results: Sequence[ImportResult], case: str, tenant: str, output: TextIO, *, has_options: bool = False
) -> None:
    """Print a table of the counts, then the findings of each file and the command that imports it.

    `has_options` says that the check had options, which the import must have too.
    """
    console = build_console(output)
    console.print(_build_table(results))
    for result in results:
        for line in _list_details(result, case, tenant, has_options=has_options):
            console.print(f"{result.file.name}: {line}", soft_wrap=True, markup=False)


def _build_table(results: Sequence[ImportResult]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("file", overflow="fold")
    table.add_column("result")
    # Only an overlay updates.
    names = [name for name in _COUNTS if name != "would_update" or any(_count(each)[name] for each in results)]
    for name in names:
        table.add_column(name.removesuffix("_seen").replace("_", " "), justify="right", no_wrap=True)
    for result in results:
        counts = [f"{_count(result)[name]:,}" for name in names]
        status = judge_check(list_findings(result)).value
        table.add_row(*map(Text, (result.file.name, status, *counts)))
    return table


def _list_details(result: ImportResult, case: str, tenant: str, *, has_options: bool) -> Iterator[str]:
    found = list_findings(result)
    for each in found:
        where = f"from line {each.first_line}" if each.first_line else "whole file"
        message = each.message.removeprefix(f"Line {each.first_line}: ")
        yield f"{each.severity.value} {each.code} {each.count:,}, {where}: {message}"
    yield from list_advice(result)
    if any(each.code == Rejection.EXISTS_WITH_OTHER_VALUES for each in found) and result.mode in (None, Mode.APPEND):
        yield "If the values of the file are right, check and import it with --mode overlay, which changes documents"
    if result.mode is Mode.OVERLAY and _has_only_key(result.columns):
        yield (
            "there is nothing to change: the file has no column but the key of the overlay. Add the columns to change,"
            f" or look at the file: {format_command('preview', str(result.source or result.file))}"
        )
    yield from _list_updates(_read_updates(result))
    yield from list_stored_paths(result)
    if result.saved_profile:
        yield f"saved as profile {result.saved_profile.name!r}, version {result.saved_profile.version}"
    if result.reports.findings:
        yield f"all findings: {result.reports.findings}"
    yield from list_deficiencies(result, [each.code for each in found])
    yield from list_unreferenced(result)
    if result.error is None:
        names = ["--case", case, *([] if tenant == "local" else ["--tenant", tenant])]
        advice = "Nothing was imported. To import" + ("" if judge_check(found) is CheckStatus.OK else " it as it is")
        command = format_command("import", str(result.source or result.file), *names)
        yield f"{advice}: {'this command again, with `import` instead of `check`' if has_options else command}"


def _has_only_key(columns: Sequence[ColumnReading]) -> bool:
    """Return whether the key, which every overlay has, is the only column but that of an error file."""
    return len([column for column in columns if column.field != ORIGINAL_LINE]) == 1


def _read_updates(result: ImportResult) -> Updates:
    return Updates.read(result.state.updates if result.state else None)


def _list_updates(updates: Updates) -> Iterator[str]:
    for name, rows in describe_rows(updates.rows):
        yield f"would change {name} of {rows:,} document{'' if rows == 1 else 's'}"
    for line, number, column, old, new in updates.examples[:SHOWN_EXAMPLES]:
        yield f"  line {line}, {number}: {column}: {_quote(old)} -> {_quote(new)}"
    if len(updates.examples) > SHOWN_EXAMPLES:
        yield f"  ... --json prints {len(updates.examples)} examples"


def _quote(text: str | None) -> str:
    return "nothing" if text is None else json.dumps(text, ensure_ascii=False)
