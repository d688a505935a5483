"""Whether each check of a load file said what the import then did, found everything once, and wrote nothing.

The truth comes from the generator of the files and from what callers read; nothing of the application is imported here.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Check, Ledger
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.written_rows import count_written

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# What a check finds and an import does not look for.
OF_CHECKS_ALONE = ("BATES_", "PARENT_", "FAMILY_", "NATIVE_", "DATE_", "NAME_SIMILAR", "ID_SIMILAR", "CASE_")
# Findings of the end of a check are numbered from a multiple of it, by the attempt that found them.
PER_ATTEMPT = 10**12
COUNTS = {"wouldImport": "imported", "unchanged": "unchanged", "wouldReject": "rejected"}
NAMES = {"newCustodians": "custodians_created", "newTags": "tags_created"}


class Found(NamedTuple):
    """A finding, or a rejection or warning of an import."""

    code: str
    line: int
    column: str | None
    message: str


def judge_checks(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """Everything that the checks found, by what the imports after them did."""
    if not ledger.checks:
        yield Finding(UNFINISHED, "no file was checked")
    for check in ledger.checks:
        if check.result is None:
            yield Finding(UNFINISHED, f"the check of import {check.upload.import_id} was never read")
            continue
        yield from _judge_truth(check, check.result)
        yield from _judge_summary(check, check.result)
        yield from _judge_stored(check, at)
        yield from _judge_file(check, at, s3, bucket)
        yield from _judge_run(check, check.result, at) if check.is_run else _judge_left(check, at)
        yield from _judge_events(check, ledger, at)


def _judge_truth(check: Check, result: dict[str, Any]) -> Iterator[Finding]:
    """The counts are those of the file: no other upload writes to the case of a file that is checked."""
    truth, place = check.upload.made.truth, f"the check of import {check.upload.import_id}"
    new = 0 if check.unchanged else len(truth.imported)
    expected = {"wouldImport": new, "unchanged": len(truth.imported) - new, "wouldReject": len(truth.rejected)}
    got = {name: result[name] for name in expected}
    if got != expected:
        yield Finding(MISPLACED, f"{place} counted {got}, the file has {expected}")
    codes = Counter((record.first_line, code) for record in truth.rejected for code in record.codes)
    errors = Counter((each["line"], each["code"]) for each in check.findings if each["severity"] == "error")
    yield from compare(f"{place}: errors", codes, errors)


def _judge_summary(check: Check, result: dict[str, Any]) -> Iterator[Finding]:
    """The counts by code are those of the listed findings: rows of errors, findings of others."""
    counted: Counter[str] = Counter()
    lines = {(each["code"], each["line"]): each["rows"] for each in check.findings if each["severity"] == "error"}
    for (code, _), rows in lines.items():
        counted[code] += rows
    counted.update(each["code"] for each in check.findings if each["severity"] != "error")
    summary = Counter({each["code"]: each["count"] for each in result["findings"]})
    yield from compare(f"the check of import {check.upload.import_id}: its summary", counted, summary)


def _judge_stored(check: Check, at: Queried) -> Iterator[Finding]:
    """What was read in pages is what is stored: the findings of chunks, and of the attempt that ended the check."""
    rows = at.query(
        "SELECT code, line_no, column_name, message FROM import_check_findings f JOIN import_checks c "
        "ON c.import_id = f.import_id WHERE f.import_id = :id AND (seq < :one OR seq DIV :one = finished_attempt)",
        id=check.upload.import_id,
        one=PER_ATTEMPT,
    )
    stored = Counter(Found(*row) for row in rows)
    yield from compare(f"findings of the check of import {check.upload.import_id}", stored, _read(check))
    for found, count in stored.items():
        if count > 1 and found.code.startswith(OF_CHECKS_ALONE):
            yield Finding(DOUBLED, f"import {check.upload.import_id}: {found} was found {count} times")


def _judge_file(check: Check, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """The file of all findings has each of them."""
    import_id = check.upload.import_id
    row = at.query("SELECT generation, report_written FROM import_checks WHERE import_id = :id", id=import_id)[0]
    if not row.report_written:
        yield Finding(LOST, f"the file of the findings of import {import_id} is missing")
        return
    key = f"reports/{import_id}/{row.generation}/findings.csv"
    text = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode("utf-8-sig")
    listed = Counter((line["code"], int(line["line"])) for line in csv.DictReader(io.StringIO(text, newline="")))
    read = Counter((each["code"], each["line"]) for each in check.findings)
    yield from compare(f"the file of the findings of import {import_id}", read, listed)


def _judge_run(check: Check, result: dict[str, Any], at: Queried) -> Iterator[Finding]:
    """The import did what the check said: the same counts, and the same rejections and warnings."""
    import_id, columns = check.upload.import_id, COUNTS | NAMES
    row = at.query(f"SELECT {', '.join(columns.values())} FROM imports WHERE id = :id", id=import_id)[0]
    done = dict(zip(columns, map(int, row), strict=True))
    said = {name: result[name] for name in columns}
    if done != said:
        yield Finding(MISPLACED, f"the check of import {import_id} said {said}, and the import did {done}")
    reported = Counter(
        Found(*row)
        for table in ("import_rejections", "import_warnings")
        for row in at.query(
            f"SELECT code, line_no, column_name, message FROM {table} WHERE import_id = :id", id=import_id
        )
    )
    shared = Counter({each: n for each, n in _read(check).items() if not each.code.startswith(OF_CHECKS_ALONE)})
    yield from compare(f"the check of import {import_id}, by what the import reports", reported, shared)


def _judge_left(check: Check, at: Queried) -> Iterator[Finding]:
    """A file that was checked and not run stays so, and nothing of it is in the case."""
    import_id = check.upload.import_id
    status = at.query("SELECT status FROM imports WHERE id = :id", id=import_id)[0][0]
    if status != "checked":
        yield Finding(MISPLACED, f"import {import_id} was checked and is {status}, and no run was requested")
    written = count_written(at, import_id)
    if written:
        yield Finding(MISPLACED, f"import {import_id} was only checked, and has written {written}")


def _judge_events(check: Check, ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """A check ends once in each generation; only a run starts the import, once and after that."""
    import_id = check.upload.import_id
    rows = at.query(
        "SELECT event_type, payload FROM outbox_events WHERE id > :after AND aggregate_id = :id "
        "AND event_type IN ('import.checked', 'import.started') ORDER BY id",
        after=ledger.after_event,
        id=str(import_id),
    )
    ends = Counter(json.loads(row.payload)["generation"] for row in rows if row.event_type == "import.checked")
    for generation, count in ends.items():
        if count > 1:
            yield Finding(DOUBLED, f"the check of import {import_id} ended {count} times in generation {generation}")
    order = [row.event_type for row in rows]
    if not ends:
        yield Finding(LOST, f"no event says that import {import_id} was checked")
    if order.count("import.started") != check.is_run or (check.is_run and order[-1] != "import.started"):
        kind = DOUBLED if order.count("import.started") > check.is_run else LOST
        yield Finding(kind, f"the events of import {import_id}, which was run {int(check.is_run)} times: {order}")


def _read(check: Check) -> Counter[Found]:
    return Counter(Found(each["code"], each["line"], each["column"], each["message"]) for each in check.findings)
