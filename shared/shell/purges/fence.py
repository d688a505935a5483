"""Begin the purge of a case whose day has come, and fence the work that runs on it.

Guaranteed: a purge begins under the exclusive lock on the case's row, from which its day, its status and its hold are
read again: a hold that commits first wins. It begins only for an active tenant, whose users can still place a hold; the
tenant's row is shared until then, so that none begins while the tenant moves. From then on no request of the API writes
to the case. Then each import, undo, volume, production, tagging job and export is ended under its own row's lock, with
the next generation, so that no worker commits for it any more. A production past its pivot is not ended: it completes
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.statuses import CaseChange, CaseStatus
from core.tenants.status import TenantStatus
from shell.case_state.changes import record_change
from shell.db.session import session
from shell.purges.turns import BATCH, Turn
from shell.tables.cases import CasePurges, Cases
from shell.tenants.records import share_tenant
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_DUE = text(
    "SELECT id, tenant_id FROM cases FORCE INDEX (ix_cases_purge_after) WHERE purge_after <= UTC_DATE() "
    "AND status = 'closed' AND held_at IS NULL AND NOT EXISTS (SELECT 1 FROM tenants "
    "WHERE tenants.tenant_id = cases.tenant_id AND tenants.status <> 'active') ORDER BY purge_after, id LIMIT :most"
)
_IS_DUE = text("SELECT UTC_DATE() >= :day")


class _Kind(NamedTuple):
    """Work of a case: how the next ids of it are found, and how it is ended."""

    find: str
    end: str


def _build(table: str, index: str, of_case: str, end: str) -> _Kind:
    found = f"SELECT id FROM {table} FORCE INDEX ({index}) WHERE {of_case} AND id > :after ORDER BY id LIMIT :most"  # noqa: S608 - of constants
    return _Kind(found, f"UPDATE {table} SET {end} AND id IN ")  # noqa: S608


_OF_TENANT = "tenant_id = :tenant_id AND case_id = :case_id"
_WORK = (
    _build(
        "imports",
        "ix_imports_case",
        "case_id = :case_id",
        # From left to right: the status is read before it is set.
        "finished_at = COALESCE(finished_at, NOW(6)), generation = generation + 1, status = CASE WHEN status IN "
        "('completed', 'completed_with_rejections', 'failed', 'cancelled', 'checked', 'undone', "
        "'undone_with_conflicts', 'undo_failed') THEN status ELSE 'cancelled' END WHERE TRUE",
    ),
    # Not deleting: a worker that deletes a volume does not count.
    _build("volumes", "ix_volumes_case", _OF_TENANT, "status = 'failed', generation = generation + 1 WHERE TRUE"),
    _build(
        "productions",
        "ix_productions_case",
        _OF_TENANT,
        "status = 'cancelled', is_open = 0, cancel_requested = 1, generation = generation + 1, version = version + 1 "
        "WHERE status NOT IN ('confirmed', 'cancelled') AND NOT EXISTS (SELECT 1 FROM production_steps AS pivot "
        "WHERE pivot.production_id = productions.id AND pivot.name = 'confirm' AND pivot.status = 'completed')",
    ),
    _build(
        "tagging_jobs",
        "ix_tagging_jobs_case",
        _OF_TENANT,
        "status = 'cancelled', turn = turn + 1, finished_at = NOW(6) WHERE status IN ('running', 'counting')",
    ),
    _build(
        "exports",
        "ix_exports_case",
        _OF_TENANT,
        "status = 'cancelled', finished_at = NOW(6) WHERE status IN ('requested', 'running')",
    ),
)
_END_UNDOS = (
    "UPDATE import_undos SET status = 'cancelled', generation = generation + 1, finished_at = NOW(6) "
    "WHERE status IN ('requested', 'running') AND import_id IN "
)
_PAST_PIVOT = text(
    "SELECT 1 FROM productions FORCE INDEX (ix_productions_case) WHERE tenant_id = :tenant_id AND case_id = :case_id "
    "AND is_open = 1 LIMIT 1"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_due_cases() -> list[tuple[int, str]]:
    """Return cases whose purge may begin, with their tenants, at most BATCH."""
    with session() as reading:
        return [(row.id, row.tenant_id) for row in reading.execute(_DUE, {"most": BATCH})]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def begin_purge(case_id: int, tenant_id: str) -> bool:
    """Begin the purge of a case of an active tenant, if it is requested and due, and has no hold; return if it did."""
    with session() as transaction:
        if share_tenant(transaction, tenant_id).status is not TenantStatus.ACTIVE:
            return False
        locking = select(Cases).where(Cases.id == case_id).with_for_update()
        case = transaction.scalars(locking).one_or_none()
        if case is None or case.status != CaseStatus.CLOSED or case.held_at is not None or case.purge_after is None:
            return False
        if not transaction.execute(_IS_DUE, {"day": case.purge_after}).scalar_one():
            return False
        case.status = CaseStatus.PURGING.value
        case.epoch += 1
        transaction.flush()
        transaction.add(CasePurges(case_id=case_id, tenant_id=case.tenant_id, epoch=case.epoch, phase="fence"))
        record_change(transaction, case, CaseChange.PURGE_BEGUN, None)
        return True


def fence_work(transaction: Session, turn: Turn) -> bool:
    """End the next work of a case; return whether there is no more. The turn's row is locked."""
    number, after = turn.position or (0, 0)
    if number == len(_WORK):
        return True
    values = {"case_id": turn.case_id, "tenant_id": turn.tenant_id, "after": after, "most": BATCH}
    ids = list(transaction.scalars(text(_WORK[number].find), values))
    if not ids:
        turn.position = [number + 1, 0]
        return False
    _end(transaction, number, ids)
    turn.position = [number, ids[-1]]
    return False


def _end(transaction: Session, number: int, ids: Sequence[int]) -> None:
    listed = f"({', '.join(map(str, ids))})"
    transaction.execute(text(_WORK[number].end + listed))
    if number == 0:
        transaction.execute(text(_END_UNDOS + listed))


def has_open_productions(reading: Session, turn: Turn) -> bool:
    """Return whether a production past its pivot has not ended yet."""
    values = {"case_id": turn.case_id, "tenant_id": turn.tenant_id}
    return reading.execute(_PAST_PIVOT, values).first() is not None
