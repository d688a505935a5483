"""The listing of a sealed volume: what is put, replaced or deleted meanwhile, and workers that are killed in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.statuses import VolumeStatus
from shell.aws import clients, object_versions
from shell.aws.object_versions import VersionPage, list_latest
from shell.tenants import starts
from shell.volumes import listing, sealing
from tests.integration.volumes.volume_requests import (
    CALLER,
    FILES,
    bodies,
    drain,
    process,
    put,
    request,
    run,
    state,
    stored,
    upload,
    work_messages,
)
from tests.support.application.driver import World
from tests.support.faults.step_hooks import KilledError, Step, at, at_every_step, kill, nothing

KEPT = {path: data for path, data in FILES.items() if ".DS_Store" not in path}
Change = Callable[[], object]


def during_page(monkeypatch: pytest.MonkeyPatch, number: int, change: Change) -> None:
    """Do it once the page with that number was listed, before it is stored."""
    pages = iter(range(1, 100))

    def listed(*arguments: object) -> VersionPage:
        page = list_latest(*arguments)  # type: ignore[arg-type]
        if next(pages) == number:
            change()
        return page

    monkeypatch.setattr(sealing, "list_latest", listed)


def test_a_file_that_is_put_ahead_of_the_listing_is_in_the_volume(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world)
    request(volume_id)
    during_page(monkeypatch, 1, lambda: put(world, volume_id, "NATIVES/9.txt", b"new"))
    found = drain(volume_id)
    assert (found.files, found.late_files) == (len(KEPT) + 1, 0)
    assert bodies(world, volume_id)["NATIVES/9.txt"] == b"new"


def test_a_file_that_is_put_behind_the_listing_is_late(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world)
    request(volume_id)
    during_page(monkeypatch, 2, lambda: put(world, volume_id, "AAA/1.txt"))
    found = drain(volume_id)
    assert (found.status, found.files, found.late_files) == (VolumeStatus.READY, len(KEPT), 1)
    assert found.late_names == ["AAA/1.txt"]


def test_a_file_that_is_replaced_behind_the_listing_keeps_its_listed_version(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world)
    request(volume_id)
    during_page(monkeypatch, 2, lambda: put(world, volume_id, "IMAGES/1.tif", b"forged"))
    found = drain(volume_id)
    assert (found.late_files, found.late_names) == (1, ["IMAGES/1.tif"])
    assert bodies(world, volume_id) == KEPT


def test_a_file_that_is_deleted_behind_the_listing_can_still_be_read(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world)
    key = state(volume_id).prefix + "IMAGES/1.tif"
    request(volume_id)
    during_page(monkeypatch, 2, lambda: clients.s3().delete_object(Bucket=world.bucket, Key=key))
    assert drain(volume_id).status == VolumeStatus.READY
    assert bodies(world, volume_id) == KEPT


def test_a_declared_file_that_is_deleted_ahead_of_the_listing_fails_the_volume(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume_id = upload(world)
    key = state(volume_id).prefix + "NATIVES/2.txt"
    request(volume_id)
    during_page(monkeypatch, 1, lambda: clients.s3().delete_object(Bucket=world.bucket, Key=key))
    found = drain(volume_id)
    assert (found.status, found.failure_code, found.imports) == (VolumeStatus.FAILED, "FILES_MISSING", [])
    assert "1 declared file is" in str(found.failure_message)
    assert "NATIVES/2.txt" in str(found.failure_message)
    put(world, volume_id, "NATIVES/2.txt", KEPT["NATIVES/2.txt"])
    assert run(volume_id).status == VolumeStatus.READY
    assert bodies(world, volume_id) == KEPT


def list_deaths(world: World) -> list[tuple[Step, Step]]:
    """A death before each statement and COMMIT of a listing, and one after each COMMIT."""
    volume_id = upload(world)
    request(volume_id)
    (message,) = work_messages()
    with at_every_step(world) as steps:
        listing.list_volume(volume_id, int(message["generation"]))
    before = [(at(step, kill), nothing) for step in range(1, steps.count + 1)]
    return before + [(nothing, at(step, kill)) for step in steps.commits]


@pytest.mark.slow
def test_a_worker_that_is_killed_at_any_step_leaves_a_listing_that_is_continued(
    world: World, small_pages: None
) -> None:
    expected: list[object] | None = None
    for death in list_deaths(world):
        volume_id = upload(world)
        generation = request(volume_id).generation
        with pytest.raises(KilledError), at_every_step(world, *death):
            listing.list_volume(volume_id, generation)
        found = drain(volume_id)
        assert (found.status, found.files, len(found.imports)) == (VolumeStatus.READY, len(KEPT), 1)
        paths: list[object] = [(row["file_no"], row["path"], row["size"]) for row in stored(world, volume_id)]
        expected = expected or paths
        assert paths == expected


def test_without_checkpoints_a_killed_listing_would_store_its_pages_twice(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: the guard is the position, which is moved in the transaction that stores the page."""
    volume_id = upload(world)
    generation = request(volume_id).generation
    monkeypatch.setattr(sealing, "_advance", lambda *_: None)
    pages = iter(range(1, 100))

    def killed(*arguments: object) -> VersionPage:
        if next(pages) == 2:
            raise KilledError
        return list_latest(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sealing, "list_latest", killed)
    with pytest.raises(KilledError):
        listing.list_volume(volume_id, generation)
    monkeypatch.setattr(sealing, "list_latest", list_latest)
    with pytest.raises(Exception, match="1062"):
        listing.list_volume(volume_id, generation)


def test_a_listing_that_runs_out_of_time_goes_on_with_a_new_message(
    world: World, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "build_deadline_check", lambda _: lambda: True)
    volume_id = upload(world)
    assert run(volume_id).status == VolumeStatus.READY
    assert bodies(world, volume_id) == KEPT


def test_an_object_with_many_versions_is_listed_once_across_pages(world: World, small_pages: None) -> None:
    volume_id = upload(world)
    for number in range(5):
        put(world, volume_id, "IMAGES/1.tif", b"image"[:number] + b"12345"[number:])
    version = put(world, volume_id, "IMAGES/1.tif", b"image")
    run(volume_id)
    assert [row["version_id"] for row in stored(world, volume_id) if row["path"] == "IMAGES/1.tif"] == [version]
    assert object_versions.PAGE == 2


@pytest.mark.parametrize("times", [2, 3])
def test_repeated_messages_list_a_volume_once(world: World, times: int) -> None:
    volume_id = upload(world)
    request(volume_id)
    (message,) = work_messages()
    for _ in range(times):
        listing.list_volume(volume_id, int(message["generation"]))
    assert len(state(volume_id).imports) == 1


def test_a_message_of_an_earlier_generation_has_no_effect(world: World) -> None:
    volume_id = upload(world)
    generation = request(volume_id).generation
    listing.list_volume(volume_id, generation - 1)
    assert state(volume_id).status == VolumeStatus.SEALED


def test_a_name_that_the_database_cannot_store_fails_the_volume(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "is_storable", lambda *_: False)
    volume_id = upload(world)
    put(world, volume_id, "NATIVES/\N{GRINNING FACE}.txt")
    found = run(volume_id)
    assert (found.failure_code, "Rename the file" in str(found.failure_message)) == ("ZIP_PATH", True)


def test_a_volume_of_a_suspended_tenant_is_listed_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "POSTPONED_S", 0)
    volume_id = upload(world)
    request(volume_id)
    world.query("REPLACE INTO tenants (tenant_id, status) VALUES (:tenant, 'suspended')", tenant=CALLER.tenant_id)
    for _ in range(10):
        (message,) = work_messages()
        assert process(message)
    assert state(volume_id).status is VolumeStatus.SEALED
    world.query("UPDATE tenants SET status = 'active'")
    assert drain(volume_id).status is VolumeStatus.READY
