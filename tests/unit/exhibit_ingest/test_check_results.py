"""What `check` prints at the end, for people and for programs, and its exit code."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.importing.check_results import build_check_entry, print_checks
from exhibit_ingest.importing.files import choose_exit_code
from exhibit_ingest.importing.reports import Reports
from exhibit_ingest.importing.result import ImportResult
from exhibit_ingest.program import format_command
from tests.unit.exhibit_ingest.import_states import column, state

Document = dict[str, Any]


def finding(code: str, severity: str, count: int, first_line: int, message: str) -> Document:
    return {"code": code, "severity": severity, "count": count, "firstLine": first_line, "message": message}


def checked(*findings: Document, **others: Any) -> Document:
    """The details of an import that was checked."""
    return {"check": {"findings": [*findings], **others}}


FINDINGS = [
    finding("MISSING_ID", "error", 2, 5, "The row has no id. Add one."),
    finding("INVALID_DATE", "warning", 7, 3, "Not a date."),
]
REJECTED = ImportResult(
    Path("a.dat"),
    state(
        status="checked",
        rows_seen=9,
        imported=6,
        unchanged=1,
        rejected=2,
        details=checked(*FINDINGS, newCustodians=4, newTags=3),
    ),
    None,
    1.23456,
    Reports(findings=Path("/r/findings.csv")),
)
WARNED = ImportResult(Path("b.dat"), state(status="checked", details=checked(*FINDINGS[1:])), None, 1.0)
CLEAN = ImportResult(Path("c.dat"), state(status="checked", rows_seen=3, imported=3, details=checked()), None, 1.0)
REFUSED = ImportResult(
    Path("d.dat"),
    state(status="failed", failure_code="EMPTY_FILE", failure_message="The file is empty."),
    "EMPTY_FILE: The file is empty.",
    0.1,
)
BROKEN = ImportResult(Path("e.dat"), None, "the server has gone away", 0.1)


def test_the_json_has_the_keys_that_programs_rely_on() -> None:
    checks = [json.loads(json.dumps(build_check_entry(each))) for each in (REJECTED, WARNED, CLEAN, REFUSED, BROKEN)]
    first = checks[0]
    assert first["findings"] == [
        {"code": "MISSING_ID", "severity": "error", "count": 2, "first_line": 5, "message": FINDINGS[0]["message"]},
        {"code": "INVALID_DATE", "severity": "warning", "count": 7, "first_line": 3, "message": "Not a date."},
    ]
    counts = ("rows_seen", "would_import", "would_update", "unchanged", "would_reject", "new_custodians", "new_tags")
    assert [first[name] for name in counts] == [9, 6, 0, 1, 2, 4, 3]
    assert (first["file"], first["report"], first["seconds"], first["columns"]) == (
        "a.dat",
        "/r/findings.csv",
        1.235,
        [],
    )
    assert [check["status"] for check in checks] == ["errors", "warnings", "ok", "errors", "errors"]
    assert [check["findings"][0]["code"] for check in checks[3:]] == ["EMPTY_FILE", "NOT_CHECKED"]
    assert checks[4]["error"] == "the server has gone away"


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([CLEAN, WARNED], 0),
        ([CLEAN, REJECTED], 3),
        ([REJECTED, REFUSED], 1),
        ([BROKEN], 1),
        ([replace(CLEAN, is_profile_refused=True)], 1),
    ],
)
def test_the_exit_code_tells_rejected_rows_from_a_file_that_cannot_be_imported(
    results: list[ImportResult], code: int
) -> None:
    assert choose_exit_code(results, ImportRequest([], "c", {}, is_check=True)) == code


def test_people_see_each_code_and_how_to_import_the_file() -> None:
    output = io.StringIO()
    print_checks([REJECTED, CLEAN, REFUSED], "Smith v. Jones", [], output)
    printed = output.getvalue()
    assert "a.dat: error MISSING_ID 2, from line 5: The row has no id. Add one." in printed
    assert "a.dat: all findings: /r/findings.csv" in printed
    assert (
        f"a.dat: Nothing was imported. To import it as it is: {format_command()} import a.dat --case 'Smith v. Jones'"
        in printed
    )
    assert f"c.dat: Nothing was imported. To import: {format_command()} import c.dat --case 'Smith v. Jones'" in printed
    assert "d.dat: error EMPTY_FILE 1, whole file: The file is empty." in printed
    assert "d.dat: Nothing was imported" not in printed


def test_a_finding_names_its_line_once() -> None:
    gap = finding("BATES_GAP", "warning", 1, 5, "Line 5: 1 missing.")
    output = io.StringIO()
    print_checks([replace(CLEAN, state=state(details=checked(gap)))], "c", [], output)
    assert "c.dat: warning BATES_GAP 1, from line 5: 1 missing.\n" in output.getvalue()


def test_a_check_with_options_is_followed_by_an_import_with_the_same_ones() -> None:
    output = io.StringIO()
    print_checks([CLEAN], "acme", [], output, has_options=True)
    advice = "c.dat: Nothing was imported. To import: this command again, with `import` instead of `check`"
    assert advice in output.getvalue()


def printed_check(result: ImportResult) -> str:
    output = io.StringIO()
    print_checks([result], "acme", [], output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("columns", "mode", "is_hint"),
    [
        (["control_number"], "overlay", True),
        (["control_number", "original_line"], "overlay", True),
        (["control_number", None], "overlay", False),
        (["control_number"], "append_overlay", False),
        (["control_number"], "append", False),
    ],
)
def test_an_overlay_of_the_key_alone_has_nothing_to_change(columns: list[str | None], mode: str, is_hint: bool) -> None:
    details = {"columns": [column("a", field) for field in columns], "loadMode": {"mode": mode}}
    printed = printed_check(replace(CLEAN, state=state(status="checked", details=checked() | details)))
    assert ("c.dat: there is nothing to change: the file has no column but the key" in printed) is is_hint


@pytest.mark.parametrize(("mode", "is_advice"), [("append", True), ("overlay", False)])
def test_documents_with_other_values_can_be_overlaid(mode: str, is_advice: bool) -> None:
    found = checked(finding("EXISTS_WITH_OTHER_VALUES", "error", 1, 2, "It exists."))
    details = found | {"loadMode": {"mode": mode}}
    printed = printed_check(replace(CLEAN, state=state(status="checked", details=details)))
    assert "error EXISTS_WITH_OTHER_VALUES 1, from line 2" in printed
    assert ("import it with --mode overlay" in printed) is is_advice
