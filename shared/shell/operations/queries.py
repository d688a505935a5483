"""Read what of a tenant runs, waits and failed, and its events that could not be published.

Guaranteed: data of another tenant is not found; a call takes six statements. A count above LISTED is stated as a lower
bound. Not guaranteed: that all lists are of one instant; what ends meanwhile can be missing from each, and is then in
the next call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.codes import FileFailure
from core.contracts import operations as schemas
from core.contracts.operations import LISTED, WorkKind, WorkState
from core.errors import ForbiddenError
from shell.db.session import session
from shell.operations.statements import STATEMENTS
from shell.outbox import bus, leases
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# What of a failure of a whole file a retry can help; core.imports.steps decides it.
_RETRYABLE = frozenset(
    {
        *(FileFailure.NOT_READ, FileFailure.NOT_COMPLETED, FileFailure.HELD_TOO_LONG),
        *(FileFailure.CASE_CLOSED, FileFailure.ROWS_PER_DAY),
    }
)
_EVENT = (
    "(SELECT e.id, e.event_type, e.published, e.aggregate_type, e.aggregate_id, e.created_at, e.dead_lettered_at, "
    "e.attempts, e.failures, e.refusal FROM outbox_events AS e FORCE INDEX (ix_outbox_events_tenant) "
    "WHERE e.tenant_id = :tenant_id AND e.published = {state} ORDER BY e.id DESC LIMIT {limit})"
)
_EVENTS = text(
    " UNION ALL ".join(
        _EVENT.format(state=state, limit=LISTED + 1) for state in (leases.DEAD_LETTERED, bus.DEAD_LETTERED)
    )
    + " ORDER BY id DESC"
)


def refuse_limited(caller: Caller) -> None:
    """Raise ForbiddenError for a caller who is limited to cases: a list of a few of all would not be bounded."""
    if caller.cases is not None:
        raise ForbiddenError("Operations concern the whole tenant, and your token is limited to cases.")


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_operations(caller: Caller) -> schemas.Operations:
    """Return what runs, waits and failed, newest first. Raises ForbiddenError for a caller who is limited to cases."""
    refuse_limited(caller)
    with session() as reading:
        found = [row for table in STATEMENTS for row in _read_works(reading, caller, table)]
        events = list_dead_letters(reading, caller)
    return schemas.Operations(groups=_group(found), events=events, failed_days=schemas.FAILED_DAYS)


def _read_works(reading: Session, caller: Caller, table: str) -> Sequence[Any]:
    return reading.execute(STATEMENTS[table], {"tenant_id": caller.tenant_id}).all()


def _group(rows: Sequence[Any]) -> list[schemas.WorkGroup]:
    found: dict[tuple[WorkState, WorkKind], list[Any]] = defaultdict(list)
    for row in rows:
        found[_find_state(row), WorkKind(row.kind)].append(row)
    return [
        schemas.WorkGroup(
            kind=kind,
            state=state,
            total=min(len(found[state, kind]), LISTED),
            total_is_lower_bound=len(found[state, kind]) > LISTED,
            items=[_describe(row, state) for row in found[state, kind][:LISTED]],
        )
        for state in WorkState
        for kind in WorkKind
        if (state, kind) in found
    ]


def _find_state(row: Any) -> WorkState:
    """Return the state; an import of whose chunks none has ended yet waits for a turn."""
    state = WorkState(row.state)
    return WorkState.WAITING if state is WorkState.RUNNING and row.is_untouched else state


def _describe(row: Any, state: WorkState) -> schemas.Work:
    return schemas.Work(
        id=row.id,
        status=row.status,
        case_id=row.case_id,
        case=row.case_name,
        name=row.name,
        since=row.since,
        chunks_failed=row.chunks_failed,
        code=row.code,
        reason=row.reason,
        can_be_retried=state is WorkState.FAILED and _can_be_retried(row),
    )


def _can_be_retried(row: Any) -> bool:
    if row.kind == WorkKind.PRODUCTION:
        return True
    return row.kind == WorkKind.IMPORT and (row.chunks_failed > 0 or row.code in _RETRYABLE)


def list_dead_letters(reading: Session, caller: Caller) -> schemas.DeadLetters:
    """Return the tenant's events that could not be published, newest first, in one statement."""
    rows = reading.execute(_EVENTS, {"tenant_id": caller.tenant_id}).all()
    # Without a bus, what it refused is published by no one.
    rows = [row for row in rows if row.published == leases.DEAD_LETTERED or settings().event_bus_name]
    items = [_describe_event(row) for row in rows[:LISTED]]
    return schemas.DeadLetters(total=len(items), total_is_lower_bound=len(rows) > LISTED, items=items)


def _describe_event(row: Any) -> schemas.DeadLetter:
    target = schemas.Target.SNS if row.published == leases.DEAD_LETTERED else schemas.Target.BUS
    return schemas.DeadLetter(
        id=row.id,
        event_type=row.event_type,
        target=target,
        object_type=row.aggregate_type,
        object_id=row.aggregate_id,
        created_at=row.created_at,
        dead_lettered_at=row.dead_lettered_at,
        attempts=row.attempts,
        refusals=row.failures,
        refusal=row.refusal,
    )
