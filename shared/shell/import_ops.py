"""Starting an import: register the upload, settle in one pass what is per file, queue the chunks.

Guaranteed: one import an upload, however often its event comes; the chunks of an import are registered by one
transaction, all or none; a request is finished only when every pending chunk has a message. Sending a chunk's message
again is harmless.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import FileRefusedError, UploadRefusedError
from core.events import import_failed, import_started, upload_refused
from core.import_options import ImportOptions, parse_options
from core.load_file.encoding import readable
from core.reasons import FileFailure
from core.statuses import ChunkStatus, ImportStatus
from core.uploads import Upload, parse_upload
from shell.completion_ops import complete_import
from shell.observability import logger
from shell.outbox_ops import append_events, nudge_publisher
from shell.settings import settings
from shell.splitting_ops import Split, split_file
from shell.tables import Cases, ImportChunks, ImportDuplicates, Imports, ImportWarnings
from shell.utils.bulk_insert import insert_new
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import insert_or_get, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.keys import unstorable
from shell.utils.object_store import ObjectVersion, read_small
from shell.utils.queues import send_all

MAX_OPTIONS_BYTES = 1_000_000
ROWS_A_STATEMENT = 5_000
WARNING_COLUMNS = ("import_id", "line_no", "seq", "chunk_no", "column_name", "code", "message")

_REGISTER = text(
    "UPDATE imports SET status = 'running', sha256 = :sha256, encoding = :encoding, delimiter = :delimiter, "
    "qualifier = :qualifier, date_orders = :date_orders, layout = :layout, rows_seen = :rows_seen, size = :size, "
    "user_id = :user_id, chunk_count = :chunks, chunks_left = :chunks WHERE id = :import_id AND status = 'splitting'"
)
_FAIL = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id = :import_id AND status = 'splitting'"
)


def start_imports(notification: dict[str, Any]) -> None:
    """Start the import of every object of an S3 notification; the test event that S3 sends first starts none."""
    for record in notification.get("Records", []):
        try:
            upload = parse_upload(record)
        except UploadRefusedError as refused:
            _refuse(record, str(refused))
            nudge_publisher()
            continue
        if upload is not None:
            start_import(upload)


def settle_failed_imports(notification: dict[str, Any]) -> None:
    """For a request that failed in every attempt: send it back once, then record its imports as failed.

    An import that is registered already only lacks messages for its chunks; they are sent.
    """
    if int(notification.get("redrive", 0)) == 0:
        again = {**notification, "redrive": 1}
        send_all(settings().import_requests_queue_url, [again], delay_s=settings().redrive_delay_seconds)
        return
    for record in notification.get("Records", []):
        with contextlib.suppress(UploadRefusedError):
            upload = parse_upload(record)
            if upload is not None:
                _give_up(upload)


def _give_up(upload: Upload) -> None:
    import_id, status = _get_or_create(upload)
    if status == ImportStatus.SPLITTING:
        _fail(import_id, upload.tenant_id, FileFailure.NOT_READ, "reading the file failed in every attempt")
        logger.error("import given up", extra={"import_id": import_id})
        nudge_publisher()
    send_all(settings().import_chunks_queue_url, _pending_chunks(import_id))


def start_import(upload: Upload) -> int:
    """Register the upload, split it unless that is done, and queue its pending chunks; returns the import's id.

    A file that cannot be imported is recorded as failed. Raises UnavailableError for the message to come again.
    """
    import_id, status = _get_or_create(upload)
    if status == ImportStatus.SPLITTING:
        try:
            options = _options(upload)
            split = split_file(ObjectVersion(upload.bucket, upload.key, upload.version_id, upload.etag), options)
            with split:
                _register(import_id, upload, split, _user_id(options))
        except FileRefusedError as refused:
            _fail(import_id, upload.tenant_id, refused.code, str(refused))
            logger.info("import failed", extra={"import_id": import_id, "code": refused.code})
        nudge_publisher()
    sent = send_all(settings().import_chunks_queue_url, _pending_chunks(import_id))
    logger.info("chunks queued", extra={"import_id": import_id, "chunks": sent})
    return import_id


def _options(upload: Upload) -> ImportOptions:
    raw = read_small(upload.bucket, upload.options_key, MAX_OPTIONS_BYTES)
    if raw is None:
        return ImportOptions()
    try:
        return parse_options(json.loads(raw))
    except (ValueError, RecursionError) as exc:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{upload.options_key} is not JSON: {exc}") from exc


def _user_id(options: ImportOptions) -> str:
    """Who is recorded with the links; a name that the column cannot hold would fail every chunk."""
    user_id = options.user_id or settings().default_user_id
    reason = unstorable(user_id, column_limits("taggings")["user_id"])
    if reason:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"option 'user_id' cannot be stored: {reason[1]}")
    return user_id


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _get_or_create(upload: Upload) -> tuple[int, str]:
    """The upload's import and its status; a COMMIT of unknown outcome is settled by looking again."""
    with session() as transaction:
        key = {"tenant_id": upload.tenant_id, "name": upload.case_name}
        case, _ = insert_or_get(transaction, Cases, key, {}, unique_key="uq_cases_tenant_name")
        values = {
            "tenant_id": upload.tenant_id,
            "case_id": case.id,
            "bucket": upload.bucket,
            "object_key": upload.key,
            "version_id": upload.version_id,
            "etag": upload.etag,
            "size": upload.size,
            "file_name": upload.file_name,
            "user_id": settings().default_user_id,
            "status": ImportStatus.SPLITTING.value,
        }
        row, _ = insert_or_get(
            transaction, Imports, {"upload_key": upload.upload_key}, values, unique_key="uq_imports_upload_key"
        )
        return row.id, row.status


def _status_if_registered(import_id: int, *_: object) -> bool | None:
    with session() as locking:
        status = locking.execute(select(Imports.status).where(Imports.id == import_id).with_for_update()).scalar_one()
    return None if status == ImportStatus.SPLITTING else True


@retry_on_db_conflict(resolve=_status_if_registered)
def _register(import_id: int, upload: Upload, split: Split, user_id: str) -> bool:
    """Record what the pass settled; False if somebody else has done that."""
    layout = split.layout
    with session() as transaction:
        values = {
            "import_id": import_id,
            "sha256": split.sha256,
            "encoding": layout.encoding,
            "delimiter": layout.grammar.delimiter,
            "qualifier": layout.grammar.qualifier,
            "date_orders": json.dumps({"document_date": layout.date_order}),
            "layout": layout.to_json(),
            "rows_seen": split.rows_seen,
            "size": split.size,
            "user_id": user_id,
            "chunks": len(split.chunks),
        }
        registered = transaction.execute(_REGISTER, values)
        if registered.rowcount != 1:  # type: ignore[attr-defined]
            return False
        _insert_parts(transaction, import_id, split)
        started = import_started(import_id, upload.tenant_id, split.rows_seen, len(split.chunks))
        append_events(transaction, [started])
        if not split.chunks:
            complete_import(transaction, transaction.get_one(Imports, import_id), generation=1)
    return True


def _insert_parts(transaction: Session, import_id: int, split: Split) -> None:
    columns = ("import_id", "chunk_no", "byte_start", "byte_end", "first_line", "last_line", "row_count", "sha256")
    rows = [
        (import_id, c.chunk_no, c.byte_start, c.byte_end, c.first_line, c.last_line, c.row_count, c.sha256)
        for c in split.chunks
    ]
    insert_new(transaction, ImportChunks, columns, rows)
    for duplicates in split.duplicates(ROWS_A_STATEMENT):
        lines = [(import_id, line, first) for line, first in duplicates]
        insert_new(transaction, ImportDuplicates, ("import_id", "line_no", "first_line"), lines)
    warnings = [
        (import_id, 0, seq, 0, column and column[:255], code.value, text)
        for seq, (code, column, text) in split.warnings()
    ]
    insert_new(transaction, ImportWarnings, WARNING_COLUMNS, warnings)


@retry_on_db_conflict(resolve=_status_if_registered)
def _fail(import_id: int, tenant_id: str, code: str, message: str) -> bool:
    with session() as transaction:
        failed = transaction.execute(_FAIL, {"import_id": import_id, "code": code, "message": readable(message[:1000])})
        if failed.rowcount == 1:  # type: ignore[attr-defined]
            append_events(transaction, [import_failed(import_id, tenant_id, code)])
    return True


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _refuse(record: dict[str, Any], reason: str) -> None:
    """There is no import to record it against: say so on the topic and in the log."""
    key = str(record.get("s3", {}).get("object", {}).get("key", ""))[:64]
    logger.warning("upload refused", extra={"reason": reason})
    with session() as transaction:
        append_events(transaction, [upload_refused("", key)])


def _pending_chunks(import_id: int) -> Iterator[dict[str, int]]:
    with session() as reading:
        numbers = reading.execute(
            select(ImportChunks.chunk_no)
            .join(Imports, Imports.id == ImportChunks.import_id)
            .where(
                ImportChunks.import_id == import_id,
                ImportChunks.status == ChunkStatus.PENDING.value,
                Imports.status == ImportStatus.RUNNING.value,
            )
            .order_by(ImportChunks.chunk_no)
        ).scalars()
        pending = list(numbers)
    yield from ({"import_id": import_id, "chunk_no": chunk_no, "redrive": 0} for chunk_no in pending)
