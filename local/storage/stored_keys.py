"""Stored versions, parts and uploads in the form that moto's responses read.

Each is made for one request: nothing of an object stays in memory, and moto's list of all instances is left out.
"""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

from moto.s3.models import FakeDeleteMarker, FakeKey, get_canned_acl
from moto.utilities.utils import LowercaseDict
from requests.structures import CaseInsensitiveDict

from local.storage.content import Content
from local.storage.uploads import Part, Upload
from local.storage.versions import Version

# What a version states beside its metadata and tags: the names of the attributes of moto's objects.
_STATED = (
    "checksum_algorithm",
    "checksum_value",
    "checksum_type",
    "checksum_parts",
    "encryption",
    "kms_key_id",
    "bucket_key_enabled",
    "website_redirect_location",
)
_PRIVATE = get_canned_acl("private")


class StoredKey(FakeKey):
    """A version of an object, or a part of it."""

    def __new__(cls, *_: Any, **__: Any) -> StoredKey:
        # Else moto keeps every object that it has ever seen.
        return object.__new__(cls)

    def __init__(self, backend: Any, bucket: Any, version: Version, content: Content) -> None:
        self.seq = version.seq
        self.name, self.bucket_name = version.name, bucket.name
        self.account_id, self.region_name, self.partition = backend.account_id, backend.region_name, bucket.partition
        self.last_modified = read_time(version.created)
        self.acl = _PRIVATE
        self.content = content
        self.contentsize, self._etag = version.size, version.etag
        self._version_id, self._is_versioned = version.version, version.version != "null"
        self._storage_class, self._expiry = version.facts.get("storage_class", "STANDARD"), None
        self.lock_mode = self.lock_legal_status = self.lock_until = None
        for name in _STATED:
            setattr(self, name, version.facts.get(name))
        self.tags: dict[str, str] = dict(version.facts.get("tags", {}))
        self.upload: str | None = version.facts.get("upload")
        self._metadata = LowercaseDict({"Content-Type": "binary/octet-stream"} | version.facts.get("metadata", {}))
        self.multipart: Any = self._describe_parts() if self.upload else None
        self.is_latest = False

    @property
    def value(self) -> Content:  # type: ignore[override]
        """What is sent of the object, in place of its bytes."""
        return self.content

    @property
    def response_dict(self) -> dict[str, Any]:
        """The headers of a response, with the count of the tags."""
        tagged = {"x-amz-tagging-count": str(len(self.tags))} if self.tags else {}
        return super().response_dict | tagged

    def describe(self) -> dict[str, Any]:
        """Return the facts that the index keeps."""
        stated = {name: value for name in _STATED if (value := getattr(self, name)) is not None}
        stated |= {"upload": self.upload} if self.upload else {}
        stated |= {"tags": self.tags} if self.tags else {}
        return {**stated, "storage_class": self._storage_class, "metadata": dict(self._metadata)}

    def dispose(self, garbage: bool = False) -> None:
        """Do nothing: no file is open."""

    def _describe_parts(self) -> SimpleNamespace:
        return SimpleNamespace(id=self.upload, partlist=list(range(1, len(self.content.segments) + 1)))


class StoredMarker(FakeDeleteMarker):
    """A delete marker."""

    def __new__(cls, *_: Any, **__: Any) -> StoredMarker:
        return object.__new__(cls)

    def __init__(self, version: Version) -> None:
        self.seq, self.name = version.seq, version.name
        self.last_modified = read_time(version.created)
        self._version_id = version.version
        self.is_latest = False


def describe_part(part: Part) -> SimpleNamespace:
    """Return a part as the response of ListParts and UploadPart reads it."""
    modified = read_time(part.created)
    etag = f'"{part.etag}"'
    return SimpleNamespace(
        name=part.number,
        etag=etag,
        size=part.size,
        last_modified=modified,
        last_modified_ISO8601=modified.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        response_dict={"ETag": etag},
    )


def describe_upload(upload: Upload) -> SimpleNamespace:
    """Return an upload as the responses read it."""
    return SimpleNamespace(
        id=upload.id, key_name=upload.name, metadata=CaseInsensitiveDict(upload.facts.get("metadata", {}))
    )


def read_time(text: str) -> datetime.datetime:
    """Return a stored time as moto has it: UTC, without a zone."""
    return datetime.datetime.fromisoformat(text)


def write_time() -> str:
    """Return the current time as it is stored."""
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
