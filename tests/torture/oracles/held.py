"""Whether what ran of a held import is what a user had seen and confirmed, once, and nothing of it otherwise.

The truth is the file and what callers were answered; nothing of the application is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.fold import ROW_HASH
from tests.torture.models.fold import compare as compare_documents
from tests.torture.models.held import HeldCourse, read_documents
from tests.torture.models.stored_documents import read_case
from tests.torture.models.written_rows import count_written
from tests.torture.plans.held import HELD_CASE, READINGS

_ROW = "SELECT status, options_version, rows_seen, imported, unchanged, updated, rejected FROM imports WHERE id = :id"
_STARTS = (
    "SELECT COUNT(*) FROM outbox_events WHERE id > :after AND aggregate_id = :id AND event_type = 'import.started'"
)


def judge_held(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """Every import that was held."""
    for course in ledger.held:
        row = at.query(_ROW, id=course.import_id)[0]
        if row.options_version != course.version:
            answered = f"import {course.import_id} has version {row.options_version} of its options"
            yield Finding(LOST, f"{answered}, and the last one that was answered is {course.version}")
        yield from _judge_starts(ledger, course, at)
        yield from _judge_run(ledger, course, row, at) if course.confirmed else _judge_left(course, row, at)


def _judge_starts(ledger: Ledger, course: HeldCourse, at: Queried) -> Iterator[Finding]:
    """An import starts once, if it was run."""
    starts = at.query(_STARTS, after=ledger.after_event, id=str(course.import_id))[0][0]
    if starts != bool(course.confirmed):
        kind = DOUBLED if starts else LOST
        yield Finding(kind, f"import {course.import_id} has started {starts} times, of {bool(course.confirmed):d}")


def _judge_run(ledger: Ledger, course: HeldCourse, row: Any, at: Queried) -> Iterator[Finding]:
    """The case has the documents of the options that were confirmed, and the counts are theirs."""
    place, (confirmed, *_) = f"import {course.import_id}", course.confirmed
    expected = read_documents(course.plan, READINGS[course.readings.get(confirmed, 0)])
    if row.options_version != confirmed:
        yield Finding(MISPLACED, f"{place} has run with version {row.options_version}, and confirmed was {confirmed}")
    if row.status != "completed_with_rejections":
        yield Finding(UNFINISHED, f"{place}, which was held, is {row.status}")
    rows = len(course.plan.rows)
    if tuple(row)[2:] != (rows, len(expected), 0, 0, rows - len(expected)):
        yield Finding(MISPLACED, f"{place}, which was held, has the counts {tuple(row)[2:]}")
    stored = {each.line: each for each in read_case(ledger.tenant, at, HELD_CASE).values()}
    numbers = Counter((line, number) for line, (number, _) in expected.items())
    got = Counter((line, each.control_number) for line, each in stored.items())
    yield from compare(f"documents of {place}, which was held", numbers, got)
    for line in expected.keys() & stored.keys():
        values = stored[line].values
        if different := compare_documents({**expected[line][1], ROW_HASH: values[ROW_HASH]}, values):
            yield Finding(MISPLACED, f"{place}, which was held: line {line} has other values: {different}")


def _judge_left(course: HeldCourse, row: Any, at: Queried) -> Iterator[Finding]:
    """What was not run is held or checked, and has written nothing."""
    if row.status not in ("uploaded", "checked", "failed"):
        yield Finding(MISPLACED, f"import {course.import_id} is {row.status}, and no run was requested")
    if written := count_written(at, course.import_id):
        yield Finding(MISPLACED, f"import {course.import_id} was held, and has written {written}")
