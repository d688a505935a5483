"""Publish events to an event bus of EventBridge, beside SNS, in deployments that have one.

Guaranteed: each event that SNS accepted, or that was dead-lettered for SNS, is published to the bus at least once, with
the same body. The transaction that records the result for SNS adds a row for the bus (WAITING), so that nothing is lost
between the two, and neither target delays, loses or reorders what the other gets: SNS is served first, and the bus from
its own rows. First publications of an aggregate are in the order of its `sequence`: each run publishes a row only after
all earlier rows of its aggregate, and two runs at once repeat rows in this order. A row that the bus refuses
MAX_REFUSALS times is dead-lettered for the bus alone; `release_dead_letters` has it retried.
Not guaranteed: the order of arrival; EventBridge has none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from shell.aws.clients import event_bridge
from shell.aws.key_refusals import KeyRefusedError
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.deadline import seconds_left
from shell.observability import log_failure, logger
from shell.settings import settings
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

SOURCE = "exhibit-ingest"
# The values of `outbox_events.published` for the bus. The previous release's relay knows none of them.
WAITING, DEAD_LETTERED = 4, 5
# PutEvents takes 10 entries of 262,144 bytes in total.
BATCH, BATCH_BYTES, ENTRY_BYTES = 10, 250_000, 500
WINDOW, MAX_REFUSALS = 100, 5
# Error codes of an entry that mean the entry itself; all others concern the bus, or pass.
_REFUSALS = frozenset({"MalformedDetail", "InvalidArgument", "InvalidParameterValue", "ValidationException"})

# What is kept of an event that is dead-lettered, or that the bus refused: the values of `build_facts`, each by its id.
DEAD_LETTER_FACTS = (
    "tenant_id = NULLIF(JSON_UNQUOTE(JSON_EXTRACT(:tenants, CONCAT('$.\"', id, '\"'))), ''), "
    "refusal = JSON_UNQUOTE(JSON_EXTRACT(:refusals, CONCAT('$.\"', id, '\"'))), dead_lettered_at = NOW(6)"
)
MAX_REFUSAL_CHARACTERS = 64

_COLUMNS = ("aggregate_type", "aggregate_id", "event_type", "payload", "published")
# Before the rows are marked as published: repeated after an unknown COMMIT, it finds none.
_COPY = text(
    "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, sequence, source_id) "
    "SELECT aggregate_type, aggregate_id, event_type, payload, 4, sequence, id FROM outbox_events "
    "FORCE INDEX (PRIMARY) WHERE id IN :ids AND lease_token = :token AND published = 3 ORDER BY sequence"
).bindparams(bindparam("ids", expanding=True))
_NEXT = text(
    "SELECT id, aggregate_type, aggregate_id, event_type, payload, sequence, source_id "
    "FROM outbox_events FORCE INDEX (ix_outbox_events_unpublished) "
    "WHERE published = 4 AND id > :after ORDER BY id LIMIT :most"
)
_MARK = text(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = 1 WHERE id IN :ids AND published = 4"
).bindparams(bindparam("ids", expanding=True))
_REFUSE = text(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = IF(failures + 1 >= :most, 5, 4), "  # noqa: S608 - of constants
    f"failures = failures + 1, {DEAD_LETTER_FACTS} WHERE id IN :ids AND published = 4"
).bindparams(bindparam("ids", expanding=True))
_RELEASE = text("UPDATE outbox_events SET published = 4, failures = 0 WHERE published = 5")


def copy_to_bus(transaction: Session, token: str, ids: Sequence[int]) -> None:
    """Add rows for the bus for leased events whose result for SNS this transaction records; nothing without a bus."""
    if settings().event_bus_name and ids:
        transaction.execute(_COPY, {"token": token, "ids": ids})


def append_for_bus(transaction: Session, aggregate: tuple[str, str], event_type: str, payload: dict[str, Any]) -> None:
    """Add a message that is published to SNS without the outbox; nothing without a bus."""
    if settings().event_bus_name:
        row = (*aggregate, event_type, json.dumps(payload), WAITING)
        insert_new(transaction, "outbox_events", _COLUMNS, [row])


def publish_to_bus() -> int:
    """Publish the waiting rows until none is left, time is short or the bus is unreachable; return how many.

    An aggregate of which a row is not accepted waits for the next run.
    """
    published, after, blocked = 0, 0, set[tuple[str, str]]()
    while settings().event_bus_name and seconds_left() > 0:
        rows = _read_next(after)
        if not rows:
            break
        accepted, reachable = _publish_window(rows, blocked)
        published, after = published + accepted, rows[-1].id
        if not reachable:
            break
    return published


def release_bus_dead_letters() -> int:
    """Have rows that the bus refused published again; return how many."""
    return _release() if settings().event_bus_name else 0


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _release() -> int:
    with session() as transaction:
        return count_changed_rows(transaction.execute(_RELEASE))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_next(after: int) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_NEXT, {"after": after, "most": WINDOW}).all()


def _publish_window(rows: Sequence[Any], blocked: set[tuple[str, str]]) -> tuple[int, bool]:
    """Publish rows in their order, one of an aggregate in a call; return how many, and whether the bus is reachable."""
    left, published = list(rows), 0
    while batch := _choose_batch(left, blocked):
        response = _put(batch)
        if response is None:
            return published, False
        accepted = [row.id for row, error in zip(batch, response, strict=True) if not error]
        refused = [(row, error) for row, error in zip(batch, response, strict=True) if error in _REFUSALS]
        blocked.update(_aggregate(row) for row, error in zip(batch, response, strict=True) if error)
        _record(accepted, refused)
        published += len(accepted)
        if not accepted and not refused:
            return published, False
        done = {row.id for row in batch}
        left = [row for row in left if row.id not in done]
    return published, True


def _choose_batch(rows: Sequence[Any], blocked: set[tuple[str, str]]) -> list[Any]:
    firsts: dict[tuple[str, str], Any] = {}
    for row in rows:
        if _aggregate(row) not in blocked:
            firsts.setdefault(_aggregate(row), row)
    heads = list(firsts.values())[:BATCH]
    sizes = accumulate(len(row.payload) + ENTRY_BYTES for row in heads)
    return heads[: max(1, sum(size <= BATCH_BYTES for size in sizes))] if heads else []


def _aggregate(row: Any) -> tuple[str, str]:
    return row.aggregate_type, row.aggregate_id


def _put(batch: Sequence[Any]) -> list[str] | None:
    """Return the error code of each entry, empty for one that was accepted; None if the call failed."""
    try:
        response = event_bridge().put_events(Entries=[_build_entry(row) for row in batch])
    except KeyRefusedError as error:
        log_failure(error)
        return None
    except (BotoCoreError, ClientError) as error:
        logger.warning("events not published to the bus", extra={"count": len(batch), "error": type(error).__name__})
        return None
    return [str(entry.get("ErrorCode") or "") for entry in response["Entries"]]


def _build_entry(row: Any) -> Any:
    body = json.loads(row.payload)
    if row.source_id is not None:
        body |= {"eventType": row.event_type, "eventId": row.source_id, "sequence": row.sequence}
    return {
        "Source": SOURCE,
        "DetailType": row.event_type,
        "Detail": json.dumps(body),
        "EventBusName": settings().event_bus_name,
    }


def build_facts(events: Sequence[tuple[int, str, str]]) -> dict[str, str]:
    """Return the values of DEAD_LETTER_FACTS for events: the id of each, its tenant, and the code of its refusal."""
    tenants = {str(event_id): tenant for event_id, tenant, _ in events}
    refusals = {str(event_id): code[:MAX_REFUSAL_CHARACTERS] for event_id, _, code in events}
    return {"tenants": json.dumps(tenants), "refusals": json.dumps(refusals)}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _record(accepted: Sequence[int], refused: Sequence[tuple[Any, str]]) -> None:
    facts = build_facts([(row.id, str(json.loads(row.payload).get("tenantId", "")), error) for row, error in refused])
    with session() as transaction:
        if accepted:
            transaction.execute(_MARK, {"ids": accepted})
        if refused:
            ids = [row.id for row, _ in refused]
            transaction.execute(_REFUSE, {"ids": ids, "most": MAX_REFUSALS, **facts})
