"""Register the result of the splitting pass in the database, or record why the file cannot be imported.

Guaranteed: one transaction starts the import with all of its chunks, and only one of the workers that split the file
succeeds; an import that was cancelled or failed in the meantime is not started. The chunks of a large file may have
been inserted at checkpoints before; they have no meaning until then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import TextClause, select, text
from sqlalchemy.orm import Session

from core.codes import FileFailure
from core.errors import ImportBusyError
from core.events import import_failed, import_started
from core.load_file.encoding import replace_surrogates
from core.load_file.layout import Layout
from core.statuses import ACTIVE_STATUSES, ImportKind, ImportPhase, ImportStatus
from core.tenants.status import Tenant
from shell.activity_log import Act, ActKind, record_own_act
from shell.aws.sqs import send_messages
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.exhibits.case_locks import find_undo
from shell.imports.state.codes import count_file
from shell.imports.state.dependents import block_dependents, lock_before
from shell.imports.state.findings import begin_check
from shell.imports.state.progress import CHUNKS, WarningRow
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tenants.starts import lock_starting_tenant, refuse_rows
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import ChunkMessage, CompletionMessage, ImportMessage

# At run time the dead-letter function imports this module without the splitter.
if TYPE_CHECKING:
    from core.load_file.split_state import Chunk
    from shell.imports.splitting.split import Split

ROWS_PER_STATEMENT = 5_000
# Of a worker that finds another one at its work.
RETRY_AFTER_S = 60
_PAUSE_S = 60

_REGISTER = text(
    "UPDATE imports SET status = :status, phase = :phase, kind = :kind, sha256 = :sha256, encoding = :encoding, "
    "delimiter = :delimiter, qualifier = :qualifier, date_orders = :date_orders, layout = :layout, "
    "options = COALESCE(options, :options), "
    "rows_seen = :rows_seen, size = :size, user_id = :user_id, chunk_count = :chunks, chunks_left = :chunks, "
    "codes_generation = -generation, codes_folded = 0 "
    "WHERE id = :import_id AND status = 'splitting' AND generation = :generation AND split_checkpoint <=> :checkpoint"
)
_DELETE_SPLIT = text("DELETE FROM import_splits WHERE import_id = :import_id")
_FAIL = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id = :import_id AND status = 'splitting' AND generation <= :generation"
)
_GIVE_UP = text(f"{_FAIL} AND split_checkpoint <=> :checkpoint")


def _is_split(import_id: int, *_: object) -> bool | None:
    """Return True if the import has left the status `splitting`, else None; wait for a COMMIT that is under way."""
    with session() as locking:
        status = _lock_status(locking, import_id)
    return None if status == ImportStatus.SPLITTING else True


def _lock_status(transaction: Session, import_id: int) -> str:
    return transaction.execute(select(Imports.status).where(Imports.id == import_id).with_for_update()).scalar_one()


@retry_on_db_conflict(resolve=_is_split)
def register_chunks(
    import_id: int,
    split: Split,
    user_id: str,
    generation: int = 1,
    checkpoint: str | None = None,
    phase: ImportPhase = ImportPhase.IMPORT,
    options: object = None,
) -> bool:
    """Register the chunks of a file that was split in a generation, up to a checkpoint; None: without checkpoints.

    `options` is the document of options that the file was split with; an import that has options keeps them.
    Returns False if the import is not being split any more. Raises ImportBusyError if another worker splits the file:
    it has written a later checkpoint, or the import has been retried; or if another import of the case is being undone.
    Raises StartPostponedError if nothing starts for the tenant now, and FileRefusedError (ROWS_PER_DAY) if it may not
    import so many rows a day.
    """
    layout = split.layout
    with session() as transaction:
        tenant = _lock_tenant(transaction, import_id)
        if phase is ImportPhase.IMPORT:
            _wait_for_undo(transaction, import_id)
        values = {
            "import_id": import_id,
            "sha256": split.sha256,
            "encoding": layout.encoding,
            "delimiter": layout.grammar.delimiter,
            "qualifier": layout.grammar.qualifier,
            "date_orders": json.dumps(_list_date_orders(layout)),
            "layout": layout.to_json(),
            "rows_seen": split.rows_seen,
            "size": split.size,
            "user_id": user_id,
            "options": json.dumps(options or {}),
            "chunks": split.chunk_count,
            "generation": generation,
            "checkpoint": checkpoint,
            "phase": phase.value,
            "kind": (ImportKind.IMAGES if layout.image_format else ImportKind.ROWS).value,
            "status": phase.active_status.value,
        }
        updated = transaction.execute(_REGISTER, values)
        if count_changed_rows(updated) != 1:
            if _lock_status(transaction, import_id) == ImportStatus.SPLITTING:
                raise ImportBusyError(retry_after_s=RETRY_AFTER_S)
            return False
        refuse_rows(transaction, tenant, import_id)
        _insert_split(transaction, import_id, split)
        if checkpoint:
            transaction.execute(_DELETE_SPLIT, {"import_id": import_id})
        import_record = transaction.get_one(Imports, import_id)
        split.store(transaction, import_record)
        if phase is ImportPhase.CHECK:
            begin_check(transaction, import_record)
        else:
            started = import_started(import_id, import_record.tenant_id, split.rows_seen, split.chunk_count)
            append_events(transaction, [started])
    return True


@retry_on_db_conflict(resolve=rerun_if_unknown)
def postpone_during_undo(import_id: int) -> None:
    """Raise ImportBusyError if another import of the case is being undone: the file would be read for nothing."""
    with session() as locking:
        _wait_for_undo(locking, import_id)


def _wait_for_undo(transaction: Session, import_id: int) -> None:
    """Lock the import's case; raise ImportBusyError if another import of it is being undone."""
    case_id = transaction.scalars(select(Imports.case_id).where(Imports.id == import_id)).one()
    if find_undo(transaction, case_id, import_id) is not None:
        raise ImportBusyError(retry_after_s=RETRY_AFTER_S)


def _lock_tenant(transaction: Session, import_id: int) -> Tenant:
    tenant_id = transaction.scalars(select(Imports.tenant_id).where(Imports.id == import_id)).one()
    return lock_starting_tenant(transaction, tenant_id)


def _list_date_orders(layout: Layout) -> dict[str, str]:
    """Return the order of day and month by field; that of the document date also if no column is one."""
    return {"document_date": layout.date_order} | {column.field: column.order for column in layout.date_columns}


def insert_chunks(transaction: Session, import_id: int, chunks: Sequence[Chunk]) -> None:
    """Insert the rows of the chunks."""
    columns = (
        *("import_id", "chunk_no", "byte_start", "byte_end", "first_line", "last_line", "row_count", "sha256"),
        "boundaries",
    )
    rows = [
        (
            import_id,
            c.chunk_no,
            c.byte_start,
            c.byte_end,
            c.first_line,
            c.last_line,
            c.row_count,
            c.sha256,
            c.boundaries,
        )
        for c in chunks
    ]
    insert_new(transaction, "import_chunks", columns, rows)


def _insert_split(transaction: Session, import_id: int, split: Split) -> None:
    insert_chunks(transaction, import_id, split.chunks)
    for duplicates in split.duplicates(ROWS_PER_STATEMENT):
        lines = [(import_id, line, first) for line, first in duplicates]
        insert_new(transaction, "import_duplicates", ("import_id", "line_no", "first_line"), lines)
    warnings = [
        WarningRow(import_id, 0, seq, 0, column and column[:255], code.value, message)
        for seq, (code, column, message) in enumerate(split.list_warnings())
    ]
    insert_new(transaction, "import_warnings", WarningRow._fields, warnings)
    count_file(transaction, import_id)


@retry_on_db_conflict(resolve=_is_split)
def fail_import(import_id: int, generation: int, code: str, message: str) -> bool:
    """Record why the file cannot be imported, unless the import is split or has been retried since `generation`."""
    stored = replace_surrogates(message[:1000])
    values = {"import_id": import_id, "generation": generation, "code": code, "message": stored}
    with session() as transaction:
        _fail(transaction, _FAIL, values)
    return True


@retry_on_db_conflict(resolve=_is_split)
def give_up_split(import_id: int, generation: int, checkpoint: str | None) -> bool:
    """Record that every attempt to read the file failed, unless the import is split; None: before a checkpoint.

    Raises ImportBusyError if the split has reached another checkpoint than this one, or the import has been retried.
    """
    message = "reading the file failed in every attempt"
    values = {"import_id": import_id, "generation": generation, "code": FileFailure.NOT_READ.value, "message": message}
    with session() as transaction:
        is_failed = _fail(transaction, _GIVE_UP, {**values, "checkpoint": checkpoint})
        if not is_failed and _lock_status(transaction, import_id) == ImportStatus.SPLITTING:
            raise ImportBusyError(retry_after_s=RETRY_AFTER_S)
    return True


def _fail(transaction: Session, statement: TextClause, values: dict[str, Any]) -> bool:
    lock_before(transaction, values["import_id"])
    if count_changed_rows(transaction.execute(statement, values)) != 1:
        return False
    import_record = transaction.get_one(Imports, values["import_id"])
    append_events(transaction, [import_failed(import_record.id, import_record.tenant_id, values["code"])])
    act = Act(ActKind.IMPORT_FAILED, import_record.id, import_record.case_id, {"code": values["code"]})
    record_own_act(transaction, import_record.tenant_id, act)
    block_dependents(transaction, import_record.id)
    return True


def send_pending_work(import_id: int, tenant_id: str, after_chunk: int = 0) -> int:
    """Queue what an active import still needs: its pending chunks after a number or, if none is left, its completion.

    Returns the number of chunks. Sending again is harmless. If the deadline nears, a request for the rest is sent
    instead. Raises QueueUnavailableError unless all is queued.
    """
    active = _find_active(import_id)
    if active is None:
        return 0
    config, sent, is_deadline_near = settings(), 0, build_deadline_check(_PAUSE_S)
    for page in CHUNKS.list_pages(import_id, after=after_chunk):
        chunks = [ChunkMessage(import_id, chunk_no, active.generation) for chunk_no in page]
        sent += send_messages(config.import_chunks_queue_url, chunks, tenant_id=tenant_id)
        if len(page) == CHUNKS.per_page and is_deadline_near():
            request = ImportMessage(import_id, active.generation, page[-1])
            send_messages(config.import_requests_queue_url, [request], tenant_id=tenant_id)
            return sent
    if active.chunks_left == 0:
        completion = CompletionMessage(import_id, active.generation)
        send_messages(config.import_completions_queue_url, [completion], tenant_id=tenant_id)
    return sent


def _find_active(import_id: int) -> Any:
    """Return the generation of an active import and the number of its chunks that are left; None if it is not active.

    If that number is not 0, the last chunk requests the completion, also if it is committed meanwhile.
    """
    is_active = Imports.status.in_(sorted(ACTIVE_STATUSES))
    with session() as reading:
        found = select(Imports.generation, Imports.chunks_left).where(Imports.id == import_id, is_active)
        return reading.execute(found).one_or_none()
