"""Whether each rejected row was corrected or discarded once, and is open otherwise, by the requests that were answered.

The truth is the model of the requests; nothing of the application is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.corrections import CorrectionCourse, Fold, Taken
from tests.torture.models.fold import ROW_HASH
from tests.torture.models.fold import compare as compare_documents
from tests.torture.models.overlay_rows import create
from tests.torture.models.stored_documents import read_case
from tests.torture.plans.corrections import COLUMNS, FIRST_LINE, NUMBER, TITLE, CorrectedRow, build_path

_COUNTS = "SELECT rows_seen, imported, unchanged, updated, rejected, corrects_import_id FROM imports WHERE id = :id"
_CLAIMS = "SELECT line_no, status, correcting_import_id FROM import_corrections WHERE import_id = :id"
_REJECTED = "SELECT line_no, code, original_line FROM import_rejections WHERE import_id = :id"
_LINKS = (
    "SELECT e.control_number, l.import_id, l.line_no, f.path FROM exhibit_files AS l JOIN exhibits AS e "
    "ON e.id = l.exhibit_id JOIN cases ON cases.id = e.case_id LEFT JOIN volume_files AS f ON f.id = l.file_id "
    "WHERE cases.tenant_id = :tenant AND cases.name = :case"
)
Document = tuple[str, int, int]


def judge_corrections(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """Everything that was done about rejected rows."""
    for case, course in ledger.corrections.items():
        if not any(isinstance(each, Taken) for each in course.events):
            yield Finding(UNFINISHED, f"no row of {case} was corrected")
        fold = Fold(course)
        yield from fold.run()
        yield from _judge_claims(course, fold, at)
        yield from _judge_documents(ledger, course, fold, at)
        yield from _judge_file(course, at)
        for import_id in course.requests:
            yield from _judge_import(course, fold, import_id, at)


def _judge_claims(course: CorrectionCourse, fold: Fold, at: Queried) -> Iterator[Finding]:
    """Each line that was taken has one claim: of who has it, or of who had it last."""
    expected: Counter[tuple[int, str, int | None]] = Counter()
    for line, holder in fold.holders.items():
        is_taken = holder in fold.winners[line]
        expected[line, "discarded" if not holder else "accepted" if is_taken else "pending", holder or None] += 1
    got = Counter(tuple(row) for row in at.query(_CLAIMS, id=course.import_id))
    yield from compare(f"claims of import {course.import_id}", expected, got)


def _judge_documents(ledger: Ledger, course: CorrectionCourse, fold: Fold, at: Queried) -> Iterator[Finding]:
    """The case has one document of each corrected row, with its values and its file, and no other."""
    case, stored = course.plan.case, read_case(ledger.tenant, at, course.plan.case)
    expected: dict[Document, CorrectedRow] = {
        (row.number, import_id, line): row for import_id, line, row in fold.list_documents()
    }
    if not course.is_undone:
        expected[NUMBER, course.import_id, FIRST_LINE] = CorrectedRow(FIRST_LINE, NUMBER, TITLE)
    got = {(each.control_number, each.import_id, each.line): each for each in stored.values()}
    places = Counter((each.control_number, each.import_id, each.line) for each in stored.values())
    yield from compare(f"documents of {case}", Counter(list(expected)), places)
    for place in expected.keys() & got.keys():
        cells, values = dict(zip(COLUMNS[:2], expected[place].cells, strict=False)), got[place].values
        different = compare_documents({**create(cells), ROW_HASH: values[ROW_HASH]}, values)
        if different:
            yield Finding(MISPLACED, f"document {place} of {case} has other values than its row: {different}")
    if course.plan.is_volume:
        files = Counter((*place, build_path(place[0]).replace("\\", "/")) for place in expected)
        links = Counter(tuple(row) for row in at.query(_LINKS, tenant=ledger.tenant, case=case))
        yield from compare(f"files of {case}", files, links)


def _judge_file(course: CorrectionCourse, at: Queried) -> Iterator[Finding]:
    """No correction has changed the import of the file."""
    found = tuple(at.query(_COUNTS, id=course.import_id)[0])
    lines = len(course.plan.lines)
    if found != (lines + 1, 1, 0, 0, lines, None):
        yield Finding(MISPLACED, f"import {course.import_id}, whose rows were corrected, has the counts {found}")
    codes = dict(zip(course.plan.lines, course.plan.rejected, strict=True))
    expected = Counter((line, "DUPLICATE_ID" if number else "MISSING_ID") for line, number in codes.items())
    got = Counter((row.line_no, row.code) for row in at.query(_REJECTED, id=course.import_id))
    yield from compare(f"rejections of import {course.import_id}", expected, got)


def _judge_import(course: CorrectionCourse, fold: Fold, import_id: int, at: Queried) -> Iterator[Finding]:
    """An import of corrected rows has each of them in one place, or none of them if it has not processed any."""
    rows, has_run = course.requests[import_id].rows, import_id in fold.has_run
    rejected = {line: row for line, row in enumerate(rows, start=1) if row.error} if has_run else {}
    unchanged = sum(row.is_there for row in rows) if has_run else 0
    imported = len(rows) - len(rejected) - unchanged if has_run else 0
    found = tuple(at.query(_COUNTS, id=import_id)[0])
    if found != (len(rows), imported, unchanged, 0, len(rejected), course.import_id):
        kind = MISPLACED if sum(found[1:5]) == (len(rows) if has_run else 0) else LOST
        yield Finding(kind, f"import {import_id} of {len(rows)} corrected rows has the counts {found}")
    expected = Counter((line, row.error, row.line) for line, row in rejected.items())
    got = Counter(tuple(row) for row in at.query(_REJECTED, id=import_id))
    yield from compare(f"rejections of import {import_id}, which corrects others", expected, got)
