"""Who works on a purge: a worker takes a turn, and each of its transactions keeps to it.

Guaranteed: of two workers of a purge, only the one with the later turn commits; a turn ends with its lease, so that the
purge goes on after a worker that was killed. Each batch checks that the case is still being purged in the same epoch,
and has no hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import ExhibitIngestError
from core.purges.phases import PurgePhase
from core.statuses import CaseStatus
from shell.db.session import session
from shell.tables.cases import CasePurges, Cases
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# Rows of a table that one transaction of a purge deletes or changes at most.
BATCH = 500
_TAKE = text(
    "SELECT case_id FROM case_purges FORCE INDEX (ix_case_purges_next) "
    "WHERE ended_at IS NULL AND next_at <= NOW(6) ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED"
)
_LEASE = text(
    "UPDATE case_purges SET turn = turn + 1, next_at = NOW(6) + INTERVAL :lease_s SECOND WHERE case_id = :case_id"
)
_PAUSE = text("UPDATE case_purges SET next_at = NOW(6) + INTERVAL :pause_s SECOND WHERE case_id = :case_id")
_IS_ANY_DUE = text("SELECT 1 FROM case_purges WHERE ended_at IS NULL AND next_at <= NOW(6) LIMIT 1")


class TurnOverError(ExhibitIngestError):
    """Another worker has the turn, or the case must not be purged any more; the turn is over."""


@dataclass
class Turn:
    """A turn of a purge, as its row has it; `position` is what the phase has stored, and is stored with the batch."""

    case_id: int
    tenant_id: str
    number: int
    phase: PurgePhase
    position: Any = None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def take_turn(lease_s: float) -> Turn | None:
    """Take the purge that has waited longest; None if none is due. It is leased for `lease_s` seconds."""
    with session() as transaction:
        case_id = transaction.execute(_TAKE).scalar()
        if case_id is None:
            return None
        transaction.execute(_LEASE, {"case_id": case_id, "lease_s": int(lease_s)})
        return _describe(_lock(transaction, case_id))


def _lock(transaction: Session, case_id: int) -> CasePurges:
    locking = select(CasePurges).where(CasePurges.case_id == case_id).with_for_update()
    return transaction.scalars(locking.execution_options(populate_existing=True)).one()


def _describe(purge: CasePurges) -> Turn:
    position = json.loads(purge.position) if purge.position else None
    return Turn(purge.case_id, purge.tenant_id, purge.turn, PurgePhase(purge.phase), position)


@contextmanager
def batch(turn: Turn) -> Iterator[tuple[Session, Turn]]:
    """Lock the purge for a batch; yield the transaction, and the turn as it is now, whose position is stored then.

    Raises TurnOverError.
    """
    with session() as transaction:
        purge = _lock(transaction, turn.case_id)
        if (purge.turn, purge.phase) != (turn.number, turn.phase) or purge.ended_at is not None:
            # The phase is another one if a commit of unknown outcome has taken place: the next turn begins with it.
            raise TurnOverError("another worker has the turn")
        _check_case(transaction, purge)
        now = _describe(purge)
        yield transaction, now
        purge.phase = now.phase.value
        purge.position = None if now.position is None else json.dumps(now.position)
    turn.phase, turn.position = now.phase, now.position


def _check_case(transaction: Session, purge: CasePurges) -> None:
    case = transaction.get(Cases, purge.case_id, populate_existing=True)
    if case is None or case.status != CaseStatus.PURGING or case.epoch != purge.epoch:
        raise TurnOverError("the case is not being purged")
    if case.held_at is not None:
        raise TurnOverError("the case is on hold")


def go_on(turn: Turn) -> None:
    """Move a turn, within a batch, to the next phase."""
    turn.phase, turn.position = turn.phase.next, None


def pause(transaction: Session, case_id: int, pause_s: float) -> None:
    """Let no worker take the purge for some seconds; 0 lets the next worker take it at once. Within a batch."""
    transaction.execute(_PAUSE, {"case_id": case_id, "pause_s": int(pause_s)})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def is_any_due() -> bool:
    """Return whether a purge waits for a worker."""
    with session() as reading:
        return reading.execute(_IS_ANY_DUE).first() is not None
