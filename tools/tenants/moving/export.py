"""Export a tenant: its rows into files, and the list of its objects.

Guaranteed: before the first row is read, the tenant is read-only, the functions and URLs that may not know it yet have
ended, and nothing is in progress; so no row changes meanwhile, and none is missing. Other tenants are not locked and
work on. Memory does not depend on the tenant's size. Not guaranteed: a clone has no functions; what was in progress at
its moment stays so, and is refused.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from core.imports.uploads import PREFIX, build_upload_key
from tools.tenants.database import TenantToolError
from tools.tenants.moving.assignment import MOVED, TABLES, Scope
from tools.tenants.moving.cell_fields import CellFields
from tools.tenants.moving.connection import Connection, read_text
from tools.tenants.moving.fingerprints import Fingerprint, name_group
from tools.tenants.moving.manifest import FORMAT, MANIFEST, OBJECTS, REPLICATION, VERIFIED, write_json, write_objects
from tools.tenants.moving.objects import (
    MARKER,
    ObjectVersion,
    list_prefixes,
    list_versions,
    map_at_once,
    read_checksum,
)
from tools.tenants.moving.open_work import Waiting, wait_until_quiet
from tools.tenants.moving.row_files import RowWriter, write_line
from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.statuses import ACTIVE, READ_ONLY, SUSPENDED, change_status, get_epoch
from tools.tenants.moving.tenant_rows import TenantRows

_REASON = "The tenant is being moved."
UPLOADS = f"{PREFIX}/"


def export_tenant(
    source: Stack, tenant: str, folder: Path, waiting: Waiting, report: Callable[[str], None]
) -> dict[str, Any]:
    """Write a tenant to a folder and return its manifest; a repetition begins anew.

    Raises TenantToolError if there is no such tenant, if it is leaving, or if its work does not end.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (MANIFEST, VERIFIED):
        (folder / name).unlink(missing_ok=True)
    with TenantRows(source.database, tenant) as rows:
        change_status(rows.connection, tenant, READ_ONLY, (ACTIVE, READ_ONLY, SUSPENDED), _REASON)
        wait_until_quiet(source, rows, waiting, report)
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "tenant": tenant,
            "bucket": source.bucket,
            "storage": source.storage,
            **describe_database(rows.connection),
            "clone": waiting.is_clone,
            "epoch": get_epoch(rows.connection, tenant),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "tables": {table: _export_table(rows, table, folder, source.bucket, report) for table in TABLES},
            "objects": _export_objects(source, rows, folder, waiting, report),
        }
        _check_documents(rows, manifest["tables"]["exhibits"]["files"])
    write_json(folder / MANIFEST, manifest)
    return manifest


def describe_database(database: Connection) -> dict[str, Any]:
    """Return what the target must equal, what it must not, and what it must exceed."""
    revision, increment, offset, sequence = database.read(
        "SELECT (SELECT version_num FROM alembic_version), @@auto_increment_increment, @@auto_increment_offset,"
        " (SELECT MAX(last_sequence) FROM outbox_state)"
    )[0]
    ids = {"increment": int(read_text(increment)), "offset": int(read_text(offset))}
    return {"revision": read_text(revision), "ids": ids, "last_sequence": int(read_text(sequence) or 0)}


def _export_table(
    rows: TenantRows, table: str, folder: Path, bucket: str, report: Callable[[str], None]
) -> dict[str, Any]:
    columns = rows.list_columns(table)
    if not columns:
        raise TenantToolError(f"the database has no table {table}; deploy the version of this tool first")
    writer = RowWriter(folder, table)
    found = fingerprint_table(rows, table, bucket, writer.write)
    writer.finish()
    report(f"{table}: {sum(each['rows'] for each in writer.files):,} rows")
    return {"columns": [column.name for column in columns], "files": writer.files, "fingerprint": found}


def _check_documents(rows: TenantRows, files: list[dict[str, Any]]) -> None:
    """Raise TenantToolError if the tenant's cases have more documents than its imports, by which they were found."""
    query = "SELECT COUNT(*) FROM exhibits WHERE {}"
    conditions = rows.list_conditions(Scope("exhibits", "case_id", "cases"))
    counts = (rows.connection.read(query.format(each), (rows.tenant,))[0][0] for each in conditions)
    missing = sum(int(read_text(count)) for count in counts) - sum(each["rows"] for each in files)
    if missing > 0:
        raise TenantToolError(
            f"{missing:,} documents of the tenant's cases are of no import of it; nothing was exported"
        )


def fingerprint_table(
    rows: TenantRows, table: str, bucket: str, keep: Callable[[bytes], None] = lambda _: None
) -> dict[str, list[Any]]:
    """Return the fingerprint of a table without what names the stack; hand each line to `keep`."""
    names = [column.name for column in rows.list_columns(table)]
    neutral, found = CellFields(table, names, bucket, ""), Fingerprint()
    for scope in (scope for scope in MOVED if scope.table == table):
        place = _find_group(scope, names)
        for row in rows.stream_rows(scope, names):
            keep(line := write_line(row))
            adapted = neutral.adapt(row)
            group = name_group(scope.column, None if place is None else row[place])
            found.add(group, line if adapted is row else write_line(adapted))
    return found.describe()


def _find_group(scope: Scope, names: list[str]) -> int | None:
    return names.index(scope.column) if scope.column in names and scope.column != "tenant_id" else None


def _export_objects(
    source: Stack, rows: TenantRows, folder: Path, waiting: Waiting, report: Callable[[str], None]
) -> dict[str, Any]:
    """List the objects; a tenant that comes back to a point in time keeps those that it has."""
    prefixes = () if waiting.is_clone else list_prefixes(source, rows)
    listed = (version for prefix in prefixes for version in list_versions(source, prefix))
    described = map_at_once(lambda version: read_checksum(source, version), listed)
    known = set(_list_upload_keys(rows))
    with (folder / REPLICATION).open("w", encoding="utf-8", newline="") as file:
        written = _write_replication(file, source.bucket, described)
        return write_objects(folder / OBJECTS, _report_unread(written, source.bucket, known, report))


def _list_upload_keys(rows: TenantRows) -> Iterator[bytes | None]:
    query = "SELECT upload_key FROM imports WHERE tenant_id = %s"
    return (key for (key,) in rows.connection.read(query, (rows.tenant,)))


def _report_unread(
    versions: Iterator[ObjectVersion], bucket: str, known: set[bytes | None], report: Callable[[str], None]
) -> Iterator[ObjectVersion]:
    """Pass versions on; report the files that were dropped into the bucket and wait: their messages do not move."""
    for version in versions:
        is_file = version.key.startswith(UPLOADS) and version.checksum != MARKER
        if is_file and build_upload_key(bucket, version.key, version.version_id, version.etag) not in known:
            report(f"no import yet: {version.key} version {version.version_id}; put it again at the target")
        yield version


def report_unread(source: Stack, rows: TenantRows, report: Callable[[str], None]) -> None:
    """Report the load files of a tenant in the bucket that no import has read."""
    versions = list_versions(source, f"{UPLOADS}{rows.tenant}/")
    deque(_report_unread(versions, source.bucket, set(_list_upload_keys(rows)), report), maxlen=0)


def _write_replication(file: TextIO, bucket: str, versions: Iterator[ObjectVersion]) -> Iterator[ObjectVersion]:
    """Write the manifest of S3 Batch Replication beside the list: bucket, key in URL encoding, version."""
    table = csv.writer(file, lineterminator="\n")
    for version in versions:
        table.writerow((bucket, quote(version.key, safe="/"), version.version_id))
        yield version
