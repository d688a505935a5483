"""moto's operations on objects, carried out on the storage.

Guaranteed: the response to a request that writes is sent after its transaction, with the messages that announce it, is
committed; a request that fails changes nothing. `If-None-Match: *` and the write are one step.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import flask
from moto.s3 import notifications, responses
from moto.s3.exceptions import BadRequest, InvalidTagError, MissingKey, PreconditionFailed
from moto.s3.models import S3Backend
from moto.s3.responses import S3Response

from local.storage.content import Content, checksum_content
from local.storage.request_bodies import take_body
from local.storage.storage import Segment, Storage
from local.storage.stored_keys import StoredKey, StoredMarker, write_time
from local.storage.versions import Version, Versions

_CREATED = notifications.S3NotificationEvent.OBJECT_CREATED_PUT_EVENT
_COPIED = notifications.S3NotificationEvent.OBJECT_CREATED_COPY_EVENT
_MOST_TAGS = 10
_OBJECT_OPERATIONS = (
    "put_object",
    "get_object",
    "copy_object",
    "delete_object",
    "delete_objects",
    "get_object_tagging",
    "put_object_tagging",
    "delete_object_tagging",
)


class StoredObjects:
    """The operations of moto's S3 backend, which they replace by `install`."""

    def __init__(self, storage: Storage) -> None:
        self.storage, self.versions = storage, Versions(storage)

    def install(self) -> None:
        """Replace moto's operations, in this process."""
        backend: Any = S3Backend
        for name in _OBJECT_OPERATIONS:
            setattr(backend, name, as_method(getattr(self, name)))
        response: Any = S3Response
        response._key_response = in_transaction(self.storage, response._key_response)
        response._bucket_response_delete_keys = in_transaction(self.storage, response._bucket_response_delete_keys)
        patched: Any = responses
        patched.compute_checksum = partial(_compute_checksum, patched.compute_checksum)

    def put_object(self, backend: Any, bucket_name: str, key_name: str, value: bytes, **given: Any) -> StoredKey:
        """Store the body of the request as a version; raises PreconditionFailed by If-None-Match."""
        body = take_body(self.storage, value)
        facts = {name: each for name, each in given.items() if each and name not in ("storage", "request_method")}
        facts["storage_class"] = given.get("storage") or "STANDARD"
        segments = [Segment(body.blob, 0, body.size)] if body.size else []
        key = self.add(backend, bucket_name, key_name, segments, body.md5, facts)
        notifications.send_event(backend.account_id, _CREATED, backend.get_bucket(bucket_name), key)
        return key

    def add(
        self, backend: Any, bucket_name: str, name: str, segments: list[Segment], etag: str, facts: dict[str, Any]
    ) -> StoredKey:
        """Add a version with these bytes, whose facts are stored as they are at the end of the request."""
        bucket = backend.get_bucket(bucket_name)
        with self.storage.index.transaction():
            self.storage.index.begin()
            earlier = self.versions.list_of(bucket_name, name)
            if flask.request.headers.get("If-None-Match") == "*" and earlier and earlier[0].content is not None:
                raise PreconditionFailed("If-None-Match")
            if not bucket.is_versioned:
                self.versions.delete(earlier)
            size = sum(segment.size for segment in segments)
            number = str(uuid.uuid4()) if bucket.is_versioned else "null"
            content = self.storage.add_content(segments)
            version = Version(0, name, number, content, size, etag, write_time(), facts)
            key = self.read(backend, bucket, self.versions.add(bucket_name, version), segments)
            self.storage.index.before_commit(lambda: self.versions.change_facts(key.seq, key.describe()))
            return key

    def get_object(
        self,
        backend: Any,
        bucket_name: str,
        key_name: str,
        version_id: str | None = None,
        part_number: int | None = None,
        return_delete_marker: bool = False,
    ) -> StoredKey | StoredMarker | None:
        """Return a version, or one of its parts; None where there is none, or only a marker."""
        bucket, copied = backend.get_bucket(bucket_name), flask.g.get("copied")
        if copied and version_id is None and (copied.bucket_name, copied.name) == (bucket_name, key_name):
            return copied  # type: ignore[no-any-return]
        version = self.versions.find(bucket_name, key_name, version_id)
        if version is None or version.content is None:
            return StoredMarker(version) if version and return_delete_marker else None
        key = self.read(backend, bucket, version)
        return _cut_part(key, int(part_number)) if part_number and key.multipart else key

    def copy_object(
        self, backend: Any, src_key: StoredKey, dest_bucket_name: str, dest_key_name: str, **given: Any
    ) -> None:
        """Store a version with the bytes of another, which are not copied. Raises MissingKey if it was just deleted."""
        etag = src_key.content.md5() if "-" in src_key.etag else src_key.etag.strip('"')
        facts = src_key.describe()
        facts.pop("upload", None)
        if facts.pop("checksum_type", None) == "COMPOSITE":
            # It is one of the parts' checksums, and the copy has no parts.
            facts = {name: each for name, each in facts.items() if not name.startswith("checksum_")}
        if given.get("mdirective") == "REPLACE":
            facts["metadata"] = {}
        facts["storage_class"] = given.get("storage") or "STANDARD"
        with self.storage.index.transaction():
            self.storage.index.begin()
            # The bytes may have been deleted since the version was found.
            if self.versions.find(src_key.bucket_name or "", src_key.name, src_key.version_id) is None:
                raise MissingKey(key=src_key.name)
            key = self.add(backend, dest_bucket_name, dest_key_name, list(src_key.content.segments), etag, facts)
            if given.get("mdirective") == "REPLACE":
                key.set_metadata(dict(given.get("metadata") or {}))
            # The response changes the object that it finds, which must be this one.
            flask.g.copied = key
            notifications.send_event(backend.account_id, _COPIED, backend.get_bucket(dest_bucket_name), key)

    def delete_object(
        self, backend: Any, bucket_name: str, key_name: str, version_id: str | None = None, **_: Any
    ) -> tuple[bool, dict[str, Any]]:
        """Delete a version, or put a marker before the versions of a name; of an unversioned bucket, the object."""
        bucket = backend.get_bucket(bucket_name)
        with self.storage.index.transaction():
            self.storage.index.begin()
            found = self.versions.list_of(bucket_name, key_name)
            if not found:
                return False, {}
            if version_id is None and bucket.is_versioned:
                marker = Version(0, key_name, str(uuid.uuid4()), None, 0, "", write_time(), {})
                self.versions.add(bucket_name, marker)
                return True, {"version-id": marker.version, "delete-marker": "true"}
            doomed = [each for each in found if version_id in (None, each.version)]
            self.versions.delete(doomed)
        if version_id is None:
            return True, {}
        was_marker = any(each.content is None for each in doomed)
        return True, {"version-id": version_id} | ({"delete-marker": "true"} if was_marker else {})

    def delete_objects(
        self, backend: Any, bucket_name: str, objects: list[dict[str, Any]], _bypass: object = None
    ) -> tuple[list[tuple[str, str | None, str | None]], list[str]]:
        """Delete the objects in one transaction."""
        deleted = []
        with self.storage.index.transaction():
            for each in objects:
                name, version = each["Key"], each.get("VersionId")
                _, meta = self.delete_object(backend, bucket_name, name, version)
                deleted.append((name, version, None if version else meta.get("version-id")))
        return deleted, []

    def get_object_tagging(self, _backend: Any, key: StoredKey) -> dict[str, list[dict[str, str]]]:
        """Return the tags of a version."""
        return {"Tags": [{"Key": name, "Value": value} for name, value in key.tags.items()]}

    def put_object_tagging(self, backend: Any, key: StoredKey, tags: dict[str, str] | None) -> StoredKey:
        """Replace the tags of a version. Raises BadRequest and InvalidTagError as S3 does."""
        if len(tags or {}) > _MOST_TAGS:
            raise BadRequest("Object tags cannot be greater than 10")
        if any(name.startswith("aws") for name in tags or {}):
            raise InvalidTagError("Your TagKey cannot be prefixed with aws:")
        if error := backend.tagger.validate_tags(backend.tagger.convert_dict_to_tags_input(tags)):
            raise InvalidTagError(error)
        if dict(tags or {}) != key.tags:
            key.tags = dict(tags or {})
            with self.storage.index.transaction():
                self.versions.change_facts(key.seq, key.describe())
        return key

    def delete_object_tagging(
        self, backend: Any, bucket_name: str, key_name: str, version_id: str | None = None
    ) -> None:
        """Delete the tags of a version."""
        key = self.get_object(backend, bucket_name, key_name, version_id)
        if isinstance(key, StoredKey):
            self.put_object_tagging(backend, key, {})

    def read(self, backend: Any, bucket: Any, version: Version, segments: list[Segment] | None = None) -> StoredKey:
        if segments is None:
            segments = self.storage.read_segments(version.content or 0)
        known = {}
        if version.facts.get("checksum_type") != "COMPOSITE":
            known = {version.facts.get("checksum_algorithm"): version.facts.get("checksum_value")}
        return StoredKey(backend, bucket, version, Content(self.storage.blobs, segments, known))


def in_transaction(storage: Storage, handle: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler of requests whose changes are committed before its response is sent."""

    def handled(*args: Any, **kwargs: Any) -> Any:
        with storage.index.transaction():
            return handle(*args, **kwargs)

    return handled


def as_method(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return the operation as a method of moto's backend."""

    def method(backend: Any, *args: Any, **kwargs: Any) -> Any:
        return operation(backend, *args, **kwargs)

    return method


def _cut_part(key: StoredKey, number: int) -> StoredKey:
    with suppress(IndexError):
        key.content = key.content.cut(number)
        key.contentsize = len(key.content)
    return key


def _compute_checksum(fallback: Callable[..., bytes], body: Any, algorithm: str, *rest: Any, **named: Any) -> bytes:
    if isinstance(body, Content):
        return checksum_content(body, algorithm, fallback)
    return fallback(body, algorithm, *rest, **named)
