"""Whether nothing is left of a purged case but what its certificate says, and that has counted all there was, once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.purged_cases import (
    KEPT,
    WORKING,
    CaseContents,
    PurgeCourse,
    count_objects,
    count_rows,
    list_prefixes,
)

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# Nothing but its client writes these objects; others may be written again by a worker whose work was done.
_SENT = ("files", "volumes")
_MEASURES = ("versions", "bytes", "deleteMarkers", "multipartUploads")


def judge_purges(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """All purges of the seed."""
    for course in ledger.purges:
        place, before = f"case {course.case_id}", course.before
        if before is None or not course.certificate.get("endedAt"):
            yield Finding(UNFINISHED, f"{place} was not purged")
            continue
        yield from _judge_rows(place, course, before)
        yield from _judge_objects(place, course, before)
        yield from _judge_left(place, course, before, at)
        prefixes = list_prefixes(ledger.tenant, course.plan.case, course.case_id, before.ids["import_id"])
        if left := count_objects(s3, bucket, prefixes):
            yield Finding(MISPLACED, f"{place} is purged and has objects: {dict(left)}")
        yield from _judge_record(place, course, at)


def _judge_rows(place: str, course: PurgeCourse, before: CaseContents) -> Iterator[Finding]:
    """The certificate counts what there was; responses to requests since are also of the case."""
    counted = Counter({each["table"]: each["rows"] for each in course.certificate["rows"]})
    expected = before.rows + Counter({"idempotency_keys": course.requests_since})
    yield from compare(f"rows that the certificate of {place} counts", expected, counted)


def _judge_objects(place: str, course: PurgeCourse, before: CaseContents) -> Iterator[Finding]:
    counted = Counter(
        {(each["kind"], what): each[what] for each in course.certificate["objects"] for what in _MEASURES}
    )
    named = f"objects that the certificate of {place} counts"
    yield from compare(named, _choose_sent(before.objects), _choose_sent(counted))
    if missing := before.objects - counted:
        yield Finding(LOST, f"{named}: {dict(missing)} are missing")


def _choose_sent(objects: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    return Counter({(kind, what): count for (kind, what), count in objects.items() if kind in _SENT})


def _judge_left(place: str, course: PurgeCourse, before: CaseContents, at: Queried) -> Iterator[Finding]:
    for table, count in count_rows(at, course.case_id, before.ids).items():
        yield Finding(MISPLACED, f"{place} is purged and has {count} rows in {table}")
    for table in WORKING:
        if at.query(f"SELECT COUNT(*) FROM {table} WHERE case_id = :id", id=course.case_id)[0][0]:
            yield Finding(MISPLACED, f"{place} is purged and has rows in {table}")
    if {each["table"] for each in course.certificate["kept"]} != KEPT:
        yield Finding(MISPLACED, f"the certificate of {place} says that {course.certificate['kept']} are kept")


def _judge_record(place: str, course: PurgeCourse, at: Queried) -> Iterator[Finding]:
    """The case has no name, its purge began and ended once, and the stored certificate is the one that was answered."""
    name, status = at.query("SELECT name, status FROM cases WHERE id = :id", id=course.case_id)[0]
    if (name, status) != (f"purged/{course.case_id}", "purged"):
        yield Finding(MISPLACED, f"{place} is purged, and {status} under the name {name}")
    rows: Any = at.query("SELECT kind, details FROM case_changes WHERE case_id = :id ORDER BY id", id=course.case_id)
    for kind in ("purge_begun", "purged"):
        if (times := sum(row.kind == kind for row in rows)) != 1:
            yield Finding(DOUBLED if times else LOST, f"{place} has the change {kind} {times} times")
    stored = [json.loads(row.details) for row in rows if row.kind == "purged"]
    if course.certificate not in stored:
        yield Finding(MISPLACED, f"{place} has another certificate than the one that was answered")
    events = "SELECT COUNT(*) FROM outbox_events WHERE event_type = 'case.purged' AND aggregate_id = :id"
    if (times := at.query(events, id=str(course.case_id))[0][0]) != 1:
        yield Finding(DOUBLED if times else LOST, f"the end of the purge of {place} was published {times} times")
