"""A check says what the import that follows does, writes nothing to the case, and is run once."""

from __future__ import annotations

from typing import Any

import pytest
import requests

import complete_import
import import_chunk
import write_import_report
from core.codes import CheckCode
from core.errors import NotFoundError, SourceChangedError, WrongStateError
from shell.aws import clients
from shell.imports.checks.queries import list_findings
from shell.imports.chunks.write_or_check import finish_chunk
from shell.imports.report_urls import get_reports
from shell.work.messages import CompletionMessage
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    ACCEPT,
    CALLER,
    SIX,
    STRANGER,
    THREE,
    announce,
    cancel,
    checked,
    details,
    events,
    finish,
    prepare_chunk,
    put,
    retry,
    run,
    run_chunks,
    start,
    state,
)
from tests.support.application.driver import World, call, complete_imports

HEADER = "Control Number,Title,Custodian,Tags,Date\r\n"
# What the case holds: equal rows, a row with other values, and one without its custodian.
HELD = HEADER + 'A-1,one,Müller,hot,2001-01-31\r\nA-2,two,"Ann; Bob",,\r\nA-3,three,,,\r\n'
# Spellings that the database holds equal on several lines, in the case and in the file; a title that is too long, two
# rows without or with a bad id, a duplicate in another chunk, a bad date, a cell too many.
FILE = (
    HEADER + "A-1,one,Müller,hot,2001-01-31\r\n"
    'A-2,other,"Ann; Bob",,\r\n'
    "A-3,three,Carl,,\r\n"
    f"B-1,{'long ' * 300},MULLER,cold,\r\n"
    "B-2,x,ann,Cold,not a date\r\n"
    ",no id,Zoe,,\r\n"
    'B-3,x,"Zoë; ZOE",COLD,\r\n'
    "B-1,again,Dan,,\r\n"
    "B-4,x,zoe,,2001-02-03,one more\r\n"
    "B-5,x,Straße,,\r\n"
    "B-6,x,strasse,,\r\n"
)
ACCEPT_TOO_LITTLE: tuple[dict[str, Any], ...] = ({}, {"acknowledgeWarnings": True})
CASE = ("exhibits", "custodians", "tags", "custodian_exhibits", "taggings")


def case_rows(world: World) -> dict[str, Any]:
    """Every row of the tables of cases."""
    return {table: world.query(f"SELECT * FROM {table}") for table in CASE}


def found(import_id: int) -> list[tuple[str, int, str | None, str]]:
    """All findings that an import has too: code, line, column and message."""
    every = list_findings(CALLER, import_id, None, 1000, None).items
    return sorted(
        (each.code, each.line, each.column, each.message) for each in every if each.code not in set(CheckCode)
    )


def reported(world: World, import_id: int) -> list[tuple[str, int, str | None, str]]:
    """All rejections and warnings of an import, in the form of `found`."""
    columns = "code, line_no, column_name, message"
    tables = ("import_rejections", "import_warnings")
    rows = [
        row for table in tables for row in world.query(f"SELECT {columns} FROM {table} WHERE import_id = {import_id}")
    ]
    return sorted(map(tuple, rows))


def written_report(world: World, import_id: int) -> int:
    """Deliver the last event of the check; returns how many findings the file at the check's URL has."""
    assert call(
        write_import_report.lambda_handler, events(world, "import.checked")[-1] | {"eventType": "import.checked"}
    )
    check = details(import_id).check
    assert check is not None
    assert check.report == "findings.csv"
    findings = get_reports(CALLER, import_id).findings
    assert findings is not None
    lines = requests.get(findings.url, timeout=60).content.decode("utf-8-sig").splitlines()
    assert lines[0] == "code,severity,line,column,message,id,rows"
    return len(lines) - 1


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_a_check_finds_what_the_import_then_does_and_leaves_the_case_alone(
    world: World, chunk_rows: Chunks, rows: int
) -> None:
    world.run(HELD.encode())
    chunk_rows(rows)
    before = case_rows(world)
    import_id = checked(world, FILE.encode())
    assert case_rows(world) == before
    assert world.query("SELECT COUNT(*) FROM import_rejections") == [(0,)]
    assert world.query("SELECT COUNT(*) FROM import_check_facts") == [(0,)]
    check = details(import_id).check
    assert check is not None
    assert (state(import_id).status, check.status) == ("checked", "errors")
    findings = found(import_id)
    assert run(import_id, **ACCEPT).status == "running"
    finish(world)
    after = details(import_id)
    assert after.status == "completed_with_rejections"
    assert (check.would_import, check.unchanged, check.would_reject) == (
        after.imported,
        after.unchanged,
        after.rejected,
    )
    assert (check.would_import, check.unchanged, check.would_reject) == (5, 1, 5)
    assert reported(world, import_id) == findings
    created = "SELECT custodians_created, tags_created FROM imports WHERE id = :id"
    assert world.query(created, id=import_id) == [(check.new_custodians, check.new_tags)]
    assert {each.code: each.count for each in check.findings if each.severity == "error"} == {
        "DUPLICATE_ID": 1,
        "EXISTS_WITH_OTHER_VALUES": 2,
        "MISSING_ID": 1,
        "WRONG_CELL_COUNT": 1,
    }
    assert after.check == check.model_copy(update={"report": after.check and after.check.report})


def test_a_file_that_is_checked_and_run_has_the_result_of_one_that_is_imported(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(2)
    import_id = checked(world, SIX)
    run(import_id, **ACCEPT)
    finish(world)
    assert world.dump(import_id) == world.dump(world.run(SIX, case="Another", user_id=CALLER.user_id))


def test_a_dropped_file_is_checked_by_its_options_and_a_changed_case_is_reported(world: World) -> None:
    import_id = world.run(THREE, dry_run=True)
    assert state(import_id).status == "checked"
    world.run(THREE)
    with pytest.raises(WrongStateError, match="added to the case"):
        run(import_id, requireUnchanged=True)
    assert run(import_id).status == "running"
    finish(world)
    (warning,) = reported(world, import_id)
    assert warning[:2] == ("DIFFERS_FROM_CHECK", 0)
    assert "rows imported 0 instead of 3, rows unchanged 3 instead of 0, new custodians 0 instead of 3" in warning[3]


def test_a_run_needs_what_the_check_found_to_be_accepted(world: World) -> None:
    warned = checked(world, b"Control Number,Date\r\nA-1,never\r\n")
    rejected = checked(world, SIX)
    with pytest.raises(WrongStateError, match="acknowledgeWarnings"):
        run(warned)
    for body in ACCEPT_TOO_LITTLE:
        with pytest.raises(WrongStateError, match="2 rows would be rejected"):
            run(rejected, **body)
    assert run(warned, acknowledgeWarnings=True).status == run(rejected, **ACCEPT).status == "running"
    with pytest.raises(WrongStateError, match="the status running"):
        run(rejected, **ACCEPT)
    with pytest.raises(NotFoundError):
        run(rejected, caller=STRANGER, **ACCEPT)
    with pytest.raises(NotFoundError):
        list_findings(STRANGER, rejected, None, 10, None)


def test_a_file_that_is_gone_is_not_run(world: World) -> None:
    pending = announce(dryRun=True)
    message = put(pending, THREE)
    assert start(message)
    run_chunks(world)
    version = message["Records"][0]["s3"]["object"]["versionId"]
    clients.s3().delete_object(Bucket=pending.bucket, Key=pending.object_key, VersionId=version)
    with pytest.raises(SourceChangedError, match="SOURCE_CHANGED"):
        run(pending.id)
    assert state(pending.id).status == "checked"


def test_a_worker_that_has_read_a_chunk_to_check_it_does_not_complete_it_for_the_run(
    world: World, chunk_rows: Chunks
) -> None:
    """Without the status in the count-down the chunk would be done, and its rows nowhere."""
    chunk_rows(1)
    pending = announce(dryRun=True)
    assert start(put(pending, THREE))
    messages = world.chunk_messages()
    late = prepare_chunk(pending.id, 1)
    for message in messages:
        assert call(import_chunk.lambda_handler, message)
    complete_imports()
    run(pending.id)
    assert finish_chunk(late) == "running"
    finish(world)
    assert (state(pending.id).status, state(pending.id).imported) == ("completed", 3)


def test_a_chunk_that_fails_in_a_check_is_an_error_until_a_retry(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce(dryRun=True)
    assert start(put(pending, SIX))
    first, *others = world.chunk_messages()
    for message in others:
        assert world.import_chunk(message)
    world.give_up(first)
    assert world.query("SELECT COUNT(*) FROM import_rejections") == [(0,)]
    check = details(pending.id).check
    assert check is not None
    assert (check.findings[0].code, check.findings[0].first_line) == ("CHUNK_FAILED", 2)
    merged = {line for code, line, *_ in found(pending.id) if code == "NAME_MERGED"}
    assert merged == {5, 6}
    assert written_report(world, pending.id) >= len(found(pending.id))
    assert retry(pending.id).status == "checking"
    finish(world)
    assert {line for code, line, *_ in found(pending.id) if code == "NAME_MERGED"} == {3, 5, 6}
    assert not [code for code, *_ in found(pending.id) if code == "CHUNK_FAILED"]
    assert written_report(world, pending.id) >= len(found(pending.id))
    with pytest.raises(WrongStateError, match="nothing to retry"):
        retry(pending.id)


def test_a_check_is_cancelled_and_goes_on_after_a_retry(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce(dryRun=True)
    assert start(put(pending, THREE))
    first, *_ = world.chunk_messages()
    assert world.import_chunk(first)
    assert cancel(pending.id).status == "cancelled"
    assert retry(pending.id).status == "checking"
    finish(world)
    check = details(pending.id).check
    assert check is not None
    assert (check.status, check.would_import, check.new_custodians) == ("ok", 3, 3)


def test_a_completion_that_comes_twice_or_late_changes_nothing(world: World) -> None:
    import_id = checked(world, SIX)
    before = (details(import_id).check, world.query("SELECT * FROM import_check_findings"))
    assert call(complete_import.lambda_handler, CompletionMessage(import_id, 1).as_dict())
    assert (details(import_id).check, world.query("SELECT * FROM import_check_findings")) == before
    assert len(events(world, "import.checked")) == 1
