"""End a purge: store its certificate, replace the names of the case by hashes, and delete what the purge has noted.

Guaranteed: the certificate, the status `purged`, the hashes and the event commit together. The name of a purged case
is free again; what is uploaded under it later is refused by its hash.
"""

from __future__ import annotations

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.events import case_purged
from core.purges.certificate import Certificate
from core.statuses import CaseChange, CaseStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.case_state.names import forget_names
from shell.observability import logger
from shell.outbox.writer import append_events
from shell.purges.certificates import build_certificate
from shell.purges.turns import BATCH, Turn
from shell.tables.cases import CaseChanges, CasePurges, Cases
from shell.utils.db_helpers import count_changed_rows

_DELETE_PREFIXES = text(f"DELETE FROM case_purge_prefixes WHERE case_id = :case_id ORDER BY prefix_no LIMIT {BATCH}")  # noqa: S608 - of constants
_DELETE_REST = (
    text("DELETE FROM case_purge_objects WHERE case_id = :case_id"),
    text("DELETE FROM case_purge_counts WHERE case_id = :case_id"),
)
_HIDE_NOTES = text(
    "UPDATE case_changes SET note = NULL WHERE tenant_id = :tenant_id AND case_id = :case_id AND note IS NOT NULL"
)


def end_purge(transaction: Session, turn: Turn) -> bool:
    """Do the next part of the end; return whether that was the last. The turn's row is locked."""
    values = {"case_id": turn.case_id, "tenant_id": turn.tenant_id}
    if count_changed_rows(transaction.execute(_DELETE_PREFIXES, values)) == BATCH:
        return False
    case = transaction.scalars(select(Cases).where(Cases.id == turn.case_id).with_for_update()).one()
    purge = transaction.get_one(CasePurges, turn.case_id)
    purge.ended_at = transaction.execute(select(func.now(6))).scalar_one()
    certificate = build_certificate(transaction, case, purge, purge.ended_at)
    _hide_names(transaction, case)
    transaction.execute(_HIDE_NOTES, values)
    _record(transaction, case, certificate)
    for statement in _DELETE_REST:
        transaction.execute(statement, values)
    append_events(transaction, [case_purged(case.id, case.tenant_id, certificate.sha256)])
    logger.info("case purged", extra={"case_id": case.id, "sha256": certificate.sha256})
    return True


def _hide_names(transaction: Session, case: Cases) -> None:
    name = case.name
    case.status = CaseStatus.PURGED.value
    case.hold_reason = case.held_by = case.held_at = None
    transaction.flush()
    forget_names(transaction, case.id, name)


def _record(transaction: Session, case: Cases, certificate: Certificate) -> None:
    details = certificate.model_dump_json(by_alias=True)
    change = CaseChanges(tenant_id=case.tenant_id, case_id=case.id, kind=CaseChange.PURGED.value, details=details)
    transaction.add(change)
    summary = {"sha256": certificate.sha256}
    record_own_act(transaction, case.tenant_id, Act(ActKind.CASE_PURGED, case.id, case.id, summary))
