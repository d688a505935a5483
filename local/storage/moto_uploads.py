"""moto's operations on uploads in parts, carried out on the storage: an upload goes on after a restart.

Guaranteed: an object of many parts consists of them, so that completing it copies nothing, whatever its size; a part
that was answered is there. An upload that has ended, or never began, gives NoSuchUpload.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import Any

import flask
from moto.s3 import models, notifications
from moto.s3.exceptions import EntityTooSmall, InvalidPart, MalformedXML, NoSuchUpload, S3ClientError
from moto.s3.utils import compute_checksum
from moto.utilities.utils import md5_hash

from local.storage.content import Content, checksum_content
from local.storage.crc32 import join_crc32
from local.storage.moto_objects import StoredObjects, as_method
from local.storage.part_checksums import encode_crc64nvme
from local.storage.request_bodies import take_body
from local.storage.storage import Segment
from local.storage.stored_keys import StoredKey, describe_part, describe_upload, write_time
from local.storage.uploads import Part, Upload, Uploads

_COMPLETED = notifications.S3NotificationEvent.OBJECT_CREATED_COMPLETE_MULTIPART_UPLOAD_EVENT
_MOST_PARTS = 10_000
_UPLOAD_OPERATIONS = (
    "create_multipart_upload",
    "upload_part",
    "upload_part_copy",
    "list_parts",
    "is_truncated",
    "complete_multipart_upload",
    "abort_multipart_upload",
    "list_multipart_uploads",
)


class BadDigestError(S3ClientError):
    """The whole object has not the checksum that the request states."""

    def __init__(self) -> None:
        super().__init__("BadDigest", "The checksum you specified did not match the calculated checksum.")


class StoredUploads:
    """The operations of moto's S3 backend, which they replace by `install`."""

    def __init__(self, objects: StoredObjects) -> None:
        self._objects, self._storage = objects, objects.storage
        self._index, self.uploads = self._storage.index, Uploads(self._storage)

    def install(self) -> None:
        """Replace moto's operations, in this process."""
        backend: Any = models.S3Backend
        for name in _UPLOAD_OPERATIONS:
            setattr(backend, name, as_method(getattr(self, name)))

    def create_multipart_upload(
        self,
        backend: Any,
        bucket_name: str,
        key_name: str,
        metadata: Any,
        storage_type: str,
        tags: dict[str, str] | None,
        _acl: object,
        sse_encryption: str | None,
        kms_key_id: str | None,
    ) -> Any:
        """Begin an upload and return it. Raises MissingBucket."""
        backend.get_bucket(bucket_name)
        facts = {
            "metadata": dict(metadata),
            "storage_class": storage_type,
            "tags": tags,
            "encryption": sse_encryption,
            "kms_key_id": kms_key_id,
        }
        upload = Upload(secrets.token_urlsafe(43), bucket_name, key_name, write_time(), facts)
        with self._index.transaction():
            self.uploads.add(upload)
        return describe_upload(upload)

    def upload_part(self, _backend: Any, bucket_name: str, multipart_id: str, part_id: int, value: bytes) -> Any:
        """Store the body of the request as a part."""
        body = take_body(self._storage, value)
        facts = {"crc32": body.crc32} | ({"sha256": base64.b64encode(body.sha256).decode()} if body.sha256 else {})
        part = Part(part_id, 0, body.size, body.md5, write_time(), facts)
        return self._put_part(bucket_name, multipart_id, part, [Segment(body.blob, 0, body.size)] if body.size else [])

    def upload_part_copy(
        self,
        backend: Any,
        dest_bucket_name: str,
        multipart_id: str,
        part_id: int,
        src_bucket_name: str,
        src_key_name: str,
        src_version_id: str | None,
        start_byte: int | None,
        end_byte: int | None,
    ) -> Any:
        """Store a range of an object as a part, whose bytes are not copied."""
        with self._index.transaction():
            self._index.begin()
            source = self._objects.get_object(backend, src_bucket_name, src_key_name, src_version_id)
            assert isinstance(source, StoredKey)  # noqa: S101 - the response has found it
            content = source.content
            if start_byte is not None and end_byte is not None:
                content = content[start_byte : end_byte + 1]
            part = Part(part_id, 0, len(content), content.md5(), write_time(), {})
            return self._put_part(dest_bucket_name, multipart_id, part, content.segments)

    def list_parts(
        self, _backend: Any, bucket_name: str, multipart_id: str, part_number_marker: int = 0, max_parts: int = 1000
    ) -> list[Any]:
        """Return a page of the parts."""
        self._find(bucket_name, multipart_id)
        return [describe_part(each) for each in self.uploads.list_parts(multipart_id, part_number_marker, max_parts)]

    def is_truncated(self, _backend: Any, _bucket_name: str, multipart_id: str, next_part_number_marker: int) -> bool:
        """Return whether parts follow after a number."""
        return bool(self.uploads.list_parts(multipart_id, next_part_number_marker, 1))

    def list_multipart_uploads(self, backend: Any, bucket_name: str) -> dict[str, Any]:
        """Return the uploads that have not ended. Raises MissingBucket."""
        backend.get_bucket(bucket_name)
        return {each.id: describe_upload(each) for each in self.uploads.list_of(bucket_name)}

    def abort_multipart_upload(self, _backend: Any, bucket_name: str, multipart_id: str) -> None:
        """Delete an upload with its parts."""
        with self._index.transaction():
            self._index.begin()
            self._find(bucket_name, multipart_id)
            self.uploads.delete(multipart_id)

    def complete_multipart_upload(
        self, backend: Any, bucket_name: str, multipart_id: str, body: Iterator[tuple[int, str]]
    ) -> StoredKey:
        """Make the object of the parts that the request names, and announce it."""
        named = list(body)
        with self._index.transaction():
            self._index.begin()
            upload = self._find(bucket_name, multipart_id)
            parts = _choose_parts(named, self.uploads.list_parts(multipart_id, 0, _MOST_PARTS))
            segments = [each for part in parts for each in self._storage.read_segments(part.content)]
            etag = md5_hash(b"".join(bytes.fromhex(part.etag) for part in parts)).hexdigest()
            facts = {name: value for name, value in upload.facts.items() if value} | {"upload": upload.id}
            facts["metadata"] = {}
            facts |= self._checksum(upload, parts)
            key = self._objects.add(backend, bucket_name, upload.name, segments, f"{etag}-{len(parts)}", facts)
            key.set_metadata(dict(upload.facts["metadata"]))
            self.uploads.delete(multipart_id)
            notifications.send_event(backend.account_id, _COMPLETED, backend.get_bucket(bucket_name), key)
        return key

    def list_checksums(self, bucket_name: str, multipart_id: str, numbers: Collection[int]) -> dict[int, str]:
        """Return the CRC-64/NVME of parts in Base64 by their number, computed when it is requested first.

        Empty for an upload whose client states checksums of another kind.
        """
        if self._find(bucket_name, multipart_id).facts["metadata"].get("x-amz-checksum-algorithm"):
            return {}
        parts = [part for part in self.uploads.list_parts(multipart_id) if part.number in numbers]
        # Half a second for 16 MB, without a lock.
        known = {part.number: part.facts.get("crc64nvme") or self._compute_crc64nvme(part) for part in parts}
        with self._index.transaction():
            for part in parts:
                if "crc64nvme" not in part.facts:
                    facts = {**part.facts, "crc64nvme": known[part.number]}
                    self.uploads.change_facts(multipart_id, part._replace(facts=facts))
        return known

    def _compute_crc64nvme(self, part: Part) -> str:
        return encode_crc64nvme(Content(self._storage.blobs, self._storage.read_segments(part.content)).read())

    def _put_part(self, bucket: str, upload: str, part: Part, segments: Sequence[Segment]) -> Any:
        with self._index.transaction():
            self._index.begin()
            self._find(bucket, upload)
            self.uploads.put_part(upload, part, segments)
        return describe_part(part)

    def _find(self, bucket: str, upload: str) -> Upload:
        found = self.uploads.find(bucket, upload)
        if found is None:
            raise NoSuchUpload(upload_id=upload)
        return found

    def _checksum(self, upload: Upload, parts: Sequence[Part]) -> dict[str, Any]:
        """Return the checksum of the object, by the algorithm and type that the upload began with."""
        metadata = upload.facts["metadata"]
        stated = {name.lower(): value for name, value in metadata.items()}
        algorithm = stated.get("x-amz-checksum-algorithm")
        if not algorithm:
            return {}
        kind = stated.get("x-amz-checksum-type") or ("FULL_OBJECT" if algorithm == "CRC64NVME" else "COMPOSITE")
        facts = {"checksum_algorithm": algorithm, "checksum_type": kind, "checksum_parts": len(parts)}
        if kind == "COMPOSITE":
            joined = b"".join(base64.b64decode(self._checksum_part(part, algorithm)) for part in parts)
            return {**facts, "checksum_value": compute_checksum(joined, algorithm).decode()}
        value = self._checksum_whole(parts, algorithm)
        if flask.request.headers.get(f"x-amz-checksum-{algorithm.lower()}", value) != value:
            raise BadDigestError
        return {**facts, "checksum_value": value}

    def _checksum_part(self, part: Part, algorithm: str) -> bytes:
        if algorithm == "CRC32" and "crc32" in part.facts:
            return base64.b64encode(int(part.facts["crc32"]).to_bytes(4))
        if algorithm == "SHA256" and "sha256" in part.facts:
            return str(part.facts["sha256"]).encode()
        content = Content(self._storage.blobs, self._storage.read_segments(part.content))
        return checksum_content(content, algorithm, compute_checksum)

    def _checksum_whole(self, parts: Sequence[Part], algorithm: str) -> str:
        if algorithm == "CRC32" and all("crc32" in part.facts for part in parts):
            crc = reduce(lambda crc, part: join_crc32(crc, int(part.facts["crc32"]), part.size), parts, 0)
            return base64.b64encode(crc.to_bytes(4)).decode()
        segments = [each for part in parts for each in self._storage.read_segments(part.content)]
        return checksum_content(Content(self._storage.blobs, segments), algorithm, compute_checksum).decode()


def _choose_parts(named: Sequence[tuple[int, str]], parts: Sequence[Part]) -> list[Part]:
    """Return the parts that a request names; raise as S3 does where one is missing, another, or too small."""
    stored = {part.number: part for part in parts}
    chosen = [stored.get(number) for number, _ in named]
    if not chosen:
        raise MalformedXML
    found = [part for part in chosen if part is not None]
    if len(found) < len(named) or any(p.etag != etag.strip('"') for p, (_, etag) in zip(found, named, strict=True)):
        raise InvalidPart
    if any(part.size < vars(models)["S3_UPLOAD_PART_MIN_SIZE"] for part in found[:-1]):
        raise EntityTooSmall
    return found
