"""Whether every record of every load file is where it must be: tables, counters and report files, byte for byte.

The truth comes from the generator of the files; nothing of the application is imported here.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from samples.oracle import Truth
from tests.support.database.committed_state import Queried
from tests.support.imports.accounting import assert_accounted
from tests.support.imports.error_file_reference import Form, error_file_of
from tests.support.imports.rebuilt_rows import assert_rebuilt
from tests.support.imports.row_outcomes import accounts
from tests.torture.clients.ledger import ROWS, TWINS, Ledger, Upload
from tests.torture.findings import BOTH, DOUBLED, LOST, MISPLACED, UNFINISHED, Finding, asserted

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ENDS = frozenset({"completed", "completed_with_rejections"})


def judge_imports(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """Everything that came of the uploads."""
    found = at.query("SELECT id FROM imports WHERE tenant_id = :tenant", tenant=ledger.tenant)
    known = {upload.import_id for upload in ledger.uploads}
    known |= {check.upload.import_id for check in ledger.checks} | ledger.profiled.keys()
    known |= {each.import_id for each in ledger.overlays} | ledger.volume_imports | ledger.step_imports
    known |= {each.import_id for each in ledger.repeats}
    extra = {row.id for row in found} - known - {ledger.base_import, *ledger.twins}
    if extra:
        yield Finding(DOUBLED, f"imports without an upload: {sorted(extra)}")
    seen: dict[str, set[int]] = {}
    for upload in ledger.uploads:
        yield from _judge_import(upload, at, seen)
        check = partial(_reports, upload, at, s3, bucket)
        yield from asserted(MISPLACED, f"reports of import {upload.import_id}", check)


def judge_twins(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """Of two imports of the same rows into one case at once each row came in by one, and the other has it unchanged."""
    rows = at.query(
        "SELECT id, status, imported, unchanged FROM imports WHERE tenant_id = :tenant AND case_id IN "
        "(SELECT id FROM cases WHERE name = :case)",
        tenant=ledger.tenant,
        case=TWINS,
    )
    if sorted(row.id for row in rows) != sorted(ledger.twins) or {row.status for row in rows} - ENDS:
        yield Finding(UNFINISHED, f"twins are {[tuple(row) for row in rows]}, announced were {ledger.twins}")
    imported = sum(row.imported for row in rows)
    if imported != ROWS:
        yield Finding(LOST if imported < ROWS else DOUBLED, f"of {ROWS} rows twins have imported {imported}")
    for row in rows:
        if row.imported + row.unchanged != ROWS:
            yield Finding(LOST, f"of {ROWS} rows twin {row.id} has {row.imported} imported, {row.unchanged} unchanged")


def _judge_import(upload: Upload, at: Queried, seen: dict[str, set[int]]) -> Iterator[Finding]:
    truth, place = upload.made.truth, f"import {upload.import_id}"
    got = accounts(at, upload.import_id)
    if got.status not in ENDS:
        yield Finding(UNFINISHED, f"{place} is {got.status}")
        return
    earlier = seen.setdefault(upload.case, set())
    unchanged = {record.first_line for record in truth.imported} & earlier if upload.has_twin else set()
    yield from _judge_lines(place, truth, Counter(got.exhibits), {each.line for each in got.rejected}, unchanged)
    yield from asserted(
        MISPLACED, place, lambda: assert_accounted(at, upload.import_id, truth, unchanged=sorted(unchanged))
    )
    if not unchanged:
        yield from asserted(MISPLACED, place, lambda: assert_rebuilt(at, upload.import_id, truth, upload.made.data))
    earlier |= set(got.exhibits)


def _judge_lines(
    place: str, truth: Truth, exhibits: Counter[int], rejected: set[int], unchanged: set[int]
) -> Iterator[Finding]:
    """Each record's first line is an exhibit's or a rejection's, and only once."""
    expected = {record.first_line for record in truth.records}
    got = set(exhibits) | rejected | unchanged
    if expected - got:
        yield Finding(LOST, f"{place}: lines {sorted(expected - got)[:20]}")
    if got - expected:
        yield Finding(MISPLACED, f"{place}: lines that are no records: {sorted(got - expected)[:20]}")
    if set(exhibits) & rejected:
        yield Finding(BOTH, f"{place}: lines {sorted(set(exhibits) & rejected)[:20]}")
    if unchanged & set(exhibits):
        yield Finding(DOUBLED, f"{place}: lines {sorted(unchanged & set(exhibits))[:20]} were there already")


def judge_case_names(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """No name is that of two cases; the oracle does not rely on a unique key."""
    named = "SELECT name, COUNT(*) AS held FROM cases WHERE tenant_id = :tenant GROUP BY name HAVING held > 1"
    for row in at.query(named, tenant=ledger.tenant):
        yield Finding(DOUBLED, f"{row.held} cases have the name {row.name}")


def judge_control_numbers(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """No case holds a control number twice, whatever the letters' case; the oracle does not rely on a unique key."""
    rows = at.query(
        "SELECT case_id, control_number, COUNT(*) AS held FROM exhibits JOIN cases ON cases.id = case_id "
        "WHERE tenant_id = :tenant GROUP BY case_id, control_number HAVING held > 1",
        tenant=ledger.tenant,
    )
    for row in rows:
        yield Finding(DOUBLED, f"case {row.case_id} holds {row.control_number} {row.held} times")


def _reports(upload: Upload, at: Queried, s3: S3Client, bucket: str) -> None:
    row = at.query("SELECT generation, reports_generation FROM imports WHERE id = :id", id=upload.import_id)[0]
    assert row.reports_generation == row.generation, f"the reports of generation {row.generation} are missing"
    prefix = f"reports/{upload.import_id}/{row.generation}/"
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
    files = {each["Key"].rpartition("/")[2]: each["Key"] for each in listed}
    truth, data = upload.made.truth, upload.made.data
    places = [(r.first_line, r.byte_start, r.byte_len) for r in truth.rejected]
    expected = error_file_of(data, truth.header_len, upload.made.spec.encoding, Form.of(upload.made), places)
    returned = _read(s3, bucket, files["rejected_rows.dat"])
    assert returned == expected, "the rejected rows are not the text of the source"
    reported = csv.DictReader(io.StringIO(_read(s3, bucket, files["report.csv"]).decode("utf-8-sig"), newline=""))
    reasons = Counter((record.first_line, code) for record in truth.rejected for code in record.codes)
    assert Counter((int(line["line"]), line["code"]) for line in reported) == reasons, "report.csv has other reasons"


def _read(s3: S3Client, bucket: str, key: str) -> bytes:
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()
