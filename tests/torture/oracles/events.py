"""Whether every fact was published, in order, and nothing else."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, EARLY, LOST, MISPLACED, UNFINISHED, Finding

if TYPE_CHECKING:
    from tests.torture.stack.subscriber import Subscriber

PUBLISHED = 1
BEGINNINGS = frozenset({"import.started", "production.requested"})
ENDINGS = frozenset({"import.completed", "production.confirmed", "production.cancelled"})
ANNOUNCED = ("VALUE_TRUNCATED", "CHARACTERS_REMOVED", "PROPERTY_DROPPED", "INVALID_DATE")


def judge_events(ledger: Ledger, at: Queried, subscriber: Subscriber) -> Iterator[Finding]:
    """All events of the seed."""
    for event in subscriber.early:
        yield Finding(EARLY, f"heard before it was committed: {event}")
    rows = at.query(
        "SELECT id, event_type, payload, published, sequence FROM outbox_events WHERE id > :after",
        after=ledger.after_event,
    )
    times = subscriber.times_heard()
    for row in rows:
        if row.published != PUBLISHED:
            yield Finding(UNFINISHED, f"event {row.id} ({row.event_type}) is in state {row.published}")
        if not times[row.id]:
            yield Finding(LOST, f"event {row.id} ({row.event_type}) was never heard")
    for place, count in Counter(row.sequence for row in rows if row.sequence is not None).items():
        if count > 1:
            yield Finding(DOUBLED, f"place {place} was given to {count} events")
    yield from _judge_order(subscriber)
    yield from _judge_stories(subscriber)
    yield from _judge_starts(rows)
    yield from _judge_completions(ledger, rows)
    yield from _judge_productions_ends(ledger, rows)
    yield from _judge_warnings(ledger, at, rows)


def _judge_order(subscriber: Subscriber) -> Iterator[Finding]:
    """The first time that each is heard, an aggregate's events come in the order of their sequences."""
    last: dict[tuple[str, str], int] = defaultdict(int)
    heard: set[int] = set()
    for event in list(subscriber.heard):
        if "sequence" not in event or event["eventId"] in heard:
            continue
        heard.add(event["eventId"])
        aggregate = _aggregate(event)
        if event["sequence"] <= last[aggregate]:
            yield Finding(MISPLACED, f"event {event['eventId']} of {aggregate} was heard behind a later one")
        last[aggregate] = max(last[aggregate], event["sequence"])


def _aggregate(event: dict[str, Any]) -> tuple[str, str]:
    if "productionId" in event:
        return "production", str(event["productionId"])
    if "chunkNo" in event:
        return "chunk", f"{event['importId']}/{event['chunkNo']}"
    return "import", str(event.get("importId"))


def _judge_stories(subscriber: Subscriber) -> Iterator[Finding]:
    """A subscriber receives first how an import or a production began, whatever it receives twice later."""
    begun: set[tuple[str, str]] = set()
    for event in list(subscriber.heard):
        if event.get("eventType") in BEGINNINGS:
            begun.add(_aggregate(event))
        elif event.get("eventType") in ENDINGS and _aggregate(event) not in begun:
            yield Finding(MISPLACED, f"{event['eventType']} of {_aggregate(event)} was heard before its beginning")


def _judge_starts(rows: Any) -> Iterator[Finding]:
    """An import starts once: with the one transaction that registers its chunks."""
    starts = Counter(json.loads(row.payload)["importId"] for row in rows if row.event_type == "import.started")
    for import_id, count in starts.items():
        if count > 1:
            yield Finding(DOUBLED, f"import {import_id} was started {count} times")


def _judge_completions(ledger: Ledger, rows: Any) -> Iterator[Finding]:
    ends: Counter[tuple[int, int]] = Counter()
    last: dict[int, dict[str, Any]] = {}
    for row in rows:
        if row.event_type == "import.completed":
            found = json.loads(row.payload)
            ends[found["importId"], found["generation"]] += 1
            last[found["importId"]] = found
    for (import_id, generation), count in ends.items():
        if count > 1:
            yield Finding(DOUBLED, f"import {import_id} was completed {count} times in generation {generation}")
    for upload in ledger.uploads:
        counts = last.get(upload.import_id, {}).get("counts", {})
        if not counts:
            yield Finding(LOST, f"no event says that import {upload.import_id} was completed")
        elif counts["rejected"] != len(upload.made.truth.rejected):
            yield Finding(MISPLACED, f"import {upload.import_id} was completed with {counts}")


def _judge_productions_ends(ledger: Ledger, rows: Any) -> Iterator[Finding]:
    """Of each production one end was published, the one that it came to."""
    ends: dict[int, list[str]] = {production: [] for production in ledger.productions}
    for row in rows:
        if row.event_type in ("production.confirmed", "production.cancelled"):
            ends.setdefault(json.loads(row.payload)["productionId"], []).append(row.event_type)
    for production, found in ends.items():
        if found != [f"production.{ledger.productions.get(production)}"]:
            kind = DOUBLED if len(found) > 1 else LOST
            yield Finding(kind, f"production {production} is {ledger.productions.get(production)}, by events {found}")


def _judge_warnings(ledger: Ledger, at: Queried, rows: Any) -> Iterator[Finding]:
    """Every change of a value was announced once, by code and count."""
    found: Counter[tuple[int, str]] = Counter()
    for row in rows:
        if row.event_type == "WARNING":
            event = json.loads(row.payload)
            found[event["importId"], event["code"]] += event["count"]
    for upload in ledger.uploads:
        expected = Counter(warning.code for record in upload.made.truth.imported for warning in record.warnings)
        for code in ANNOUNCED:
            if found[upload.import_id, code] != expected[code]:
                counts = f"{found[upload.import_id, code]} of {expected[code]}"
                yield Finding(MISPLACED, f"import {upload.import_id}: announced {counts} {code}")
