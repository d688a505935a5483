"""What one pass over a file found, into the database: all of it, or why the file cannot be imported.

Guaranteed: the chunks of an import are registered by one transaction, all or none, and by one of those that split it;
an import that was cancelled meanwhile, or has failed, gets none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.events import import_failed, import_started
from core.load_file.encoding import readable
from core.statuses import ChunkStatus, ImportStatus
from shell.completion_ops import complete_import
from shell.outbox_ops import append_events
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.bulk_insert import insert_new
from shell.utils.db_helpers import changed_rows, retry_on_db_conflict
from shell.utils.db_session import session

# Whoever gives an import up registers nothing, and splits no file.
if TYPE_CHECKING:
    from shell.splitting_ops import Split

ROWS_A_STATEMENT = 5_000
WARNING_COLUMNS = ("import_id", "line_no", "seq", "chunk_no", "column_name", "code", "message")

_REGISTER = text(
    "UPDATE imports SET status = 'running', sha256 = :sha256, encoding = :encoding, delimiter = :delimiter, "
    "qualifier = :qualifier, date_orders = :date_orders, layout = :layout, rows_seen = :rows_seen, size = :size, "
    "user_id = :user_id, chunk_count = :chunks, chunks_left = :chunks WHERE id = :import_id AND status = 'splitting'"
)
_FAIL = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id = :import_id AND status = 'splitting' AND generation <= :generation"
)


def _true_if_settled(import_id: int, *_: object) -> bool | None:
    with session() as locking:
        status = locking.execute(select(Imports.status).where(Imports.id == import_id).with_for_update()).scalar_one()
    return None if status == ImportStatus.SPLITTING else True


@retry_on_db_conflict(resolve=_true_if_settled)
def register(import_id: int, split: Split, user_id: str) -> bool:
    """Record what the pass settled; False if it is not waited for any more."""
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
        if changed_rows(registered) != 1:
            return False
        _insert_parts(transaction, import_id, split)
        the_import = transaction.get_one(Imports, import_id)
        started = import_started(import_id, the_import.tenant_id, split.rows_seen, len(split.chunks))
        append_events(transaction, [started])
        if not split.chunks:
            complete_import(transaction, the_import, the_import.generation)
    return True


def _insert_parts(transaction: Session, import_id: int, split: Split) -> None:
    columns = ("import_id", "chunk_no", "byte_start", "byte_end", "first_line", "last_line", "row_count", "sha256")
    rows = [
        (import_id, c.chunk_no, c.byte_start, c.byte_end, c.first_line, c.last_line, c.row_count, c.sha256)
        for c in split.chunks
    ]
    insert_new(transaction, "import_chunks", columns, rows)
    for duplicates in split.duplicates(ROWS_A_STATEMENT):
        lines = [(import_id, line, first) for line, first in duplicates]
        insert_new(transaction, "import_duplicates", ("import_id", "line_no", "first_line"), lines)
    warnings = [
        (import_id, 0, seq, 0, column and column[:255], code.value, text)
        for seq, (code, column, text) in split.warnings()
    ]
    insert_new(transaction, "import_warnings", WARNING_COLUMNS, warnings)


@retry_on_db_conflict(resolve=_true_if_settled)
def fail(import_id: int, generation: int, code: str, message: str) -> bool:
    """Record that the file cannot be imported, and why; unless that is settled, or was retried since `generation`."""
    values = {"import_id": import_id, "generation": generation, "code": code, "message": readable(message[:1000])}
    with session() as transaction:
        failed = transaction.execute(_FAIL, values)
        if changed_rows(failed) == 1:
            the_import = transaction.get_one(Imports, import_id)
            append_events(transaction, [import_failed(import_id, the_import.tenant_id, code)])
    return True


def pending_chunks(import_id: int) -> Iterator[dict[str, int]]:
    """A message for each chunk that is to be done; none unless the import runs."""
    with session() as reading:
        found = reading.execute(
            select(ImportChunks.chunk_no, Imports.generation)
            .join(Imports, Imports.id == ImportChunks.import_id)
            .where(
                ImportChunks.import_id == import_id,
                ImportChunks.status == ChunkStatus.PENDING.value,
                Imports.status == ImportStatus.RUNNING.value,
            )
            .order_by(ImportChunks.chunk_no)
        ).all()
    for row in found:
        yield {"import_id": import_id, "chunk_no": row.chunk_no, "generation": row.generation, "redrive": 0}
