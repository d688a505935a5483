"""A late upload finds its case by the name that it has or had, and makes no second one, whatever became of the case."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from core.contracts.cases import CaseChange
from shell.aws import clients
from shell.case_state.names import forget_names
from shell.cases.commands import patch_case
from shell.db.session import session
from shell.imports.upload_expiry import expire_uploads
from tests.integration.imports.import_requests import CALLER, THREE, announce, put, retry, run_chunks, start, state
from tests.support.application.driver import Message, World, request_messages

IMPORTS = "SELECT case_id, status, failure_code FROM imports ORDER BY id"
REFUSALS = "SELECT case_id, details FROM case_changes WHERE kind = 'upload_refused'"


def change(case_id: int, **body: object) -> None:
    """Change the case, whatever its version is."""
    with session() as transaction:
        read = f"SELECT version FROM cases WHERE id = {case_id}"
        version = transaction.connection().exec_driver_sql(read).scalar_one()
        patch_case(transaction, CALLER, case_id, {version}, CaseChange.model_validate(body))


def make_case(world: World, name: str = "Case") -> int:
    world.query("INSERT INTO cases (tenant_id, name) VALUES ('tenant', :name)", name=name)
    return int(world.query("SELECT MAX(id) FROM cases")[0][0])


def is_there(world: World, message: Message) -> bool:
    stored = message["Records"][0]["s3"]["object"]
    try:
        clients.s3().head_object(Bucket=world.bucket, Key=stored["key"], VersionId=stored["versionId"])
    except ClientError:
        return False
    return True


def test_an_event_of_a_former_name_imports_into_the_renamed_case(world: World) -> None:
    case_id = make_case(world)
    dropped, pending = world.upload(THREE), announce()
    change(case_id, name="Case of 2026")
    for message in (dropped, put(pending, THREE), world.upload(THREE)):
        assert start(message)
    run_chunks(world)
    assert {row[0] for row in world.query(IMPORTS)} == {case_id}
    assert world.query("SELECT name FROM cases") == [("Case of 2026",)]
    assert (state(pending.id).status, state(pending.id).case) == ("completed", "Case of 2026")


def test_after_a_second_renaming_each_former_name_finds_the_case(world: World) -> None:
    case_id = make_case(world)
    for name in ("Second", "Third", "Second"):
        change(case_id, name=name)
    for name in ("Case", "Second", "Third"):
        assert start(world.upload(THREE, case=name))
    assert {row[0] for row in world.query(IMPORTS)} == {case_id}
    assert sorted(row[0] for row in world.query("SELECT name FROM case_aliases")) == ["Case", "Third"]


def test_what_arrives_in_a_closed_case_fails_with_its_reason_and_is_retried_after_the_case_is_open(
    world: World,
) -> None:
    case_id = make_case(world)
    pending, running = announce(), announce()
    assert start(put(running, THREE))
    change(case_id, status="closed")
    announced, dropped = put(pending, THREE), world.upload(THREE)
    for message in (announced, dropped, announced, dropped):
        assert start(message)
    assert world.query(IMPORTS) == [
        (case_id, "failed", "CASE_CLOSED"),
        (case_id, "running", None),
        (case_id, "failed", "CASE_CLOSED"),
    ]
    assert "reopen it" in (state(pending.id).failure_message or "")
    run_chunks(world)
    assert state(running.id).status == "completed", "what ran before goes on to its end"
    change(case_id, status="open")
    assert retry(pending.id).status == "splitting"
    for message in request_messages():
        assert start(message)
    run_chunks(world)
    assert state(pending.id).status == "completed"


def test_a_held_import_whose_file_arrives_in_a_closed_case_is_held_again_by_its_retry(world: World) -> None:
    pending = announce(hold=True)
    change(pending.case_id, status="closed")
    assert start(put(pending, THREE))
    assert (state(pending.id).status, state(pending.id).failure_code) == ("failed", "CASE_CLOSED")
    change(pending.case_id, status="open")
    assert retry(pending.id).status == "uploaded"


@pytest.mark.parametrize("status", ["purging", "purged"])
def test_what_arrives_for_a_purged_case_is_recorded_and_deleted_and_makes_no_case(world: World, status: str) -> None:
    case_id = make_case(world)
    change(case_id, name="Renamed")
    messages = [world.upload(THREE, case=name) for name in ("Case", "Renamed")]
    if status == "purged":
        with session() as transaction:
            forget_names(transaction, case_id, "Renamed")
    world.query("UPDATE cases SET status = :status", status=status)
    for message in messages * 2:
        assert start(message)
    assert (world.query(IMPORTS), len(world.query("SELECT id FROM cases"))) == ([], 1)
    refused = world.query(REFUSALS)
    assert [row[0] for row in refused] == [case_id] * 2
    assert [json.loads(row[1])["status"] for row in refused] == [status] * 2
    assert "production.dat" not in "".join(row[1] for row in refused)
    assert [is_there(world, message) for message in messages] == [False, False]


def test_the_name_of_a_purged_case_is_free_for_a_request_and_then_for_uploads(world: World) -> None:
    case_id = make_case(world)
    with session() as transaction:
        forget_names(transaction, case_id, "Case")
    world.query("UPDATE cases SET status = 'purged'")
    assert world.query("SELECT name FROM cases") == [(f"purged/{case_id}",)]
    pending = announce()
    assert pending.case_id != case_id
    assert start(world.upload(THREE))
    assert world.query(IMPORTS)[-1][0] == pending.case_id


def test_nothing_of_a_held_case_expires(world: World) -> None:
    pending = announce()
    world.query("UPDATE imports SET started_at = started_at - INTERVAL 40 DAY")
    change(pending.case_id, hold={"reason": "Order"})
    assert (expire_uploads(10), state(pending.id).status) == (0, "awaiting_upload")
    change(pending.case_id, hold=None)
    assert (expire_uploads(10), state(pending.id).status) == (1, "failed")
