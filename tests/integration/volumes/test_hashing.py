"""The hashes of single files: read once, in units, before the import, if it asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest

import start_import
from core.errors import StorageUnavailableError
from core.statuses import VolumeStatus
from core.volumes.hash_units import HashUnit, plan_hash_units
from core.volumes.hashes import FileHashes
from shell.tables.volumes import Volumes
from shell.volumes import hashing
from shell.volumes.units import record_unit
from tests.integration.volumes.volume_requests import (
    FILES,
    deliver_dead_letter,
    drain,
    process,
    request,
    run,
    state,
    stored,
    upload,
    upload_zip,
    work_messages,
)
from tests.support.application.driver import World, call, complete_imports, request_messages

VERIFIED: dict[str, Any] = {"options": {"verifyHashes": True}}
WRONG = "0" * 32
DAT = (
    "Control Number,Native Path,MD5 Hash\r\n"
    f"A-1,NATIVES\\1.txt,{hashlib.md5(b'native one', usedforsecurity=False).hexdigest()}\r\n"
    f"A-2,NATIVES\\2.txt,{WRONG}\r\n"
).encode()
HASHED = {**FILES, "DATA/load.dat": DAT}


def are_hashed(world: World, volume_id: int) -> list[bool]:
    """Whether each file has the three hashes of its bytes; fails for a wrong one."""
    for row in stored(world, volume_id):
        for name in ("md5", "sha1", "sha256"):
            expected = hashlib.new(name, HASHED[row["path"]]).hexdigest().upper()
            assert row[f"HEX({name})"] in (None, expected)
    return [row["HEX(md5)"] is not None for row in stored(world, volume_id)]


def import_rows(world: World) -> None:
    """Import the load file of a volume that is ready."""
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    for chunk in world.chunk_messages():
        assert world.import_chunk(chunk)
    complete_imports()


@pytest.fixture
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit for each file."""
    monkeypatch.setattr("shell.volumes.hash_plans.plan_hash_units", lambda files: plan_hash_units(files, max_files=1))


@pytest.mark.parametrize("dry_run", [False, True])
def test_stated_hashes_are_compared_with_those_of_single_files(world: World, dry_run: bool) -> None:
    volume_id = upload(world, HASHED)
    assert run(volume_id, dryRun=dry_run, **VERIFIED).status == VolumeStatus.READY
    assert are_hashed(world, volume_id) == [True] * 4
    import_rows(world)
    table = "import_check_findings" if dry_run else "import_warnings"
    assert world.query(f"SELECT line_no, code FROM {table} WHERE code = 'HASH_MISMATCH'") == [(3, "HASH_MISMATCH")]


def test_without_the_option_no_file_is_read(world: World) -> None:
    volume_id = upload(world, HASHED)
    run(volume_id)
    assert are_hashed(world, volume_id) == [False] * 4
    import_rows(world)
    assert world.query("SELECT code FROM import_warnings") == []


def test_nothing_is_imported_before_the_last_unit(world: World, small_units: None) -> None:
    volume_id = upload(world, HASHED)
    request(volume_id, **VERIFIED)
    [listing] = work_messages()
    assert process(listing)
    units = work_messages()
    assert len(units) == 4
    for left, unit in zip((3, 2, 1), units, strict=False):
        # Twice: a unit counts once.
        assert process(unit, unit)
        assert (state(volume_id).status, state(volume_id).units_left) == (VolumeStatus.HASHING, left)
    assert (request_messages(), state(volume_id).imports) == ([], [])
    assert process(units[3])
    assert state(volume_id).status == VolumeStatus.READY
    assert len(request_messages()) == len(state(volume_id).imports) == 1


def test_a_file_is_hashed_once_for_all_imports_of_its_volume(
    world: World, small_units: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world, HASHED)
    run(volume_id)
    read: list[str] = []
    hash_file = hashing._hash_file

    def note(prefix: str, row: Any) -> FileHashes:
        read.append(row.path)
        return hash_file(prefix, row)

    monkeypatch.setattr(hashing, "_hash_file", note)
    for _ in range(2):
        world.query("UPDATE imports SET status = 'undone'")
        assert run(volume_id, **VERIFIED).status == VolumeStatus.READY
    assert sorted(read) == [row["path"] for row in stored(world, volume_id)]


def test_two_workers_at_one_unit_count_it_once(
    world: World, small_units: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world, HASHED)
    request(volume_id, **VERIFIED)
    assert process(*work_messages())
    unit, *others = work_messages()

    def record_after_another(volume: Volumes, unit_no: int, rows: Sequence[tuple[Any, ...]]) -> None:
        monkeypatch.setattr(hashing, "record_unit", record_unit)
        assert process(unit)
        record_unit(volume, unit_no, rows)

    monkeypatch.setattr(hashing, "record_unit", record_after_another)
    assert process(unit)
    assert (state(volume_id).status, state(volume_id).units_left) == (VolumeStatus.HASHING, len(others))
    assert process(*others)
    assert state(volume_id).status == VolumeStatus.READY


def test_an_outage_is_a_retry_and_a_unit_that_never_succeeds_fails_the_volume(
    world: World, small_units: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world, HASHED)
    request(volume_id, **VERIFIED)
    assert process(*work_messages())
    first, *others = work_messages()

    def fail(prefix: str, row: object) -> None:
        raise StorageUnavailableError

    with monkeypatch.context() as patched:
        patched.setattr(hashing, "_hash_file", fail)
        assert not process(first)
    assert state(volume_id).status == VolumeStatus.HASHING
    assert process(*others)
    assert deliver_dead_letter({**first, "redrive": 1})
    found = state(volume_id)
    assert (found.status, found.failure_code, found.imports) == (VolumeStatus.FAILED, "NOT_HASHED", [])
    assert run(volume_id, **VERIFIED).status == VolumeStatus.READY
    assert are_hashed(world, volume_id) == [True] * 4


def test_a_file_that_was_deleted_fails_the_volume_with_its_name(world: World) -> None:
    volume_id = upload(world, HASHED)
    request(volume_id, **VERIFIED)
    assert process(*work_messages())
    world.query("UPDATE volume_files SET version_id = 'gone' WHERE path = 'NATIVES/1.txt'")
    found = drain(volume_id)
    assert (found.status, found.failure_code) == (VolumeStatus.FAILED, "FILES_MISSING")
    assert "'NATIVES/1.txt' was deleted" in (found.failure_message or "")


def test_a_zip_has_its_hashes_already(world: World) -> None:
    volume_id = upload_zip(world)
    request(volume_id, **VERIFIED)
    assert process(*work_messages())
    assert {message["task"] for message in work_messages()} == {"expand"}


def test_units_are_within_their_limits_and_have_every_file() -> None:
    files = [(0, 5), (1, 5), (4, 20), (5, 1), (6, 1), (7, 1), (9, 0)]
    assert list(plan_hash_units(files, max_files=3, max_bytes=10)) == [
        HashUnit(0, 1),
        HashUnit(4, 4),
        HashUnit(5, 7),
        HashUnit(9, 9),
    ]
    assert list(plan_hash_units([])) == []
