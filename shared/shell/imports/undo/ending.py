"""End an undo of which every part is done or failed: drop the names that nothing needs, then counts, status and event.

Guaranteed: exactly one transaction ends an undo. Every transaction before it can be repeated. Only names that imports
which are undone have added, and that nothing references, are dropped.
"""

from __future__ import annotations

from sqlalchemy import bindparam, text

from core.events import import_undone
from core.statuses import UNDONE_STATUSES, UndoStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.imports.state.dependents import go_on_beside, lock_before
from shell.imports.state.unused_names import delete_unused, find_unused, find_window
from shell.imports.undo.run import lock_undo
from shell.observability import logger
from shell.outbox.writer import append_events, wake_relay
from shell.tables.imports import Imports
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

NAMES_PER_WINDOW = 10_000
COUNTS = ("restored", "removed", "kept", "links_restored")
_TOTALS = text(
    f"SELECT {', '.join(f'COALESCE(SUM({name}), 0) AS {name}' for name in COUNTS)}, "  # noqa: S608 - constants
    "COALESCE(SUM(status = 'failed'), 0) AS failed FROM import_undo_parts "
    "WHERE import_id = :import_id AND undo_no = :undo_no"
)
_UNDONE = text(
    "SELECT other.id FROM imports AS other JOIN imports AS this ON this.case_id = other.case_id "
    "WHERE this.id = :import_id AND other.status IN :statuses ORDER BY other.id"
).bindparams(bindparam("statuses", expanding=True))


def complete_undo(import_id: int, undo_no: int) -> None:
    """End the undo; do nothing if it has ended or has parts left.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    undone = _begin(import_id, undo_no)
    if undone is None:
        return
    for each in undone:
        for kind in NAME_KINDS:
            _drop_names(kind, each)
    if _finish(import_id, undo_no):
        wake_relay()
        logger.info("undo ended", extra={"import_id": import_id, "undo_no": undo_no})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _begin(import_id: int, undo_no: int) -> list[int] | None:
    """Return the imports whose names may be dropped, none for a dry run; None if the undo is not to be ended."""
    with session() as locking:
        undo = lock_undo(locking, import_id, undo_no)
        if undo is None or undo.status != UndoStatus.RUNNING or undo.parts_left:
            return None
        if undo.dry_run:
            return []
        statuses = [each.value for each in sorted(UNDONE_STATUSES)]
        return list(locking.execute(_UNDONE, {"import_id": import_id, "statuses": statuses}).scalars())


def _drop_names(kind: NameKind, import_id: int) -> None:
    after: int | None = 0
    while after is not None:
        after = _drop_window(kind, import_id, after)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _drop_window(kind: NameKind, import_id: int, after: int) -> int | None:
    """Drop the unused ones of the import's next names after the id; return the last id looked at, None at the end."""
    with session() as transaction:
        last, found = find_window(transaction, kind, import_id, after, NAMES_PER_WINDOW)
        if found:
            delete_unused(transaction, kind, import_id, find_unused(transaction, kind, import_id, after, last))
    return last if found == NAMES_PER_WINDOW else None


def _has_ended(import_id: int, undo_no: int, _generation: int | None = None) -> bool | None:
    """Return True if the undo has ended, else None; wait for a COMMIT that is under way."""
    with session() as locking:
        undo = lock_undo(locking, import_id, undo_no)
        return True if undo is None or undo.finished_at is not None else None


@retry_on_db_conflict(resolve=_has_ended)
def _finish(import_id: int, undo_no: int, failed_generation: int | None = None) -> bool:
    """Record the counts and the status of the undo and its import, and write the event; False if it has ended.

    `failed_generation` ends an undo whose parts could not be begun or ended, unless it was retried since.
    """
    with session() as transaction:
        lock_before(transaction, import_id)
        undo = lock_undo(transaction, import_id, undo_no)
        if undo is None or undo.finished_at is not None or failed_generation not in (None, undo.generation):
            return False
        if undo.parts_left and failed_generation is None:
            return False
        import_record = transaction.get_one(Imports, import_id)
        totals = transaction.execute(_TOTALS, {"import_id": import_id, "undo_no": undo_no}).one()._mapping
        counts = {name: int(totals[name]) for name in COUNTS}
        undo.status = _choose_status(is_failed=bool(failed_generation or totals["failed"]), kept=counts["kept"]).value
        for name, count in counts.items():
            setattr(undo, name, count)
        undo.finished_at = transaction.execute(text("SELECT NOW(6)")).scalar_one()
        if not undo.dry_run:
            import_record.status = undo.status
            transaction.flush()
            go_on_beside(transaction, import_id)
        summary = {"undoNo": undo_no, "status": undo.status, "dryRun": bool(undo.dry_run), **counts}
        act = Act(ActKind.UNDO_ENDED, import_id, import_record.case_id, summary)
        record_own_act(transaction, import_record.tenant_id, act)
        append_events(transaction, [import_undone(import_id, import_record.tenant_id, undo_no, undo.status, counts)])
    return True


def _choose_status(*, is_failed: bool, kept: int) -> UndoStatus:
    if is_failed:
        return UndoStatus.UNDO_FAILED
    return UndoStatus.UNDONE_WITH_CONFLICTS if kept else UndoStatus.UNDONE


def fail_undo(import_id: int, undo_no: int, generation: int) -> bool:
    """Record that an undo could not be begun or ended in any attempt; return False if it had ended, or was retried."""
    return _finish(import_id, undo_no, generation)
