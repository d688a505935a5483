"""Uploads: their S3 keys, their parts, and the upload that an S3 event notification describes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple
from unicodedata import category
from urllib.parse import unquote_plus

from core.errors import InvalidInputError, UploadRefusedError

PREFIX = "imports"
# S3 reports no upload under it: the import is created by the request.
CORRECTIONS = "corrections"
PARTS = 5
MAX_KEY_BYTES = 1_024
MAX_TENANT_CHARACTERS, MAX_CASE_CHARACTERS = 64, 255


@dataclass(frozen=True)
class Upload:
    """One version of one object under imports/<tenant>/<case>/<upload id>/<file>; `size` in bytes."""

    bucket: str
    key: str
    version_id: str | None
    etag: str | None
    sequencer: str | None
    size: int
    tenant_id: str
    case_name: str
    upload_id: str
    file_name: str

    @property
    def upload_key(self) -> bytes:
        """32 bytes that are the same for every event of this version of the object, and for no other.

        A hash, because an index over the names would fold case, exceed the size limit of an index, and treat NULL
        versions as different. In a bucket without versions, ETag and sequencer distinguish one put from the next.
        """
        return build_upload_key(self.bucket, self.key, self.version_id, self.etag, self.sequencer)


def build_upload_key(
    bucket: str, key: str, version_id: str | None, etag: str | None, sequencer: str | None = None
) -> bytes:
    """Return the 32 bytes that stand for one version of an object; see `Upload.upload_key`."""
    version = [version_id] if version_id else ["", etag or "", sequencer or ""]
    return hashlib.sha256("\0".join([bucket, key, *version]).encode()).digest()


class FilePart(NamedTuple):
    """A part of a multipart upload: its number from 1, its first byte in the file, its size in bytes."""

    number: int
    first_byte: int
    size: int


def build_object_key(tenant_id: str, case_name: str, upload_id: str, file_name: str) -> str:
    """Return the key under which a file is uploaded.

    Raises InvalidInputError if a name is `.` or `..`, or the key is longer than S3 allows.
    """
    parts = (tenant_id, case_name, upload_id, file_name)
    if any(part in (".", "..") for part in parts):
        raise InvalidInputError(
            "A case or file cannot be named . or .., which HTTP clients treat as folders; rename it."
        )
    key = "/".join((PREFIX, *parts))
    size = len(key.encode())
    if size > MAX_KEY_BYTES:
        raise InvalidInputError(
            f"The names of case and file are too long: the object's key would have {size} bytes of UTF-8, and the "
            f"limit is {MAX_KEY_BYTES}; shorten one of them."
        )
    return key


def build_correction_key(tenant_id: str, day: date, name: str) -> str:
    """Return the key of a correction's object; `name` is random, so that no two requests share one."""
    return f"{build_day_prefix(day)}{tenant_id}/{name}.jsonl"


def build_day_prefix(day: date) -> str:
    """Return the common prefix of the objects of a day."""
    return f"{CORRECTIONS}/{day.isoformat()}/"


def build_placeholder_key(upload_id: str) -> bytes:
    """Return 32 bytes that replace the key of an upload until it arrives; no upload has this key."""
    return hashlib.sha256(f"awaited\0{upload_id}".encode()).digest()


def build_options_key(key: str) -> str:
    """Return the key of the options file of the load file with that key.

    It includes tenant and case, because the uploader chooses the upload's id and two uploaders may choose the same one.
    """
    tenant, case, upload_id = key.split("/", PARTS - 1)[1:4]
    return f"options/{tenant}/{case}/{upload_id}.json"


def split_parts(size: int, part_bytes: int) -> list[FilePart]:
    """Return the parts of a file of `size` bytes: `part_bytes` each, and the rest in the last one."""
    starts = range(0, size, part_bytes)
    return [FilePart(number, at, min(part_bytes, size - at)) for number, at in enumerate(starts, start=1)]


def parse_upload(record: Mapping[str, Any]) -> Upload | None:
    """Return the upload of a notification's record, or None for a folder marker or an event of another type.

    Raises UploadRefusedError for a key that does not name tenant, case, upload and file.
    """
    if not str(record.get("eventName", "")).startswith("ObjectCreated"):
        return None
    stored = record["s3"]["object"]
    key = unquote_plus(stored["key"])
    if key.endswith("/"):
        return None
    tenant, case, upload_id, file_name = _parse_key(key)
    version = stored.get("versionId")
    return Upload(
        bucket=record["s3"]["bucket"]["name"],
        key=key,
        version_id=None if version in (None, "null") else version,
        etag=stored.get("eTag"),
        sequencer=stored.get("sequencer"),
        size=int(stored.get("size", 0)),
        tenant_id=tenant,
        case_name=case,
        upload_id=upload_id,
        file_name=file_name,
    )


def _parse_key(key: str) -> list[str]:
    """Return tenant, case, upload id and file name of a key. Raises UploadRefusedError with the reason."""
    parts = key.split("/", PARTS - 1)
    if len(parts) != PARTS or parts[0] != PREFIX:
        raise UploadRefusedError()
    for kind, name in zip(("tenant", "case", "upload id", "file"), parts[1:], strict=True):
        if error := name_error(kind, name):
            raise UploadRefusedError(f"The {kind} in the object's key {error}; upload it under another key.")
    return parts[1:]


def find_tenant(key: str) -> str:
    """Return the tenant under whose prefix an object lies, also if the rest of its key is refused; else empty."""
    prefix, _, rest = key.partition("/")
    tenant, slash, _ = rest.partition("/")
    return tenant if prefix == PREFIX and slash and name_error("tenant", tenant) is None else ""


def name_error(kind: str, name: str) -> str | None:
    """Return why a tenant, case, upload id or file cannot have this name, as the predicate of a sentence, or None.

    MySQL ignores trailing spaces when it compares names, and HTTP clients treat . and .. as folders.
    """
    limit = {"tenant": MAX_TENANT_CHARACTERS, "case": MAX_CASE_CHARACTERS}.get(kind)
    kinds = set(map(category, name))
    if name in ("", ".", ".."):
        return f"is {name or 'empty'}"
    if "Cs" in kinds:
        return "is not valid UTF-8"
    if "Cc" in kinds:
        return "has a control character, such as a line break or tab"
    if name != name.strip():
        return "begins or ends with a space"
    return f"has {len(name)} characters; the limit is {limit}" if limit and len(name) > limit else None
