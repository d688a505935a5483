"""What expires goes, with its bytes; what a rule does not name stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from local.storage.lifecycle import Lifecycle
from local.storage.storage import Segment, Storage
from local.storage.uploads import Part, Upload, Uploads
from local.storage.versions import Version, Versions

BUCKET = "bucket"
RULE = {"prefix": "exports/", "days": 7, "noncurrent_days": 1, "upload_days": None}


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = Storage(tmp_path / "objects")
    yield opened
    opened.close()


def put(storage: Storage, name: str, day: int) -> None:
    body = storage.blobs.write(b"bytes")
    with storage.index.transaction():
        content = storage.add_content([Segment(body.blob, 0, body.size)])
        version = Version(0, name, str(uuid4()), content, body.size, body.md5, f"2026-01-{day:02}T12:00:00.000000", {})
        Versions(storage).add(BUCKET, version)


def expire(storage: Storage, day: int, **rule: object) -> None:
    Lifecycle(storage, BUCKET, [RULE | rule]).apply(f"2026-01-{day:02}T13:00:00.000000")


def list_names(storage: Storage) -> list[str]:
    return [version.name for version in Versions(storage).walk_latest(BUCKET, "", "")]


def count_files(storage: Storage) -> int:
    return sum(path.is_file() for path in (storage.blobs.folder / "blobs").rglob("*"))


@pytest.mark.parametrize(("day", "kept"), [(8, ["exports/old", "imports/old"]), (9, ["imports/old"])])
def test_an_object_expires_after_the_days_of_its_prefix(storage: Storage, day: int, kept: list[str]) -> None:
    put(storage, "exports/old", 2)
    put(storage, "imports/old", 2)
    expire(storage, day)
    assert list_names(storage) == kept


def test_a_superseded_version_goes_with_its_bytes_and_the_latest_stays(storage: Storage) -> None:
    put(storage, "exports/file", 1)
    put(storage, "exports/file", 3)
    expire(storage, 3)
    assert count_files(storage) == 2
    expire(storage, 4)
    assert (count_files(storage), list_names(storage)) == (1, ["exports/file"])


def test_of_an_expired_object_nothing_is_left_in_the_end(storage: Storage) -> None:
    put(storage, "exports/old", 1)
    expire(storage, 9)
    # The marker is of now, not of the rule's clock.
    Lifecycle(storage, BUCKET, [RULE]).apply("9000-01-01T00:00:00.000000")
    Lifecycle(storage, BUCKET, [RULE]).apply("9000-01-02T00:00:00.000000")
    assert (count_files(storage), Versions(storage).list_of(BUCKET, "exports/old")) == (0, [])


@pytest.mark.parametrize(("day", "files"), [(8, 1), (9, 0)])
def test_an_upload_that_was_not_completed_is_aborted(storage: Storage, day: int, files: int) -> None:
    uploads, body = Uploads(storage), storage.blobs.write(b"part")
    with storage.index.transaction():
        uploads.add(Upload("id", BUCKET, "imports/file", "2026-01-02T12:00:00.000000", {}))
        uploads.put_part("id", Part(1, 0, 4, body.md5, "", {}), [Segment(body.blob, 0, body.size)])
    expire(storage, day, prefix="", upload_days=7)
    assert (count_files(storage), len(uploads.list_of(BUCKET))) == (files, files)
