"""The file that comes to an announced place becomes the announced import, once; what comes after it is its own."""

from __future__ import annotations

from functools import partial
from unicodedata import normalize

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from core.imports.uploads import parse_upload
from shell.utils.semaphore import with_semaphore_lock
from tests.integration.imports.import_requests import (
    THREE,
    announce,
    cancel,
    events,
    finish,
    put,
    run,
    run_chunks,
    start,
    start_blocked,
    state,
)
from tests.support.application.driver import Message, World
from tests.support.application.handler_processes import Workers, ended_well, start_alone

IMPORTS = "SELECT id, status, version_id, upload_id IS NULL, user_id FROM imports ORDER BY id"
OTHER = b"Control Number,Title\r\nB-1,one\r\nB-2,two\r\n"
PIPES = b"Control Number|Title|Custodian\r\nA-1|one, two|Jones\r\n"


def version(message: Message) -> str:
    """The version that a notification tells of."""
    return str(message["Records"][0]["s3"]["object"]["versionId"])


def test_the_first_file_at_the_announced_place_becomes_the_import_and_the_next_is_an_import_of_its_own(
    world: World,
) -> None:
    pending = announce(options={"delimiter": "|"})
    world.query("UPDATE imports SET started_at = started_at - INTERVAL 2 DAY")
    announced_at = state(pending.id).started_at
    first, second = (put(pending, data) for data in (PIPES, PIPES + b"A-2|four|Smith\r\n"))
    for message in (first, second, first, second):
        assert start(message)
    rows = world.query(IMPORTS)
    assert rows[0] == (pending.id, "running", version(first), 0, "ann@example.com")
    assert [tuple(row[1:]) for row in rows[1:]] == [("running", version(second), 1, "ann@example.com")]
    assert [row[0] for row in world.query("SELECT delimiter FROM imports")] == ["|", "|"]
    assert (state(pending.id).started_at - announced_at).days == 2
    run_chunks(world)
    assert (state(pending.id).status, state(pending.id).imported) == ("completed", 1)
    assert world.query("SELECT DISTINCT user_id FROM custodian_exhibits") == [("ann@example.com",)]
    assert len(world.query("SELECT id FROM cases")) == 1


def test_only_the_announced_place_is_that_of_the_import(world: World) -> None:
    """Who knows the upload's id, but not where it belongs, gets an import of its own."""
    pending = announce(case="Müller")
    announced = ("tenant", "Müller", "production.dat")
    look_alike = normalize("NFD", "Müller")
    others = [("another", *announced[1:]), ("tenant", look_alike, announced[2]), (*announced[:2], "another")]
    for tenant, case, file in others:
        key = f"imports/{tenant}/{case}/{pending.upload_id}/{file}"
        assert start(put(pending.model_copy(update={"object_key": key}), THREE))
    assert state(pending.id).status == "awaiting_upload"
    assert [(row[1], row[4]) for row in world.query(IMPORTS)][1:] == [("running", "load-file-import")] * 3


def test_files_that_come_after_their_import_was_cancelled_are_known_and_not_imported(world: World) -> None:
    pending = announce()
    assert cancel(pending.id).status == "cancelled"
    first, second = put(pending, THREE), put(pending, THREE)
    for message in (first, first, second, second):
        assert start(message)
    rows = world.query(IMPORTS)
    assert rows[0] == (pending.id, "cancelled", version(first), 0, "ann@example.com")
    assert [(row[1], row[2]) for row in rows[1:]] == [("cancelled", version(second))]
    assert world.query("SELECT COUNT(*) FROM imports WHERE finished_at IS NULL") == [(0,)]
    assert (world.chunk_messages(), world.query("SELECT * FROM import_chunks")) == ([], [])


def test_a_file_that_comes_after_its_import_expired_is_imported_all_the_same(world: World) -> None:
    pending = announce()
    world.query("UPDATE imports SET status = 'failed', failure_code = 'NOT_UPLOADED'")
    message = put(pending, THREE)
    for _ in range(2):
        assert start(message)
    assert [(row[1], row[2]) for row in world.query(IMPORTS)] == [("failed", None), ("running", version(message))]


def test_two_files_at_one_place_at_once_are_two_imports_however_often_they_are_announced(
    world: World, workers: Workers
) -> None:
    pending = announce()
    messages = [put(pending, THREE), put(pending, OTHER)]
    workers.at_once("start_import", messages * 2)
    assert all(map(start, messages))
    found = world.query("SELECT version_id, rows_seen, status FROM imports")
    assert {tuple(row) for row in found} == {
        (version(messages[0]), 3, "running"),
        (version(messages[1]), 2, "running"),
    }
    assert len(found) == len(events(world, "import.started")) == 2


def test_naive_adoption_without_lock_and_condition_loses_one_of_two_files(world: World, other: Connection) -> None:
    """Both look whether the import awaits its file, both find that it does, and both make it theirs."""
    pending = announce()
    versions = [version(put(pending, data)) for data in (THREE, OTHER)]
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    with engine.connect() as one:
        pair = (one, other)
        look = text("SELECT status FROM imports WHERE id = :id")
        assert [each.execute(look, {"id": pending.id}).scalar() for each in pair] == ["awaiting_upload"] * 2
        for connection, found in zip(pair, versions, strict=True):
            adopt = text("UPDATE imports SET status = 'splitting', version_id = :version WHERE id = :id")
            connection.execute(adopt, {"id": pending.id, "version": found})
            connection.commit()
    assert [row[2] for row in world.query(IMPORTS)] == versions[1:]


@pytest.mark.parametrize("commits", [True, False])
def test_a_file_that_comes_while_its_import_is_cancelled_waits_for_what_becomes_of_that(
    world: World, other: Connection, commits: bool
) -> None:
    pending = announce()
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": pending.id})
    other.execute(text("UPDATE imports SET status = 'cancelled' WHERE id = :id"), {"id": pending.id})
    worker = start_blocked(world, "start_import", put(pending, THREE))
    other.commit() if commits else other.rollback()
    assert ended_well(worker)
    assert state(pending.id).status == ("cancelled" if commits else "running")
    assert bool(world.chunk_messages()) is not commits


def test_a_file_that_another_worker_splits_is_left_to_it_and_one_that_runs_has_its_messages_sent_again(
    world: World,
) -> None:
    pending = announce()
    message = put(pending, THREE)
    upload = parse_upload(message["Records"][0])
    assert upload is not None
    splitting = partial(with_semaphore_lock, upload.upload_key.hex(), ttl=60, namespace="start_import")
    with splitting():
        assert not start(message)
        assert (state(pending.id).status, world.chunk_messages()) == ("splitting", [])
    assert start(message)
    sent = world.chunk_messages()
    assert (state(pending.id).status, len(sent)) == ("running", 1)
    with splitting():
        assert start(message)
    assert world.chunk_messages() == sent


def test_a_file_is_split_where_another_splitter_cannot_be_detected(world: World) -> None:
    pending = announce()
    nowhere = {**world.environment, "REDIS_URL": "redis://127.0.0.1:1/0"}
    worker = start_alone(nowhere, "start_import", put(pending, THREE))
    assert ended_well(worker)
    assert state(pending.id).status == "running"


def test_a_second_upload_to_the_key_of_a_check_that_was_run_is_checked(world: World) -> None:
    pending = announce(dryRun=True)
    assert start(put(pending, THREE))
    run_chunks(world)
    run(pending.id)
    finish(world)
    assert start(put(pending, THREE.replace(b"A-", b"B-")))
    run_chunks(world)
    [(second,)] = world.query("SELECT MAX(id) FROM imports")
    assert (second != pending.id, state(second).status) == (True, "checked")
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(3,)]
