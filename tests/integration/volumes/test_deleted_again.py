"""What is put into a volume after its deletion, with a URL that was given before or by a worker, is deleted too."""

from __future__ import annotations

from typing import Any

import pytest

from core.statuses import VolumeStatus
from shell.aws import clients
from shell.maintenance.purge import purge_expired
from shell.volumes.commands import delete_volume
from tests.integration.volumes.volume_requests import (
    CALLER,
    committed,
    drain,
    process,
    put,
    request,
    state,
    upload,
    upload_zip,
    versions,
    work_messages,
)
from tests.support.application.driver import World


def put_later(world: World, volume_id: int) -> None:
    """Use URLs that were given before: of a file, or of the zip."""
    key = world.query(
        "SELECT COALESCE(archive_key, CONCAT(prefix, 'late.txt')) FROM volumes WHERE id = :v", v=volume_id
    )
    clients.s3().put_object(Bucket=world.bucket, Key=key[0][0], Body=b"late")


def objects(world: World) -> int:
    """How many versions the bucket has."""
    return len(clients.s3().list_object_versions(Bucket=world.bucket).get("Versions", []))


@pytest.mark.parametrize("send", [upload, upload_zip])
@pytest.mark.parametrize("look", ["purge", "delete"])
def test_what_is_uploaded_after_a_deletion_is_deleted_too(world: World, send: Any, look: str) -> None:
    volume_id = send(world)
    before = objects(world)
    committed(delete_volume, CALLER, volume_id)
    drain(volume_id)
    left = objects(world)
    put_later(world, volume_id)
    purge_expired()
    drain(volume_id)
    # The URLs live, so that it is too early; without another look the object would stay.
    assert objects(world) == left + 1 <= before
    if look == "purge":
        world.query("UPDATE volumes SET finished_at = NOW(6) - INTERVAL :age SECOND", age=3_600 + 900)
        purge_expired()
    else:
        assert committed(delete_volume, CALLER, volume_id).status == VolumeStatus.DELETED
    assert drain(volume_id).status == VolumeStatus.DELETED
    assert objects(world) == left
    world.query("UPDATE volumes SET finished_at = finished_at - INTERVAL 28 HOUR")
    purge_expired()
    assert work_messages() == []


def test_a_volume_that_is_expanded_is_deleted_at_once_and_so_is_what_a_worker_writes_then(world: World) -> None:
    volume_id = upload_zip(world)
    request(volume_id)
    assert process(*work_messages())
    (unit,) = work_messages()
    committed(delete_volume, CALLER, volume_id)
    (deletion_message,) = work_messages()
    assert process(deletion_message)
    assert state(volume_id).status == VolumeStatus.DELETED
    put(world, volume_id, "NATIVES/1.txt")
    assert process(unit)
    world.query("UPDATE volumes SET finished_at = NOW(6) - INTERVAL 2 HOUR")
    purge_expired()
    assert drain(volume_id).status == VolumeStatus.DELETED
    assert versions(world, volume_id) == {}
