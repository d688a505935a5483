"""Compare an exported tenant with two databases and a bucket.

Guaranteed: without a difference, both databases have the same rows of the tenant but for what names the stack, counters
are at least as high at the target, and the target's bucket has each version of each object with the same checksum. The
record of that is what `switch` requires; it is of this export alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from tools.tenants.moving.assignment import COUNTERS, MOVED, PROFILES
from tools.tenants.moving.cell_fields import CellFields
from tools.tenants.moving.connection import Row, read_text
from tools.tenants.moving.counters import find_difference
from tools.tenants.moving.export import fingerprint_table
from tools.tenants.moving.fingerprints import compare_groups
from tools.tenants.moving.manifest import MANIFEST, VERIFIED, read_manifest, read_objects, write_json
from tools.tenants.moving.objects import MARKER, ObjectVersion, map_at_once, read_checksum
from tools.tenants.moving.row_files import hash_file, read_rows
from tools.tenants.moving.row_loader import RowLoader
from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.tenant_rows import TenantRows

_BATCH = 500
_GONE, _IS_MARKER = "404", "405"


def verify_tenant(source: Stack, target: Stack, folder: Path, report: Callable[[str], None]) -> int:
    """Report each difference, a line each, and return how many there are; record that there is none."""
    manifest, count = read_manifest(folder), 0
    (folder / VERIFIED).unlink(missing_ok=True)
    sides = (("source", source), ("target", target))
    compared = (f"{name}: {line}" for name, stack in sides for line in compare_rows(stack, manifest, folder))
    for line in chain(compared, (f"object {line}" for line in compare_objects(source, target, manifest, folder))):
        report(line)
        count += 1
    if not count:
        write_json(folder / VERIFIED, {"manifest": hash_file(folder / MANIFEST)})
    return count


def is_verified(folder: Path) -> bool:
    """Return whether the export was compared without a difference."""
    path = folder / VERIFIED
    return path.is_file() and hash_file(folder / MANIFEST) in path.read_text(encoding="utf-8")


def compare_rows(stack: Stack, manifest: dict[str, Any], folder: Path) -> Iterator[str]:
    """Yield how the rows of the tenant in a database differ from those that were exported."""
    with TenantRows(stack.database, manifest["tenant"]) as rows:
        for table, stated in manifest["tables"].items():
            if table in COUNTERS or table == PROFILES:
                yield from _compare_counters(rows, stack, table, manifest, folder)
            else:
                found = fingerprint_table(rows, table, stack.bucket)
                yield from compare_groups(table, stated["fingerprint"], found)


def _compare_counters(
    rows: TenantRows, stack: Stack, table: str, manifest: dict[str, Any], folder: Path
) -> Iterator[str]:
    """Yield the rows that are missing, differ, or have lower numbers; further counters are no difference."""
    loader = RowLoader(rows.connection, table, rows.list_columns(table))
    counters = [loader.names.index(name) for name in COUNTERS.get(table, ("version",))]
    fields = CellFields(table, loader.names, manifest["bucket"], stack.bucket)
    for stated in manifest["tables"][table]["files"]:
        for row in read_rows(folder, stated):
            known = loader.find([row]).get(loader.get_key(row))
            if known is None or find_difference(loader.names, counters, fields.adapt(row), known):
                yield f"{table}, {_name(loader, row)}: {'missing' if known is None else 'other values'}"
            elif any(_read(known, place) < _read(row, place) for place in counters):
                yield f"{table}, {_name(loader, row)}: a lower number"
    if table == PROFILES:
        expected = sum(stated["rows"] for stated in manifest["tables"][table]["files"])
        count = sum(1 for scope in MOVED if scope.table == table for _ in rows.stream_rows(scope, loader.names))
        if count > expected:
            yield f"{table}, all: {count:,} rows instead of {expected:,}"


def _name(loader: RowLoader, row: Row) -> str:
    return "key " + ", ".join(read_text(value) for value in loader.get_key(row))


def _read(row: Row, place: int) -> int:
    return int(read_text(row[place]))


def compare_objects(source: Stack, target: Stack, manifest: dict[str, Any], folder: Path) -> Iterator[str]:
    """Yield the versions that the target lacks, or has with other bytes, and what the source says of their copy."""

    def compare(version: ObjectVersion) -> str | None:
        return compare_version(source, target, version)

    found: Iterable[str | None] = map_at_once(compare, read_objects(folder, manifest))
    return (line for line in found if line is not None)


def compare_version(source: Stack, target: Stack, version: ObjectVersion) -> str | None:
    """Return how a version of the target differs, None if it does not."""
    name = f"{version.key} version {version.version_id}"
    try:
        if version.checksum == MARKER:
            _head(target, version)
            return f"{name}: an object instead of a delete marker"
        found = read_checksum(target, version, version.checksum)
    except ClientError as exc:
        code = exc.response["Error"]["Code"]
        if version.checksum == MARKER and code in (_IS_MARKER, "MethodNotAllowed"):
            return None
        return f"{name}: {'missing' if code in (_GONE, 'NoSuchVersion') else code}{_explain(source, version)}"
    if found.size != version.size:
        return f"{name}: {found.size:,} bytes instead of {version.size:,}"
    return None if found.checksum == version.checksum else f"{name}: checksum {found.checksum}, not {version.checksum}"


def _head(stack: Stack, version: ObjectVersion) -> dict[str, Any]:
    return dict(stack.s3.head_object(Bucket=stack.bucket, Key=version.key, VersionId=version.version_id))


def _explain(source: Stack, version: ObjectVersion) -> str:
    """Return why S3 may not have copied a version: a failed or pending replication, or an archived object."""
    try:
        head = _head(source, version)
    except ClientError:
        return ""
    facts = [head.get(name) for name in ("ReplicationStatus", "StorageClass", "ArchiveStatus")]
    return f" (at the source: {', '.join(filter(None, facts))})" if any(facts) else ""
