"""Take purges on, batch by batch, until the time of an invocation is over.

Guaranteed: a purge goes on from its row, whatever message arrives, how often, and whatever was killed: the row says how
far it is. A message that wakes a worker is sent before the one at hand is acknowledged, while a purge is due; and the
hourly purge of expired rows sends one for each that is, or that begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

from sqlalchemy.orm import Session

from core.errors import TransactionConflictError
from core.purges.phases import PurgePhase
from shell.aws.sqs import send_messages
from shell.deadline import build_deadline_check, seconds_left
from shell.observability import logger, naming_tenant
from shell.purges.ending import end_purge
from shell.purges.fence import begin_purge, fence_work, find_due_cases, has_open_productions
from shell.purges.objects import delete_page
from shell.purges.prefixes import store_prefixes
from shell.purges.rows import delete_batch
from shell.purges.turns import Turn, TurnOverError, batch, go_on, is_any_due, pause, take_turn
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import WakeMessage

# A purge goes to the end of the queue after a turn. A lease is longer than a turn and the batch at its end.
TURN_S, LEASE_S, MARGIN_S = 60, 300, 60
# Between two looks at a production past its pivot.
PRODUCTION_PAUSE_S = 60
# The longest invocation of a function that writes to the bucket, and how far its clock may be from that of S3.
LONGEST_INVOCATION_S, SKEW_S = 900, 300


def take_purges_on() -> None:
    """Begin the purges that are due, and take turns of those that have begun until none is due or time is over.

    Raises StorageUnavailableError and QueueUnavailableError; the row then has what was done.
    """
    for case_id, tenant_id in find_due_cases():
        with naming_tenant(tenant_id):
            _begin(case_id, tenant_id)
    is_near = build_deadline_check(MARGIN_S)
    while not is_near():
        turn = take_turn(min(LEASE_S, max(1, seconds_left())))
        if turn is None:
            return
        with naming_tenant(turn.tenant_id):
            _work(turn, is_near)
    if is_any_due():
        send_messages(settings().case_purges_queue_url, [WakeMessage()])


def _begin(case_id: int, tenant_id: str) -> None:
    try:
        if begin_purge(case_id, tenant_id):
            logger.info("purge of a case begun", extra={"case_id": case_id})
    except TransactionConflictError:
        # One that cannot begin is tried again in an hour, and keeps no other one from going on.
        logger.exception("purge of a case not begun", extra={"case_id": case_id})


def _work(turn: Turn, is_near: Callable[[], bool]) -> None:
    """Take batches of a turn until it is over, then let the next worker take the purge."""
    ends_at = time.monotonic() + TURN_S
    try:
        while take_batch(turn):
            if is_near() or time.monotonic() >= ends_at:
                _release(turn)
                return
    except TurnOverError as over:
        logger.info("turn of a purge over", extra={"case_id": turn.case_id, "reason": str(over)})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _release(turn: Turn) -> None:
    with batch(turn) as (transaction, _):
        pause(transaction, turn.case_id, 0)


def take_batch(turn: Turn) -> bool:
    """Take the next batch; return whether another one can follow at once. Raises TurnOverError."""
    if turn.phase in _LOOKS:
        found = delete_page(turn)
        return True if found is None else _end_look(turn, found)
    return _take_step(turn)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _end_look(turn: Turn, found: int) -> bool:
    with batch(turn) as (transaction, now):
        if found and now.phase is PurgePhase.LAST_LOOK:
            now.position = None  # It is the last one only if it finds nothing.
            return True
        return _end_phase(transaction, now)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _take_step(turn: Turn) -> bool:
    with batch(turn) as (transaction, now):
        if now.phase is PurgePhase.PRODUCTIONS and has_open_productions(transaction, now):
            send_messages(settings().case_purges_queue_url, [WakeMessage()], PRODUCTION_PAUSE_S)
            pause(transaction, now.case_id, PRODUCTION_PAUSE_S)
            return False
        step = _STEPS.get(now.phase)
        if step is not None and not step(transaction, now):
            return True
        return _end_phase(transaction, now)


def _end_phase(transaction: Session, now: Turn) -> bool:
    """Go on to the next phase; return whether it can begin at once."""
    if now.phase is PurgePhase.END:
        return False
    pauses = {
        PurgePhase.ROWS: settings().upload_url_seconds + LONGEST_INVOCATION_S + SKEW_S,
        PurgePhase.ROWS_AGAIN: settings().purge_last_look_seconds,
    }
    pause_s = pauses.get(now.phase)
    go_on(now)
    if pause_s is not None:
        pause(transaction, now.case_id, pause_s)
    return pause_s is None


# The phases that look at all objects.
_LOOKS = frozenset({PurgePhase.OBJECTS, PurgePhase.OBJECTS_AGAIN, PurgePhase.LAST_LOOK})
# What each of the others does in a batch; it returns whether it is done.
_STEPS: Mapping[PurgePhase, Callable[[Session, Turn], bool]] = {
    PurgePhase.FENCE: fence_work,
    PurgePhase.PREFIXES: store_prefixes,
    PurgePhase.ROWS: partial(delete_batch, is_again=False),
    PurgePhase.ROWS_AGAIN: partial(delete_batch, is_again=True),
    PurgePhase.END: end_purge,
}
