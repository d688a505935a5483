"""Whether every request had its one effect or none, by what its caller was answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import has_urls
from tests.torture.clients.ledger import BASE, DOCUMENTS, Answer, Ledger, native
from tests.torture.findings import DOUBLED, KINDS, LOST, MISPLACED, OVERLAP, WRONG, Finding, compare

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

STILL_HELD = datetime(9999, 12, 31)


def judge_activity(ledger: Ledger) -> Iterator[Finding]:
    """Each client was able to do something; otherwise nothing would be proved."""
    done = (ledger.taggings, ledger.titles, ledger.custodians, ledger.custody, ledger.productions)
    if not all(done):
        yield Finding(WRONG, f"a client could do nothing: {[len(each) for each in done]}")


def judge_requests(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """Everything that callers changed, and the records of their keys."""
    for each in ledger.wrong:
        kind, _, what = each.partition(": ")
        yield Finding(kind if kind in KINDS else WRONG, what)
    yield from _judge_keys(ledger, at)
    yield from _judge_taggings(ledger, at)
    yield from _judge_titles(ledger, at)
    yield from _judge_custodians(ledger, at)
    yield from _judge_links(ledger, at)
    yield from _judge_custody(ledger, at)
    yield from _judge_productions(ledger, at, s3, bucket)


def _judge_keys(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    rows = at.query(
        "SELECT idempotency_key, status, status_code, response_body FROM idempotency_keys WHERE tenant_id = :tenant",
        tenant=ledger.tenant,
    )
    kept = {bytes(row.idempotency_key).decode(): row for row in rows}
    for answer in ledger.answers:
        row = kept.get(answer.key)
        completed = row is not None and row.status == "completed"
        if ledger.is_purged(answer):
            if completed:
                yield Finding(MISPLACED, f"the answer of {answer.method} {answer.path}, of a purged case, is kept")
            continue
        if answer.status < 400 and not completed:
            yield Finding(LOST, f"the answer of {answer.method} {answer.path} is not kept: {row}")
        if answer.status >= 400 and completed:
            yield Finding(MISPLACED, f"{answer.method} {answer.path} was answered {answer.status}, and {row} is kept")
        if row is not None and completed and answer.status < 400 and not _is_kept(answer, row):
            yield Finding(MISPLACED, f"{answer.method} {answer.path} was answered {answer.status}, kept is {row}")


def _is_kept(answer: Answer, row: Any) -> bool:
    """Of what is announced the URLs are not kept, which are signed anew."""
    body = answer.body if has_urls(answer.body) else json.loads(row.response_body)
    return (row.status_code, body) == (answer.status, answer.body)


def _judge_taggings(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    return compare("taggings", Counter(ledger.taggings), _pairs(ledger, at, "taggings", "tags", "tag_id"))


def _judge_links(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    got = _pairs(ledger, at, "custodian_exhibits", "custodians", "custodian_id")
    return compare("custodians of exhibits", Counter(ledger.links), got)


def _pairs(ledger: Ledger, at: Queried, links: str, names: str, column: str) -> Counter[tuple[int, str]]:
    """Exhibits of the base, each with a name that it is linked to."""
    rows = at.query(
        f"SELECT exhibit_id, {names}.name FROM {links} JOIN {names} ON {names}.id = {column} "
        f"JOIN cases ON cases.id = {names}.case_id WHERE tenant_id = :tenant AND cases.name = :base",
        tenant=ledger.tenant,
        base=BASE,
    )
    return Counter((row.exhibit_id, row.name) for row in rows)


def _judge_titles(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """The last change is what is there. Each was made to the version before it: see `judge_changes`."""
    for exhibit, versions in ledger.titles.items():
        row = at.query("SELECT title, version FROM exhibits WHERE id = :id", id=exhibit)[0]
        if row.version < max(versions) or row.title != versions[max(versions)]:
            yield Finding(LOST, f"exhibit {exhibit} is {tuple(row)}, and was {versions[max(versions)]!r} in the end")


def _judge_custodians(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    for name, ids in ledger.custodians.items():
        rows = at.query(
            "SELECT custodians.id FROM custodians JOIN cases ON cases.id = case_id "
            "WHERE tenant_id = :tenant AND cases.name = :base AND custodians.name = :name",
            tenant=ledger.tenant,
            base=BASE,
            name=name,
        )
        if {row.id for row in rows} != ids or len(rows) != 1:
            yield Finding(DOUBLED, f"custodian {name} was answered as {ids}, and is {[row.id for row in rows]}")


def _judge_custody(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    mine = "JOIN devices ON devices.id = device_id WHERE devices.tenant_id = :tenant"
    fields = "device_id, number, begin_at, end_at"
    rows = at.query(f"SELECT p.id, p.version, {fields} FROM custody_periods p {mine}", tenant=ledger.tenant)
    ordered = sorted(rows, key=lambda row: (row.number, row.begin_at))
    for one, next_ in pairwise(ordered):
        if one.number == next_.number and one.end_at > next_.begin_at:
            yield Finding(OVERLAP, f"periods {one.id} and {next_.id}")
    changes = at.query(
        f"SELECT period_id, c.version, action, {fields} FROM custody_changes c {mine}", tenant=ledger.tenant
    )
    got = {(row.period_id, row.version): (row.action, *_span(row)) for row in changes}
    answered = {place: (action, *_parse_period(period)) for place, (action, period) in ledger.custody.items()}
    yield from _compared("changes of custody", answered, got)
    left: dict[int, int] = {}
    for period_id, version in answered:
        left[period_id] = max(left.get(period_id, 0), version)
    living = {(p, v): answered[p, v][1:] for p, v in left.items() if answered[p, v][0] != "removed"}
    yield from _compared("periods", living, {(row.id, row.version): _span(row) for row in rows})


def _compared(what: str, answered: dict[Any, Any], got: dict[Any, Any]) -> Iterator[Finding]:
    if answered.keys() - got.keys():
        yield Finding(LOST, f"{what}: {sorted(answered.keys() - got.keys())[:10]}")
    if got.keys() - answered.keys():
        yield Finding(DOUBLED, f"{what} that were answered to no caller: {sorted(got.keys() - answered.keys())[:10]}")
    different = [place for place in answered.keys() & got.keys() if answered[place] != got[place]]
    if different:
        place = different[0]
        yield Finding(MISPLACED, f"{what}: {place} was answered as {answered[place]}, and is {got[place]}")


def _span(row: Any) -> tuple[int, datetime, datetime]:
    return row.number, row.begin_at, row.end_at


def _parse_period(period: dict[str, Any]) -> tuple[int, datetime, datetime]:
    return period["deviceId"], _parse_timestamp(period["begin"]), _parse_timestamp(period["end"])


def _parse_timestamp(text: str | None) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None) if text else STILL_HELD


def _judge_productions(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    rows = at.query("SELECT id, status FROM productions WHERE tenant_id = :tenant", tenant=ledger.tenant)
    if {row.id: row.status for row in rows} != ledger.productions:
        yield Finding(MISPLACED, f"productions are {[tuple(row) for row in rows]}, not {ledger.productions}")
    documents = at.query(
        "SELECT d.*, p.prefix, p.volume FROM production_documents d JOIN productions p ON p.id = production_id "
        "WHERE tenant_id = :tenant",
        tenant=ledger.tenant,
    )
    yield from _judge_numbers(documents)
    for production, status in ledger.productions.items():
        mine = [row for row in documents if row.production_id == production]
        yield from _judge_production(production, status, mine, _objects(s3, bucket, f"productions/{production}/"))


def _judge_numbers(documents: Sequence[Any]) -> Iterator[Finding]:
    """All productions are of one case: a number is given out once under a prefix, a place once in a volume."""
    for name, among in (("first_number", "prefix"), ("position", "volume")):
        for (of, number), count in Counter((getattr(row, among), getattr(row, name)) for row in documents).items():
            if count > 1:
                yield Finding(DOUBLED, f"{name} {number} of {among} {of} was given out {count} times")


def _judge_production(
    production: int, status: str, documents: Sequence[Any], objects: Mapping[str, bytes]
) -> Iterator[Finding]:
    states = {row.status for row in documents}
    for exhibit, count in Counter(row.exhibit_id for row in documents).items():
        if count > 1:
            yield Finding(DOUBLED, f"production {production} has exhibit {exhibit} {count} times")
    if status != "confirmed":
        if states - {"void"} or objects:
            yield Finding(MISPLACED, f"production {production} was cancelled: {states}, {sorted(objects)}")
        return
    positions = sorted(row.position for row in documents)
    natives = sorted(body for key, body in objects.items() if "/NATIVES/" in key)
    if (len(documents), states) != (DOCUMENTS, {"produced"}) or not any(key.endswith(".dat") for key in objects):
        yield Finding(LOST, f"production {production}: {len(documents)} documents {states}, {sorted(objects)}")
    if natives != sorted(map(native, range(DOCUMENTS))):
        yield Finding(LOST, f"production {production}: its natives are {natives}")
    if positions and positions != list(range(positions[0], positions[0] + DOCUMENTS)):
        yield Finding(MISPLACED, f"production {production} does not stand together: {positions}")


def _objects(s3: S3Client, bucket: str, prefix: str) -> dict[str, bytes]:
    """The contents by key, of versions under markers too."""
    listed = s3.list_object_versions(Bucket=bucket, Prefix=prefix).get("Versions", [])
    return {
        each["Key"]: s3.get_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])["Body"].read()
        for each in listed
    }
