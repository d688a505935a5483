"""Imports, requests and payments that are repeated until they are done, and whether each has happened exactly once.

Messages are delivered again as SQS would, requests are repeated under their key as clients do. The oracles know the
samples' truth and what was asked for, and look past the proxy.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import text

import import_chunk
import publish_outbox
import start_import
from core.errors import CommitOutcomeUnknownError, ExhibitIngestError
from samples.columns import Role
from samples.generator import generate
from samples.oracle import Truth
from samples.spec import Fault, FaultKind, Spec
from shell.db.session import session
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.api import Client, Reply
from tests.support.checks import assert_accounted, turned_down
from tests.support.queried import Queried
from tests.support.world import Context, Handler, Message, World, call
from tests.torture.counted_requests import OF_CASE, Requests, once
from tests.torture.events_oracle import ANNOUNCED
from tests.torture.findings import MISPLACED, UNFINISHED, Finding, asserted

# Titles that are longer are refused by the server, behind the application's back.
NARROW = 60
TENANT, MOST_TRIES = "tenant", 30
LEASES = (
    "UPDATE idempotency_keys SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE status = 'in_progress'",
    "UPDATE outbox_events SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE published = 3",
    "DELETE FROM semaphore_holders",
)
PASSING_STATUSES = (429, 500, 502, 503, 504)
FAULTS = (FaultKind.MISSING_ID, FaultKind.DUPLICATE_ID, FaultKind.INVALID_DATE, FaultKind.NAME_CASE)
PAYMENTS = 5
TABLES = ("counted_payments", "counted_receipts")


class NeverDoneError(Exception):
    """It was tried again and again, and is not done."""


@dataclass
class Work:
    """One round after the other; everything that was found wrong is in `findings`."""

    world: World
    at: Queried
    findings: list[Finding] = field(default_factory=list)
    units: Counter[str] = field(default_factory=Counter)
    repeated: int = 0

    def round(self, seed: int) -> None:
        """An import, requests about what it imported, payments, and whether all of it is there once."""
        draw = random.Random(f"counted work {seed}")
        case = f"case {seed}"
        try:
            self._import(case, seed, draw)
            self._request(case, draw)
            for each in range(PAYMENTS):
                self._pay(PAYMENTS * seed + each)
            self._repeat(self._published)
        except NeverDoneError as error:
            self.findings.append(Finding(UNFINISHED, f"round {seed}: {error}"))

    def _import(self, case: str, seed: int, draw: random.Random) -> None:
        faults = tuple(Fault(draw.choice(FAULTS)) for _ in range(3))
        made = generate(Spec(rows=draw.randint(8, 24), seed=seed, spice=0, newline_marks=False, faults=faults))
        self._deliver(start_import.lambda_handler, self.world.upload(made.data, case=case, **(made.options or {})))
        messages = self.world.chunk_messages()
        draw.shuffle(messages)
        for message in messages:
            self._deliver(import_chunk.lambda_handler, message)
        truth = as_refused(made.truth)
        self.findings += _judge_import(self.at, case, truth, self.units)

    def _request(self, case: str, draw: random.Random) -> None:
        exhibits = [row[0] for row in self.at.query(f"SELECT e.id FROM exhibits e {OF_CASE} ORDER BY e.id", case=case)]
        asked = Requests(Client(TENANT), case, draw.sample(exhibits, 3), draw.getrandbits(30))
        answers = {name: self._answered(ask) for name, ask in asked.all().items()}
        self.units["requests"] += len(answers)
        self.findings += asked.judge(answers, self.at)

    def _pay(self, reference: int) -> None:
        def paid() -> bool:
            try:
                return bool(pay(reference))
            except CommitOutcomeUnknownError:
                return bool(_paid(reference))

        self._repeat(paid)
        self.units["payments"] += 1
        for table in TABLES:
            query = f"SELECT COUNT(*) FROM {table} WHERE reference = :r"
            self.findings += once(f"{table} of {reference}", self.at.query(query, r=reference)[0][0])

    def _deliver(self, handler: Handler, message: Message) -> None:
        self._repeat(lambda: call(handler, message))

    def _published(self) -> bool:
        publish_outbox.lambda_handler({}, Context())
        return not self.at.query("SELECT 1 FROM outbox_events WHERE published <> 1 LIMIT 1")

    def _answered(self, ask: Callable[[], Reply]) -> Reply:
        answers: list[Reply] = []

        def answered() -> bool:
            answers.append(ask())
            passing = answers[-1].status in PASSING_STATUSES or answers[-1].problem in ("in-progress", "conflict")
            return not passing

        self._repeat(answered)
        return answers[-1]

    def _repeat(self, attempt: Callable[[], bool]) -> None:
        last: Exception | None = None
        for _ in range(MOST_TRIES):
            try:
                if attempt():
                    return
            except ExhibitIngestError as error:
                last = error
            self.repeated += 1
            self._pass_a_minute()
        raise NeverDoneError(f"not done after {MOST_TRIES} tries: {attempt.__qualname__}, {last}")

    def _pass_a_minute(self) -> None:
        """What nobody frees any more is free when its lease is over, and nobody is at work now."""
        for lease in LEASES:
            self.at.query(lease)


def as_refused(truth: Truth) -> Truth:
    """The truth where the server takes no title that is longer than NARROW."""
    lines = [each.first_line for each in truth.imported if len(truth.cell(each, Role.TITLE) or "") > NARROW]
    return turned_down(truth, lines, "VALUE_REFUSED")


def _judge_import(at: Queried, case: str, truth: Truth, units: Counter[str]) -> Iterator[Finding]:
    ids = [row[0] for row in at.query(f"SELECT e.id FROM imports e {OF_CASE}", case=case)]
    yield from once(f"imports of {case}", len(ids))
    for import_id in ids:
        yield from asserted(MISPLACED, f"import of {case}", partial(assert_accounted, at, import_id, truth))
        yield from _judge_events(at, import_id, truth)
    units["records"] += len(truth.records)
    units["refused by the server"] += sum(each.codes == {"VALUE_REFUSED"} for each in truth.records)


def _judge_events(at: Queried, import_id: int, truth: Truth) -> Iterator[Finding]:
    """One completion with the right counts, and every change of a value announced once."""
    rows = at.query(
        "SELECT event_type, payload FROM outbox_events WHERE JSON_VALUE(payload, '$.importId') = :i", i=import_id
    )
    told = [(row.event_type, json.loads(row.payload)) for row in rows]
    completions = [event for kind, event in told if kind == "import.completed"]
    yield from once(f"completions of import {import_id}", len(completions))
    for event in completions:
        if event["counts"]["rejected"] != len(truth.rejected):
            yield Finding(MISPLACED, f"import {import_id} was completed with {event['counts']}")
    announced: Counter[str] = Counter()
    for event in (event for kind, event in told if kind == "WARNING"):
        announced[event["code"]] += event["count"]
    wanted = Counter(each.code for record in truth.imported for each in record.warnings)
    for code in ANNOUNCED:
        if announced[code] != wanted[code]:
            yield Finding(MISPLACED, f"import {import_id}: announced {announced[code]} of {wanted[code]} {code}")


def _paid(reference: int) -> bool | None:
    """By a locking read, which waits for a COMMIT that is still under way."""
    with session() as locking:
        look = text("SELECT id FROM counted_payments WHERE reference = :r FOR UPDATE")
        return True if locking.execute(look, {"r": reference}).first() else None


@retry_on_db_conflict(resolve=_paid)
def pay(reference: int) -> bool:
    """A unit that no key and no unique index protects: only the replay does, within a SAVEPOINT and outside."""
    with session() as transaction:
        transaction.execute(text("INSERT INTO counted_payments (reference) VALUES (:r)"), {"r": reference})
        with transaction.begin_nested():
            transaction.execute(text("INSERT INTO counted_receipts (reference) VALUES (:r)"), {"r": reference})
    return True
