"""Write the file of an export, part by part.

Guaranteed: one worker at a time writes parts of an export; each part commits with the place after it, so that a worker
that is killed anywhere repeats at most one part, and the file has each document once. A part shows its documents, with
their links, families and history, as they were at one instant, and two parts those of two instants. An export that is
cancelled gets no file. Neither memory nor the time of an invocation grows with the case: a part ends with the first
document that fills it, or with the turn, and what is then too small for S3 is carried over to the next part.
Not guaranteed: that a document whose import commits while the export is requested is in it; that an undo of an import
leaves its documents out of parts that were written before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.contracts.stored_filters import unpack_filters
from core.errors import ImportBusyError, InvalidInputError
from core.exports.columns import ExportFormat, ExportKind
from core.exports.rows import MEDIA_TYPES, build_writer, write_header
from core.statuses import ExportStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.exhibits.match_keys import MatchKey
from shell.exports.documents import Found, read_documents, read_tags
from shell.exports.numbered_rows import read_history, read_pages
from shell.exports.objects import (
    Upload,
    UploadedPart,
    abort_upload,
    begin_upload,
    complete_upload,
    upload_part,
)
from shell.exports.queries import build_export_key
from shell.exports.selection import list_windows
from shell.observability import logger
from shell.settings import settings
from shell.tables.productions import ExportParts, Exports
from shell.tenants.starts import postpone
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import ExportMessage

# S3 requires 5 MiB of each part but the last, and allows 10,000 parts.
PART_BYTES, LEAST_BYTES = 8_000_000, 5 << 20
# Reports of imports wait in the same queue; after a turn, an export goes to its end.
TURN_S, MARGIN_S, BUSY_S = 60, 120, 60
_OPEN = (ExportStatus.REQUESTED, ExportStatus.RUNNING)
# All statements of the transaction read the state at its first one, so that links belong to their documents.
_ONE_INSTANT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
_LOCK = text("SELECT part_no FROM export_parts WHERE export_id = :export_id AND part_no = 0 FOR UPDATE SKIP LOCKED")
_EXISTS = text("SELECT part_no FROM export_parts WHERE export_id = :export_id AND part_no = 0")
_BEGIN = text(
    "UPDATE exports SET status = 'running', upload_id = :upload_id, started_at = :started_at "
    "WHERE id = :export_id AND status = 'requested'"
)
_PROGRESS = text(
    "UPDATE exports SET documents = documents + :documents, row_count = row_count + :rows, size = size + :size "
    "WHERE id = :export_id AND status = 'running'"
)
_END = text(
    "UPDATE exports SET status = :status, reason = :reason, finished_at = NOW(6) "
    "WHERE id = :export_id AND status IN ('requested', 'running')"
)
_DROP_CARRIED = text("UPDATE export_parts SET carried = NULL WHERE export_id = :export_id AND carried IS NOT NULL")
IsOver = Callable[[], bool]


class ExportPart(NamedTuple):
    """The new bytes of a part, how many documents and rows it has, and where the next one begins."""

    body: bytes
    documents: int
    rows: int
    after_key: str | None
    is_last: bool


def write_export(message: ExportMessage) -> None:
    """Write parts of an export's file until it is complete or a turn is over; then the message is sent again.

    Does nothing for an export that has ended; one that has not begun is postponed while nothing starts for its tenant.
    Raises ImportBusyError while another worker writes it, and
    StorageUnavailableError.
    """
    waiting = _find_waiting(message.export_id)
    if waiting is not None and postpone(waiting, settings().import_reports_queue_url, message):
        return
    is_over = _begin_turn()
    try:
        while not write_next_part(message.export_id, is_over):
            if is_over():
                send_messages(settings().import_reports_queue_url, [message])
                return
    except InvalidInputError as refused:
        logger.warning("export failed", extra={"export_id": message.export_id, "error": type(refused).__name__})
        _fail(message.export_id, str(refused))
        # Discards what there is of the file.
        write_next_part(message.export_id, is_over)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_waiting(export_id: int) -> str | None:
    """Return the tenant of an export that has not begun; None if it has."""
    with session() as reading:
        query = select(Exports.tenant_id).where(Exports.id == export_id)
        return reading.scalar(query.where(Exports.status == ExportStatus.REQUESTED))


def _begin_turn() -> IsOver:
    """Return a function that tells whether the turn which begins now is over."""
    ends_at, is_deadline_near = time.monotonic() + TURN_S, build_deadline_check(MARGIN_S)
    return lambda: time.monotonic() >= ends_at or is_deadline_near()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def write_next_part(export_id: int, is_over: IsOver) -> bool:
    """Write the next part of the file, or complete it if it has all parts; return whether the export has ended.

    Raises InvalidInputError if the filters would read too many exhibits by now, or the upload was deleted.
    """
    with session() as transaction:
        transaction.execute(_ONE_INSTANT)
        if transaction.execute(_LOCK, {"export_id": export_id}).first() is None:
            if transaction.execute(_EXISTS, {"export_id": export_id}).first() is None:
                return True  # The case is being purged.
            raise ImportBusyError(retry_after_s=BUSY_S)
        export = transaction.get_one(Exports, export_id)
        parts = transaction.scalars(
            select(ExportParts).where(ExportParts.export_id == export_id).order_by(ExportParts.part_no)
        ).all()
        if export.status not in _OPEN:
            _discard(transaction, export)
            return True
        if export.upload_id is None:
            return _begin(transaction, export)
        upload = Upload(settings().bucket, build_export_key(export), export.upload_id)
        if not parts[-1].is_last:
            return _add_part(transaction, export, upload, parts[-1], is_over)
        # First the row, so that no cancellation commits while S3 completes the object.
        has_ended = _end(transaction, export, ExportStatus.COMPLETED)
        if has_ended:
            stored = [UploadedPart(each.part_no, each.etag, each.checksum) for each in parts if each.etag]
            complete_upload(upload, stored)
        return has_ended


def _begin(transaction: Session, export: Exports) -> bool:
    """Begin the upload, in a transaction without a part: it locks the row that a cancellation changes; return False.

    S3 counts the days that it keeps the file from here. The lifecycle rule deletes the upload of a killed worker.
    """
    started_at = transaction.execute(text("SELECT NOW(6)")).scalar_one()
    upload = begin_upload(settings().bucket, build_export_key(export), MEDIA_TYPES[ExportFormat(export.format)])
    values = {"export_id": export.id, "upload_id": upload.upload_id, "started_at": started_at}
    if count_changed_rows(transaction.execute(_BEGIN, values)) != 1:
        abort_upload(upload)
    return False


def _add_part(transaction: Session, export: Exports, upload: Upload, former: ExportParts, is_over: IsOver) -> bool:
    """Write the part after a former one, unless the export is cancelled meanwhile; return False."""
    part = build_part(transaction, export, former, is_over)
    body, number = (former.carried or b"") + part.body, former.part_no + 1
    is_large = part.is_last or len(body) >= LEAST_BYTES
    stored = upload_part(upload, number, body) if is_large else UploadedPart(number, "", "")
    values = {"export_id": export.id, "documents": part.documents, "rows": part.rows, "size": len(part.body)}
    if count_changed_rows(transaction.execute(_PROGRESS, values)) == 1:
        new = {"after_key": part.after_key, "is_last": int(part.is_last), **stored._asdict()}
        transaction.add(ExportParts(export_id=export.id, carried=None if is_large else body, **new))
        former.carried = None
    return False


def build_part(reading: Session, export: Exports, former: ExportParts, is_over: IsOver) -> ExportPart:
    """Return what follows a part, up to the document that fills the next one or with which the turn is over.

    The first part begins with the header. Each call gets on by a document at least.
    """
    columns: list[str] = json.loads(export.column_names)
    write, after = build_writer(ExportFormat(export.format), columns), former.after_key
    pieces = [] if former.part_no else [write_header(ExportFormat(export.format), columns)]
    size, documents, rows = len(former.carried or b"") + sum(map(len, pieces)), 0, 0
    for key, found in _iterate(reading, export, columns, after):
        lines = [write(row) for row in found]
        pieces += lines
        after, documents, rows, size = key.control_number, documents + 1, rows + len(lines), size + sum(map(len, lines))
        if size >= PART_BYTES or is_over():
            return ExportPart(b"".join(pieces), documents, rows, after, is_last=False)
    return ExportPart(b"".join(pieces), documents, rows, after, is_last=True)


def _iterate(reading: Session, export: Exports, columns: Sequence[str], after: str | None) -> Found:
    windows = list_windows(
        reading, export.case_id, unpack_filters(json.loads(export.filters)), export.highest_exhibit_id, after
    )
    return chain.from_iterable(_read(reading, export, keys, columns) for keys in windows)


def _read(reading: Session, export: Exports, keys: Sequence[MatchKey], columns: Sequence[str]) -> Found:
    match ExportKind(export.kind):
        case ExportKind.DOCUMENTS:
            return read_documents(reading, export.case_id, keys, columns)
        case ExportKind.PAGES:
            return read_pages(reading, keys)
        case ExportKind.TAGS:
            return read_tags(reading, keys)
        case ExportKind.HISTORY:
            return read_history(reading, keys)


def _end(transaction: Session, export: Exports, status: ExportStatus, reason: str | None = None) -> bool:
    """Store how the export ended, with its activity; return False if it was cancelled meanwhile."""
    values = {"export_id": export.id, "status": status.value, "reason": reason}
    if count_changed_rows(transaction.execute(_END, values)) != 1:
        return False
    kind = ActKind.EXPORT_COMPLETED if status is ExportStatus.COMPLETED else ActKind.EXPORT_FAILED
    summary = {"documents": export.documents, "rows": export.row_count, "bytes": export.size}
    record_own_act(transaction, export.tenant_id, Act(kind, export.id, export.case_id, summary))
    logger.info("export ended", extra={"export_id": export.id, "status": status.value})
    return True


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _fail(export_id: int, reason: str) -> None:
    with session() as transaction:
        export = transaction.get_one(Exports, export_id)
        _end(transaction, export, ExportStatus.FAILED, reason)


def _discard(transaction: Session, export: Exports) -> None:
    """Delete what there is of the file of an export that did not end well."""
    if export.status != ExportStatus.COMPLETED and export.upload_id is not None:
        transaction.execute(_DROP_CARRIED, {"export_id": export.id})
        abort_upload(Upload(settings().bucket, build_export_key(export), export.upload_id))
