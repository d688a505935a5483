"""Volumes without what makes each file one object, each part count once, and each document have the last pages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sqlalchemy import text

from tests.torture.protections.overlays import at_current_version, read_exhibits
from tests.torture.protections.switch import OR_NO_END, Switch, instead, swap, take_any, there

_UNITS, _IMPORT_ROWS, _IMAGES = "shell.volumes.units", "shell.volumes.import_rows", "shell.imports.images"


def _entry_once() -> None:
    def put(bucket: str, key: str, data: bytes, sha256: bytes) -> Any:
        stored = there("shell.aws.new_objects:s3")().put_object(Bucket=bucket, Key=key, Body=data)
        etag = stored["ETag"].strip('"')
        return there("shell.aws.new_objects:StoredObject")(stored.get("VersionId"), etag, len(data), sha256)

    instead(f"{_UNITS}:put_new", put)


def _unit_lock() -> None:
    """For every worker with a message of a part, the part is pending."""
    take_any("shell.volumes.pending_work:UNITS")
    instead(f"{_UNITS}:_UNIT", text("SELECT 'pending'"))


def _pages_lock() -> None:
    """Decide from what is read without locks; an entry of the history gets the version that the exhibit has by then."""
    instead(f"{_IMAGES}.decisions:lock_exhibits", read_exhibits)
    swap(f"{_IMAGES}.writer:write_entries", at_current_version)


def _images_wait() -> None:
    at_once = there(f"{_IMPORT_ROWS}:ImportStatus").SPLITTING
    instead(f"{_IMPORT_ROWS}:ImportStatus", SimpleNamespace(SPLITTING=at_once, WAITING=at_once))


OF_VOLUMES = {
    "entry-once": Switch(
        "an entry of a zip is put though its object exists", "volumes.units, aws.new_objects", _entry_once
    ),
    "unit-lock": Switch(
        "the row of a part of a zip is neither locked nor read before the part is counted",
        "work.units, volumes.units",
        _unit_lock,
        shows_as=OR_NO_END,
    ),
    "pages-lock": Switch(
        "pages replace others that were read without the lock of their exhibit",
        "imports.images.decisions, imports.images.page_store",
        _pages_lock,
        why="the primary key of the history, which refuses a version twice",
    ),
    "images-wait": Switch(
        "the images of a volume are imported without waiting for its rows",
        "volumes.import_rows, imports.state.dependents",
        _images_wait,
    ),
}
