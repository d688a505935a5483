"""Importing identical images again, from another volume, changes nothing; other images, or lost ones, are replaced."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from shell.aws import clients
from tests.support.application.driver import World
from tests.support.imports.image_load_files import DAT, IMAGES, OPT, results
from tests.support.volumes.volume_imports import import_volume, put_volume

PATH = "DATA/images.opt"
FILES = {**IMAGES, PATH: OPT}
STATE = "SELECT control_number, version, page_set_id FROM exhibits ORDER BY 1"
PLACES = (
    "SELECT f.id, CONCAT(v.prefix, f.path) AS k, f.version_id FROM volume_files f JOIN volumes v ON v.id = f.volume_id"
)
HISTORY = "SELECT COUNT(*) FROM exhibit_changes"


def import_images(
    world: World, files: Mapping[str, bytes] = FILES, *, hashed: bool = True, mode: str = "overlay"
) -> int:
    """Import the images as a volume of their own."""
    return import_volume(world, put_volume(world, files, hashed=hashed), PATH, mode=mode)


@pytest.mark.parametrize("mode", ["append", "overlay"])
def test_identical_images_of_another_volume_leave_every_document_as_it_is(world: World, mode: str) -> None:
    world.run(DAT)
    import_images(world)
    before = world.query(STATE), world.query(HISTORY)
    assert results(world, import_images(world, mode=mode)) == ("completed", 3, 0, 0, 3, 0)
    assert (world.query(STATE), world.query(HISTORY)) == before


def test_an_image_with_other_bytes_of_the_same_size_replaces_the_pages_of_its_document(world: World) -> None:
    world.run(DAT)
    import_images(world)
    changed = import_images(world, {**FILES, "IMAGES/3.jpg": b"IMAGE"})
    assert results(world, changed) == ("completed", 3, 0, 1, 2, 0)


def test_images_that_are_not_in_the_bucket_any_more_are_replaced(world: World) -> None:
    world.run(DAT)
    import_images(world)
    for row in world.query(PLACES):
        clients.s3().delete_object(Bucket=world.bucket, Key=row.k, VersionId=row.version_id)
    assert results(world, import_images(world)) == ("completed", 3, 0, 3, 0, 0)


@pytest.mark.parametrize("checksum", [False, True])
def test_images_without_a_hash_are_compared_by_the_checksum_of_s3(world: World, checksum: bool) -> None:
    world.run(DAT)
    import_images(world, hashed=False)
    volume = put_volume(world, FILES, hashed=False)
    for row in world.query(PLACES):
        digest = base64.b64encode(hashlib.sha256(b"image").digest()).decode()
        stated: Any = (
            {"ChecksumAlgorithm": "SHA256", "ChecksumSHA256": digest} if checksum and "IMAGES" in row.k else {}
        )
        body = clients.s3().get_object(Bucket=world.bucket, Key=row.k)["Body"].read()
        put = clients.s3().put_object(Bucket=world.bucket, Key=row.k, Body=body, **stated)
        world.query("UPDATE volume_files SET version_id = :v WHERE id = :id", v=put["VersionId"], id=row.id)
    again = import_volume(world, volume, PATH, mode="overlay")
    assert results(world, again)[3:5] == ((0, 3) if checksum else (3, 0))
