"""The objects of a tenant: every version under its prefixes, with size and checksum.

Guaranteed: a version is equal to another if both have the same key, version id, size, and either the checksum that S3
stores or, where it stores none, the SHA-256 of the bytes. The ETag is no proof: it changes when a copy is encrypted
with another key. Not guaranteed: tags and metadata, which S3 Batch Replication keeps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple, TypeVar

from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.tenant_rows import TenantRows

# What lies under the tenant's name. `previews/` and `splits/` are deleted by rules of the bucket, and belong to work
# that has ended.
_BY_TENANT = ("imports", "options", "files", "volumes", "archives", "texts", "exports")
_BY_DAY = "corrections/"
_BY_ID = {"imports": "reports", "productions": "productions"}
_CHECKSUMS = ("SHA256", "SHA1", "CRC64NVME", "CRC32C", "CRC32")
_AT_ONCE, _PAGE = 16, 1_000
_T = TypeVar("_T")
_R = TypeVar("_R")
READ, MARKER = "bytes", "delete-marker"
_BLOCK = 8_000_000


class ObjectVersion(NamedTuple):
    """A version; `checksum` is an algorithm and what S3 states, or READ and the SHA-256 of the bytes, or MARKER."""

    key: str
    version_id: str
    size: int
    etag: str
    checksum: str


def list_prefixes(stack: Stack, rows: TenantRows) -> Iterator[str]:
    """Yield the prefixes under which a tenant has objects."""
    yield from (f"{folder}/{rows.tenant}/" for folder in _BY_TENANT)
    pages = stack.s3.get_paginator("list_objects_v2").paginate(Bucket=stack.bucket, Prefix=_BY_DAY, Delimiter="/")
    for page in pages:
        yield from (f"{day['Prefix']}{rows.tenant}/" for day in page.get("CommonPrefixes", []))
    for table, folder in _BY_ID.items():
        yield from (f"{folder}/{number}/" for number in rows.list_ids(table))


def list_versions(stack: Stack, prefix: str) -> Iterator[ObjectVersion]:
    """Yield the versions and delete markers under a prefix, without checksums."""
    pages = stack.s3.get_paginator("list_object_versions").paginate(Bucket=stack.bucket, Prefix=prefix)
    for page in pages:
        for each in page.get("Versions", []):
            yield ObjectVersion(each["Key"], each["VersionId"], each["Size"], each["ETag"].strip('"'), "")
        for each in page.get("DeleteMarkers", []):
            yield ObjectVersion(each["Key"], each["VersionId"], 0, "", MARKER)


def list_uploads(stack: Stack, rows: TenantRows) -> Iterator[str]:
    """Yield the keys of uploads in parts that are neither completed nor aborted."""
    pages = stack.s3.get_paginator("list_multipart_uploads").paginate(Bucket=stack.bucket)
    prefixes = tuple(f"{folder}/{rows.tenant}/" for folder in _BY_TENANT)
    for page in pages:
        yield from (each["Key"] for each in page.get("Uploads", []) if each["Key"].startswith(prefixes))


def read_checksum(stack: Stack, version: ObjectVersion, expected: str | None = None) -> ObjectVersion:
    """Return a version with its checksum, of the algorithm that is expected if S3 has it. Raises ClientError."""
    if version.checksum == MARKER:
        return version
    selector = {"Bucket": stack.bucket, "Key": version.key, "VersionId": version.version_id}
    head = stack.s3.head_object(**selector, ChecksumMode="ENABLED")
    stated = {name: head.get(f"Checksum{name}") for name in _CHECKSUMS}
    preferred = (expected or "").partition(":")[0]
    name = preferred if stated.get(preferred) else next((name for name in _CHECKSUMS if stated[name]), READ)
    if READ in (preferred, name):
        name, stated = READ, {READ: _hash_bytes(stack, selector)}
    kind = "" if name == READ else head.get("ChecksumType", "")
    return version._replace(
        size=head["ContentLength"], etag=head["ETag"].strip('"'), checksum=f"{name}:{stated[name]}:{kind}"
    )


def _hash_bytes(stack: Stack, selector: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for block in stack.s3.get_object(**selector)["Body"].iter_chunks(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def map_at_once(function: Callable[[_T], _R], values: Iterable[_T]) -> Iterator[_R]:
    """Yield the results of a function in order, which runs for several values at once; memory holds a page of them."""
    remaining = iter(values)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while page := list(islice(remaining, _PAGE)):
            yield from pool.map(function, page)
