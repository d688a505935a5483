"""What was given out after a snapshot is not given out again by the database that is made of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

import migrate_database
from shell.maintenance.restore import STEP
from tests.support.database import Database
from tests.support.emptying import empty_tables, restart_ids
from tests.support.world import Context


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
    migrate_database.lambda_handler(event, Context())


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


@pytest.mark.parametrize(
    "event",
    [deployed("old", "arn:snapshot"), deployed("new", ""), {"RequestType": "Local"}],
    ids=["the same database", "no snapshot", "not CloudFormation"],
)
def test_otherwise_nothing_is_skipped(database: Database, event: dict[str, Any]) -> None:
    first = next_case(database, "before")
    migrate(event)
    assert next_case(database, "after") == first + 1
