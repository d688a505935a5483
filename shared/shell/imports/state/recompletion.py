"""Have imports that have ended completed again, as after a retry without chunks.

Guaranteed: in the caller's transaction, they run in a generation of their own, and the message that has each completed
is sent before the commit, while the rows of the imports are locked, which the receiver requests first. What the end of
an import finds is replaced, and its reports are written anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.events import import_retried
from core.statuses import ImportPhase
from shell.activity_log import Act, ActKind, record_own_act
from shell.aws.sqs import send_messages
from shell.imports.state.codes import CARRY_CODES
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.work.messages import CompletionMessage

_REOPEN = text(
    f"UPDATE imports SET {CARRY_CODES}, status = CASE phase WHEN 'check' THEN 'checking' ELSE 'running' END, "  # noqa: S608
    "generation = generation + 1, chunks_left = 0, started_at = NOW(6), finished_at = NULL WHERE id IN :ids"
).bindparams(bindparam("ids", expanding=True))
# As a retry does: the result is that of a state that ends.
_REOPEN_CHECKS = text(
    "UPDATE import_checks SET finished_at = NULL, report_written = 0 WHERE import_id IN :ids"
).bindparams(bindparam("ids", expanding=True))
_MARK = text(
    "INSERT INTO page_reconciliations (import_id, generation) SELECT id, generation FROM imports WHERE id IN :ids "
    "ON DUPLICATE KEY UPDATE generation = VALUES(generation), finished_at = NULL"
).bindparams(bindparam("ids", expanding=True))
# The list of unreferenced files is written again by the last of them that ends.
_CLEAR_COUNTS = text(
    "UPDATE import_chunk_files SET counts = JSON_REMOVE(counts, '$.unreferenced', '$.of_rejected_rows') "
    "WHERE import_id IN :ids AND chunk_no = 0"
).bindparams(bindparam("ids", expanding=True))
_IS_REOPENED = text(
    "SELECT 1 FROM page_reconciliations WHERE import_id = :import_id AND generation = :generation "
    "AND finished_at IS NULL"
)


def reopen(transaction: Session, ended: Sequence[Any]) -> None:
    """Have imports of images completed again; the caller has locked their rows, in the order of their ids.

    `ended` are rows with id, generation, tenant_id, case_id and phase. Raises QueueUnavailableError if the queue does
    not take a request; the caller must then roll back.
    """
    ids = {"ids": [row.id for row in ended]}
    transaction.execute(_REOPEN, ids)
    transaction.execute(_MARK, ids)
    transaction.execute(_CLEAR_COUNTS, ids)
    checks = [row.id for row in ended if row.phase == ImportPhase.CHECK]
    if checks:
        transaction.execute(_REOPEN_CHECKS, {"ids": checks})
    for row in ended:
        append_events(transaction, [import_retried(row.id, row.tenant_id, row.generation + 1, 0)])
        summary = {"generation": row.generation + 1, "chunks": 0}
        record_own_act(transaction, row.tenant_id, Act(ActKind.IMPORT_RETRIED, row.id, row.case_id, summary))
        request = CompletionMessage(row.id, row.generation + 1)
        send_messages(settings().import_completions_queue_url, [request], tenant_id=row.tenant_id)


def is_reopened(reading: Session, import_id: int, generation: int) -> bool:
    """Return whether `reopen` began this generation of the import, whose pages are not reconciled yet."""
    place = {"import_id": import_id, "generation": generation}
    return reading.execute(_IS_REOPENED, place).first() is not None
