"""What was given out after a snapshot is not given out again by the database that is made of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

import migrate_database
from shell.maintenance.restore import STEP
from tests.support.application.driver import MigrationContext
from tests.support.database.counted_database import Database
from tests.support.database.empty_tables import empty_tables, restart_ids


@pytest.fixture(autouse=True)
def small_ids_again(database: Database) -> Iterator[None]:
    """Other tests use this schema too."""
    yield
    empty_tables(database.admin)
    restart_ids(database.admin)


def deployed(database: str, snapshot: str, before: str | None = "old") -> dict[str, Any]:
    """What CloudFormation says of the custom resource."""
    properties = {"ResourceProperties": {"Database": database, "Snapshot": snapshot}}
    if before is None:
        return {"RequestType": "Create", **properties}
    return {"RequestType": "Update", **properties, "OldResourceProperties": {"Database": before, "Snapshot": ""}}


def next_case(database: Database, name: str) -> int:
    database.query("INSERT INTO cases (tenant_id, name) VALUES ('acme', :name)", name=name)
    return int(database.scalar("SELECT MAX(id) FROM cases"))


def migrate(event: dict[str, Any]) -> None:
    migrate_database.lambda_handler(event, MigrationContext())


@pytest.mark.parametrize("before", ["old", None], ids=["another database", "a new stack"])
def test_ids_and_sequences_go_on_behind_what_may_be_lost(database: Database, before: str | None) -> None:
    first = next_case(database, "before")
    database.query("UPDATE outbox_state SET last_sequence = 7")
    migrate(deployed("new", "arn:snapshot", before))
    assert next_case(database, "after") >= first + STEP
    event = "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload) VALUES ('a', '1', 'e', '{}')"
    database.query(event)
    assert int(database.scalar("SELECT MAX(id) FROM outbox_events")) >= STEP, "every table that numbers its rows"
    assert int(database.scalar("SELECT last_sequence FROM outbox_state")) >= (time.time() - 60) * 1000


def test_restored_again_it_issues_no_id_of_a_row_that_was_deleted(database: Database) -> None:
    """InnoDB accepts an AUTO_INCREMENT value that is lower than the present one; MySQL shows what it showed before."""
    for number in (3, 6, 9):
        database.query("SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
        database.query("INSERT INTO cases (id, tenant_id, name) VALUES (:id, 'acme', 'last')", id=number * STEP)
        database.query("DELETE FROM cases")
        migrate(deployed(f"restored {number}", "arn:snapshot"))
        assert next_case(database, "next") >= (number + 1) * STEP
        database.query("DELETE FROM cases")


TOMBSTONE = (
    "INSERT INTO exhibit_tombstones (exhibit_id, case_id, control_number, version, import_id, line_no, undo_no) "
    "VALUES (:id, 1, 'A-1', 2, 1, 2, 1)"
)
HISTORY = (
    "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, changes) VALUES (:id, 2, 'edited', 'a', '{}')"
)
PAGE_SET = (
    "INSERT INTO page_sets (case_id, import_id, line_no, page_count, content_hash) VALUES (1, 1, 2, 1, REPEAT('a', 32))"
)


@pytest.mark.parametrize("kept", [TOMBSTONE, HISTORY], ids=["tombstone", "history"])
def test_the_ids_of_documents_that_an_undo_removed_are_not_issued(database: Database, kept: str) -> None:
    """Of a dump without AUTO_INCREMENT values. The pages of the document, too, are only in its history."""
    database.query(kept, id=7 * STEP)
    migrate(deployed("new", "arn:snapshot"))
    database.query(PAGE_SET)
    assert next_case(database, "after") >= 8 * STEP
    assert int(database.scalar("SELECT MAX(id) FROM page_sets")) >= 8 * STEP


@pytest.mark.parametrize(
    "event",
    [deployed("old", "arn:snapshot"), deployed("new", ""), {"RequestType": "Local"}],
    ids=["the same database", "no snapshot", "not CloudFormation"],
)
def test_otherwise_nothing_is_skipped(database: Database, event: dict[str, Any]) -> None:
    first = next_case(database, "before")
    migrate(event)
    step = int(database.scalar("SELECT @@auto_increment_increment"))
    assert next_case(database, "after") == first + step
