"""An S3 notification's record to the upload it tells of, and the identity of that upload."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import category
from urllib.parse import unquote_plus

from core.errors import UploadRefusedError

PREFIX = "imports"
PARTS = 5
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
        return f"options/{self.upload_id}.json"


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
    """Not blank, without control characters, and without spaces around it, which the database would not compare."""
    return bool(part) and part == part.strip() and not any(category(character) == "Cc" for character in part)
