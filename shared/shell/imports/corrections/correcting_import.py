"""Register the import of corrected rows: running, with its only chunk, as the splitting pass leaves a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from core.caller import Caller
from core.events import import_started
from core.imports.corrections import build_file_name
from core.imports.uploads import build_upload_key
from core.load_file.layout import Layout
from core.statuses import ImportKind, ImportPhase, ImportStatus
from shell.aws.new_objects import StoredObject
from shell.db.bulk_insert import insert_new
from shell.outbox.writer import append_events
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports


@dataclass(frozen=True)
class Source:
    """The object with corrected rows of an import, and how they are read; `repeated` are the duplicate ids by line."""

    original: Imports
    key: str
    stored: StoredObject
    layout: Layout
    rows: int
    repeated: Mapping[int, int]


def insert_import(transaction: Session, caller: Caller, source: Source) -> int:
    """Insert the import, its chunk and the event of its start; return its id. The caller holds the case's lock."""
    original, stored = source.original, source.stored
    row = Imports(
        upload_key=build_upload_key(original.bucket, source.key, stored.version_id, stored.etag),
        tenant_id=original.tenant_id,
        case_id=original.case_id,
        bucket=original.bucket,
        object_key=source.key,
        version_id=stored.version_id,
        etag=stored.etag,
        size=stored.size,
        sha256=stored.sha256,
        file_name=build_file_name(original.id),
        user_id=caller.user_id,
        options=original.options or "{}",
        profile_name=original.profile_name,
        profile_version=original.profile_version,
        status=ImportStatus.RUNNING.value,
        phase=ImportPhase.IMPORT.value,
        kind=ImportKind.ROWS.value,
        volume_id=original.volume_id,
        corrects_import_id=original.id,
        encoding=original.encoding,
        delimiter=original.delimiter,
        qualifier=original.qualifier,
        date_orders=original.date_orders,
        layout=source.layout.to_json(),
        rows_seen=source.rows,
        chunk_count=1,
        chunks_left=1,
    )
    transaction.add(row)
    transaction.flush()
    transaction.add(_build_chunk(row.id, source))
    transaction.flush()
    lines = [(row.id, line, first) for line, first in source.repeated.items()]
    insert_new(transaction, "import_duplicates", ("import_id", "line_no", "first_line"), lines)
    append_events(transaction, [import_started(row.id, row.tenant_id, source.rows, 1)])
    return row.id


def _build_chunk(import_id: int, source: Source) -> ImportChunks:
    return ImportChunks(
        import_id=import_id,
        chunk_no=1,
        byte_start=0,
        byte_end=source.stored.size,
        first_line=1,
        last_line=source.rows,
        row_count=source.rows,
        sha256=source.stored.sha256,
    )
