"""Where an upload goes, an S3 notification's record to the upload it tells of, and the identity of that upload."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import category
from urllib.parse import unquote_plus

from core.errors import InvalidInputError, UploadRefusedError

PREFIX = "imports"
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

        A hash, because an index over the names would fold case, exceed what an index can hold, and treat versions
        that are NULL as different. Without versions, ETag and sequencer tell one put from the next.
        """
        version = [self.version_id] if self.version_id else ["", self.etag or "", self.sequencer or ""]
        return hashlib.sha256("\0".join([self.bucket, self.key, *version]).encode()).digest()

    @property
    def options_key(self) -> str:
        """Where the uploader may have put the options, before the file."""
        return options_key(self.key)


class Part(NamedTuple):
    """A part of an upload: its number from 1, where it begins in the file, its size in bytes."""

    number: int
    first_byte: int
    size: int


def object_key(tenant_id: str, case_name: str, upload_id: str, file_name: str) -> str:
    """Where a file is to be uploaded; raises InvalidInputError for names of which no key can be made."""
    parts = (tenant_id, case_name, upload_id, file_name)
    if any(part in (".", "..") for part in parts):
        raise InvalidInputError("a case or file cannot be named . or .., which HTTP clients take for folders")
    key = "/".join((PREFIX, *parts))
    size = len(key.encode())
    if size > MAX_KEY_BYTES:
        raise InvalidInputError(
            f"the names of case and file are too long together: the object's key would have {size} bytes of UTF-8; "
            f"the most is {MAX_KEY_BYTES}"
        )
    return key


def awaited_key(upload_id: str) -> bytes:
    """32 bytes in place of the key of an upload that has not come yet; no upload has them."""
    return hashlib.sha256(f"awaited\0{upload_id}".encode()).digest()


def options_key(key: str) -> str:
    """Where the uploader may have put the options of the file with that key, before the file.

    Under the tenant and the case too: an upload's id is whatever its uploader calls it, and another's may be called so.
    """
    tenant, case, upload_id = key.split("/", PARTS - 1)[1:4]
    return f"options/{tenant}/{case}/{upload_id}.json"


def parts_of(size: int, part_bytes: int) -> list[Part]:
    """A file's parts, of `part_bytes` each but for the last."""
    starts = range(0, size, part_bytes)
    return [Part(number, at, min(part_bytes, size - at)) for number, at in enumerate(starts, start=1)]


def parse_upload(record: Mapping[str, Any]) -> Upload | None:
    """The upload of a notification's record; None for what is no file (a folder's marker, another event).

    Raises UploadRefusedError for a key that does not name tenant, case, upload and file.
    """
    if not str(record.get("eventName", "")).startswith("ObjectCreated"):
        return None
    stored = record["s3"]["object"]
    key = unquote_plus(stored["key"])
    if key.endswith("/"):
        return None
    parts = key.split("/", PARTS - 1)
    if len(parts) != PARTS or parts[0] != PREFIX or not all(map(_is_name, parts[1:])):
        raise UploadRefusedError()
    tenant, case, upload_id, file_name = parts[1:]
    if len(tenant) > MAX_TENANT_CHARACTERS or len(case) > MAX_CASE_CHARACTERS:
        raise UploadRefusedError("the tenant or case in the object's key is too long")
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


def _is_name(part: str) -> bool:
    """Not blank nor taken for a folder, without control characters, and without spaces around it, which the database
    would not compare.
    """
    return (
        part not in ("", ".", "..")
        and part == part.strip()
        and not any(category(character) == "Cc" for character in part)
    )
