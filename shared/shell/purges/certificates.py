"""The certificate of a purge: built from its counts while it goes on, stored with its end.

Guaranteed: once the purge has ended, the certificate is the one that was stored then, byte for byte. Data of another
tenant, and of cases that the caller is not limited to, is not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.errors import NotFoundError
from core.purges.certificate import (
    Certificate,
    DestroyedObjects,
    DestroyedRows,
    KeptRows,
    LockedObjects,
    Remains,
)
from core.purges.digests import Tally, combine
from core.purges.phases import PurgePhase
from core.purges.remains import Keeping, list_remains
from core.statuses import CaseChange
from shell.aws.all_versions import MARKERS, UPLOADS, VERSIONS
from shell.db.session import session
from shell.exhibits.cases import load_case
from shell.purges.plan import KEPT
from shell.purges.tallies import read_tallies
from shell.settings import settings
from shell.tables.cases import CaseChanges, CasePurges, Cases
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

__all__ = ["Certificate", "build_certificate", "read_certificate"]

_LOCKED = text(
    "SELECT COUNT(*) AS versions, COALESCE(SUM(size), 0) AS bytes, MAX(locked_until) AS until "
    "FROM case_purge_objects WHERE case_id = :case_id AND is_locked = 1"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def read_certificate(caller: Caller, case_id: int) -> Certificate:
    """Return the certificate of a purge that has begun. Raises NotFoundError."""
    with session() as reading:
        case = load_case(reading, caller, case_id)
        # A tenant that was moved after the purge has the certificate, and not the row of the purge.
        stored = _read_stored(reading, caller.tenant_id, case_id)
        if stored is not None:
            return Certificate.model_validate_json(stored)
        own = (CasePurges.tenant_id == caller.tenant_id, CasePurges.case_id == case_id)
        purge = reading.scalars(select(CasePurges).where(*own)).one_or_none()
        if purge is None:
            raise NotFoundError("No purge of this case has begun.")
        return build_certificate(reading, case, purge, ended_at=None)


def _read_stored(reading: Session, tenant_id: str, case_id: int) -> str | None:
    own = (CaseChanges.tenant_id == tenant_id, CaseChanges.case_id == case_id)
    stored = select(CaseChanges.details).where(*own, CaseChanges.kind == CaseChange.PURGED.value)
    return reading.scalars(stored.order_by(CaseChanges.id).limit(1)).one_or_none()


def build_certificate(reading: Session, case: Cases, purge: CasePurges, ended_at: datetime | None) -> Certificate:
    """Return the certificate with what was destroyed so far; it is final with `ended_at`."""
    tallies = read_tallies(reading, purge.case_id)
    configured = settings()
    keeping = Keeping(configured.backup_days, configured.backup_vault_days, configured.log_retention_days)
    since = ended_at or purge.next_at
    return Certificate(
        case_id=purge.case_id,
        phase=PurgePhase(purge.phase),
        requested_by=case.purge_requested_by,
        requested_at=case.purge_requested_at,
        began_at=purge.began_at,
        ended_at=ended_at,
        next_at=None if ended_at else purge.next_at,
        rows=_list_rows(tallies),
        objects=_list_objects(tallies),
        sha256=combine((kind, name, tally) for (kind, name), tally in tallies.items()).hex(),
        locked=_read_locked(reading, purge.case_id),
        kept=[KeptRows(table=table, content=content) for table, content in KEPT.items()],
        remains=[Remains(**each._asdict()) for each in list_remains(since, keeping, configured.idempotency_ttl_hours)],
    )


def _list_rows(tallies: Mapping[tuple[str, str], Tally]) -> list[DestroyedRows]:
    found = sorted((name, tally) for (kind, name), tally in tallies.items() if kind == "rows")
    return [DestroyedRows(table=name, rows=tally.total, sha256=tally.digest.hex()) for name, tally in found]


def _list_objects(tallies: Mapping[tuple[str, str], Tally]) -> list[DestroyedObjects]:
    names = sorted({name for kind, name in tallies if kind != "rows"})
    return [_describe_objects(name, tallies) for name in names]


def _describe_objects(name: str, tallies: Mapping[tuple[str, str], Tally]) -> DestroyedObjects:
    counts = {kind: tallies.get((kind, name), Tally()) for kind in (VERSIONS, MARKERS, UPLOADS)}
    return DestroyedObjects(
        kind=name,
        versions=counts[VERSIONS].total,
        delete_markers=counts[MARKERS].total,
        multipart_uploads=counts[UPLOADS].total,
        bytes=counts[VERSIONS].size,
        sha256=combine((kind, name, tally) for kind, tally in counts.items()).hex(),
    )


def _read_locked(reading: Session, case_id: int) -> LockedObjects | None:
    found: Any = reading.execute(_LOCKED, {"case_id": case_id}).one()
    if not found.versions:
        return None
    return LockedObjects(versions=found.versions, bytes=int(found.bytes), until=found.until)
