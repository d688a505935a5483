"""The result of `check`: a table for people, or one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from exhibit_ingest.importing.fields import ORIGINAL_LINE
from exhibit_ingest.importing.result import ImportResult
from exhibit_ingest.importing.state import to_snake_names
from exhibit_ingest.importing.summary import (
    EXISTS_WITH_OTHER_VALUES,
    build_console,
    build_reading,
    list_advice,
    list_deficiencies,
    list_stored_paths,
    list_unreferenced,
)
from exhibit_ingest.printable import make_printable
from exhibit_ingest.program import format_command

Finding = Mapping[str, Any]
OK, WARNINGS, ERRORS = "ok", "warnings", "errors"
SHOWN_EXAMPLES = 10
_COUNTS = ("rows_seen", "would_import", "would_update", "unchanged", "would_reject", "new_custodians", "new_tags")


def build_check_entry(result: ImportResult) -> dict[str, Any]:
    """Return the object that --json prints for a file."""
    state, check = result.state, _read_check(result)
    return {
        "file": str(result.file),
        "import_id": state.id if state else None,
        "status": judge_check(list_findings(result)),
        "error": result.error,
        **_count(result),
        **build_reading(result),
        "columns": list(result.columns),
        "stored_paths": result.stored_paths or None,
        "changed_columns": list(check.get("changedColumns", ())),
        "saved_profile": result.saved_profile._asdict() if result.saved_profile else None,
        "examples": [to_snake_names(each) for each in check.get("examples", ())],
        "findings": [dict(finding) for finding in list_findings(result)],
        "report": str(result.reports.findings) if result.reports.findings else None,
        "deficiencies": str(result.reports.deficiencies) if result.reports.deficiencies else None,
        "seconds": round(result.seconds, 3),
    }


def _count(result: ImportResult) -> dict[str, int]:
    state, check = result.state, _read_check(result)
    if state is None:
        return dict.fromkeys(_COUNTS, 0)
    counts = (state.rows_seen, state.imported, state.updated, state.unchanged, state.rejected)
    new = (check.get("newCustodians", 0), check.get("newTags", 0))
    return dict(zip(_COUNTS, (*counts, *new), strict=True))


def list_findings(result: ImportResult) -> list[Finding]:
    """Return what was found by code; of a file that cannot be imported, that."""
    state = result.state
    if state and state.failure_code:
        return [_build_error(state.failure_code, state.failure_message or "")]
    if result.error:
        return [_build_error("NOT_CHECKED", result.error)]
    return [to_snake_names(each) for each in _read_check(result).get("findings", ())]


def _build_error(code: str, message: str) -> Finding:
    return {"code": code, "severity": "error", "count": 1, "first_line": 0, "message": message}


def judge_check(findings: Sequence[Finding]) -> str:
    """Return ok, warnings or errors for a check with these findings."""
    if any(each["severity"] == "error" for each in findings):
        return ERRORS
    return WARNINGS if findings else OK


def _read_check(result: ImportResult) -> Mapping[str, Any]:
    return result.details.get("check") or {}


def print_checks(
    results: Sequence[ImportResult], case: str, place: Sequence[str], output: TextIO, *, has_options: bool = False
) -> None:
    """Print a table of the counts, then the findings of each file and the command that imports it.

    `place` are the options that name the stack in commands. `has_options` says that the check had options, which the
    import must have too.
    """
    console = build_console(output)
    console.print(_build_table(results))
    for result in results:
        for line in _list_details(result, case, place, has_options=has_options):
            console.print(make_printable(f"{result.file.name}: {line}"), soft_wrap=True, markup=False)


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
        status = judge_check(list_findings(result))
        table.add_row(*map(Text, (result.file.name, status, *counts)))
    return table


def _list_details(result: ImportResult, case: str, place: Sequence[str], *, has_options: bool) -> Iterator[str]:
    found = list_findings(result)
    for each in found:
        line, code = each["first_line"], each["code"]
        where = f"from line {line}" if line else "whole file"
        message = each["message"].removeprefix(f"Line {line}: ")
        yield f"{each['severity']} {code} {each['count']:,}, {where}: {message}"
    yield from list_advice(result)
    if any(each["code"] == EXISTS_WITH_OTHER_VALUES for each in found) and result.mode in (None, "append"):
        yield "If the values of the file are right, check and import it with --mode overlay, which changes documents"
    if result.mode == "overlay" and _has_only_key(result.columns):
        yield (
            "there is nothing to change: the file has no column but the key of the overlay. Add the columns to change,"
            f" or look at the file: {format_command('preview', str(result.source or result.file))}"
        )
    yield from _list_updates(_read_check(result))
    yield from list_stored_paths(result)
    if result.saved_profile:
        yield f"saved as profile {result.saved_profile.name!r}, version {result.saved_profile.version}"
    if result.reports.findings:
        yield f"all findings: {result.reports.findings}"
    yield from list_deficiencies(result, [each["code"] for each in found])
    yield from list_unreferenced(result)
    if result.error is None:
        names = ["--case", case, *place]
        advice = "Nothing was imported. To import" + ("" if judge_check(found) == OK else " it as it is")
        command = format_command("import", str(result.source or result.file), *names)
        yield f"{advice}: {'this command again, with `import` instead of `check`' if has_options else command}"


def _has_only_key(columns: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the key, which every overlay has, is the only column but that of an error file."""
    return len([column for column in columns if column["field"] != ORIGINAL_LINE]) == 1


def _list_updates(check: Mapping[str, Any]) -> Iterator[str]:
    for changed in check.get("changedColumns", ()):
        rows = changed["rows"]
        yield f"would change {changed['column']} of {rows:,} document{'' if rows == 1 else 's'}"
    examples = check.get("examples", ())
    for each in examples[:SHOWN_EXAMPLES]:
        change = f"{_quote(each['old'])} -> {_quote(each['new'])}"
        yield f"  line {each['line']}, {each['controlNumber']}: {each['column']}: {change}"
    if len(examples) > SHOWN_EXAMPLES:
        yield f"  ... --json prints {len(examples)} examples"


def _quote(text: str | None) -> str:
    return "nothing" if text is None else json.dumps(text, ensure_ascii=False)
