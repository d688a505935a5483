"""What the command reads of an import, and when it stops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import CommandError
from exhibit_ingest.importing.cancellation import call_in_time, cancel_import, describe_cancelled
from exhibit_ingest.importing.codes import CodeCounts, read_codes
from exhibit_ingest.importing.reports import download_reports
from exhibit_ingest.importing.state import ImportState
from exhibit_ingest.importing.waiting import wait_for_import
from exhibit_ingest.session.following import STALLED_S, StalledError
from tests.unit.exhibit_ingest.import_states import PlayedApi, state
from tests.unit.exhibit_ingest.played_sessions import PlayedClock, open_session

Document = dict[str, Any]


def progress(status: str, **others: Any) -> Document:
    return {"id": 7, "status": status, "generation": 1, "reportsGeneration": 0, **others}


def details(status: str, **others: Any) -> Document:
    return progress(status, reports=None, **others)


def play(*states: Document) -> Any:
    """The states one after another, the last one again and again; one with details where they are read."""
    left = list(states)

    def answer(method: str, path: str, _: Any) -> Document:
        found = left.pop(0) if len(left) > 1 else left[0]
        return found if path.endswith("/progress") else {"reports": None, **found}

    return answer


def test_an_import_is_over_when_its_reports_are_written(tmp_path: Path) -> None:
    written = progress("completed", reportsGeneration=1, imported=3)
    session, api = open_session(play(progress("running"), progress("completed"), written), tmp_path)
    seen: list[ImportState] = []
    found = wait_for_import(session, 7, seen.append, clock=PlayedClock())
    assert ([each.status for each in seen], found.imported, bool(found.details)) == (
        ["running", "completed", "completed"],
        3,
        True,
    )
    assert [path for _, path, _ in api.requests] == ["/imports/7/progress"] * 3 + ["/imports/7"]


def test_a_check_is_over_when_its_findings_are_written(tmp_path: Path) -> None:
    checks = [progress("checked", check={"report": None}), progress("checked", check={"report": "findings.csv"})]
    session, _ = open_session(play(checks[0], checks[0], checks[1]), tmp_path)
    assert wait_for_import(session, 7, lambda _: None, clock=PlayedClock()).has_reports


def test_a_split_that_waits_for_an_undo_says_so(tmp_path: Path) -> None:
    waits = progress("splitting", waitsForUndoOf=5)
    session, _ = open_session(play(*[waits] * 60, progress("failed")), tmp_path)
    seen: list[ImportState] = []
    wait_for_import(session, 7, seen.append, clock=PlayedClock())
    assert seen[0].waits_for_undo_of is None or seen[0].waits_for_undo_of == 5
    assert {each.waits_for_undo_of for each in seen[-5:-1]} == {5}


def test_an_import_that_nothing_carries_on_is_given_up(tmp_path: Path) -> None:
    session, api = open_session(play(progress("running")), tmp_path)
    clock = PlayedClock()
    with pytest.raises(StalledError, match=r"Import 7 has not changed for 20 minutes\. It is running, .* --stack acme"):
        wait_for_import(session, 7, lambda _: None, clock=clock)
    assert clock.time == pytest.approx(STALLED_S, abs=3)
    assert len(api.requests) < 700


def answer_cancel(*states: Document, refusal: ApiError | None = None) -> Any:
    read = play(*states)
    return lambda method, path, body: refusal or {} if method == "POST" else read(method, path, body)


def test_a_cancelled_import_is_described_with_its_reports(tmp_path: Path) -> None:
    cancelled = details("cancelled", rowsSeen=9, imported=4, rejected=1)
    session, api = open_session(
        answer_cancel(details("running"), cancelled, cancelled | {"reportsGeneration": 1}), tmp_path
    )
    found = cancel_import(session, 7, PlayedClock())
    assert found.has_reports
    assert describe_cancelled(found).startswith("the import was cancelled: 4 of 9 rows are in, 1 rejected.")
    assert ("POST", "/imports/7/cancel", None) in api.requests


def test_a_stack_that_does_not_answer_does_not_hold_an_interrupted_command(tmp_path: Path) -> None:
    requested, released = threading.Event(), threading.Event()

    def hang(method: str, path: str, body: object) -> Document:
        requested.set()
        released.wait()
        return details("cancelled")

    session, _ = open_session(hang, tmp_path)
    with pytest.raises(CommandError, match="did not answer in time"):
        call_in_time(lambda: cancel_import(session, 7))
    assert requested.is_set()
    released.set()
    assert call_in_time(lambda: cancel_import(session, 7)).status == "cancelled"


@pytest.mark.parametrize(("status", "is_raised"), [(409, False), (503, True)])
def test_an_import_that_has_completed_meanwhile_is_not_an_error(tmp_path: Path, status: int, is_raised: bool) -> None:
    over = details("completed", rowsSeen=9, imported=9, reportsGeneration=1)
    session, _ = open_session(
        answer_cancel(details("running"), over, refusal=ApiError("It is completed.", status, {})), tmp_path
    )
    if is_raised:
        with pytest.raises(ApiError):
            cancel_import(session, 7, PlayedClock())
    else:
        assert describe_cancelled(cancel_import(session, 7, PlayedClock())) == (
            "the import is completed: 9 of 9 rows are in, 0 rejected."
        )


def test_an_import_without_its_file_has_no_rows(tmp_path: Path) -> None:
    assert "none of its rows are in" in describe_cancelled(state(status="awaiting_upload"))
    assert "the same command goes on" in describe_cancelled(None)


def name_files(*suffixes: str) -> Iterator[Document]:
    for suffix in suffixes:
        yield {"fileName": f"Case - import 7 - ../../{suffix}", "url": "http://storage/x?signature"}


def test_reports_are_private_and_have_the_names_of_the_documentation(tmp_path: Path) -> None:
    rows, report, text = name_files("rows.dat", "report.csv", "deficiencies.txt")
    files = {"rejectedRows": rows, "report": report, "warnings": None, "deficienciesText": text}
    session, _ = open_session(lambda *_: files, tmp_path, objects="line")
    found = download_reports(session, state(details={"case": "Case", "fileName": "a.dat", "sha256": "1"}))
    folder = tmp_path / "reports" / found.report.parent.name if found.report else tmp_path
    assert [found.rejected_rows, found.report, found.deficiencies_text, found.warnings] == [
        folder / "rejected_rows.dat",
        folder / "report.csv",
        folder / "deficiencies.txt",
        None,
    ]
    assert {(path.read_text(), path.stat().st_mode & 0o777) for path in folder.iterdir()} == {("line", 0o600)}
    assert (folder.stat().st_mode & 0o777, folder.name[:2]) == (0o700, "7-")


def test_the_reports_of_another_import_with_the_same_id_are_kept(tmp_path: Path) -> None:
    session, _ = open_session(lambda *_: {"report": next(name_files("report.csv"))}, tmp_path)
    paths = [
        download_reports(session, state(details={"case": "Case", "sha256": digest})).report
        for digest in ("1", "2", "1")
    ]
    assert paths[0] == paths[2] != paths[1]


def test_a_row_with_two_reasons_of_one_code_counts_once(tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    report.write_text(
        "line,column,code\n2,a,KEY_TOO_LONG\n2,b,KEY_TOO_LONG\n3,a,KEY_TOO_LONG\n3,,MISSING_ID\n", "utf-8-sig"
    )
    counts = [("KEY_TOO_LONG", "a", 2), ("KEY_TOO_LONG", "b", 1), ("MISSING_ID", None, 1)]
    named = [{"code": code, "column": column, "rows": rows, "count": rows} for code, column, rows in counts]
    warnings = [{"code": "NAME_MERGED", "column": column, "rows": 1, "count": 2} for column in ("a", "b")]
    api = PlayedApi(lambda *_: {"rejections": named, "warnings": warnings})
    assert read_codes(api, 7, report) == CodeCounts(  # type: ignore[arg-type]
        {"KEY_TOO_LONG": 2, "MISSING_ID": 1}, {"NAME_MERGED": 4}
    )
