"""Whether an import of a file that is there already says of each row what is true of its document now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger, Repeat
from tests.torture.findings import LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.plans.repeats import LINES, REPEATED_CASE

_COUNTS = "SELECT imported, unchanged, updated, rejected FROM imports WHERE id = :id"
_REJECTED = "SELECT line_no, code FROM import_rejections WHERE import_id = :id"
_DOCUMENTS = (
    "SELECT import_id, line_no FROM exhibits JOIN cases ON cases.id = case_id "
    "WHERE tenant_id = :tenant AND cases.name = :case"
)
CODE = "EXISTS_WITH_OTHER_VALUES"


def judge_repeats(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """The first import made all documents; of each later one the rows of corrected documents are rejected."""
    if not ledger.repeats[1:]:
        yield Finding(UNFINISHED, f"a file was imported {len(ledger.repeats)} times")
        return
    first = ledger.repeats[0].import_id
    documents = Counter(tuple(row) for row in at.query(_DOCUMENTS, tenant=ledger.tenant, case=REPEATED_CASE))
    yield from compare(f"documents of {REPEATED_CASE}", Counter((first, line) for line in LINES), documents)
    for repeat in ledger.repeats[1:]:
        yield from _judge(repeat, at)


def _judge(repeat: Repeat, at: Queried) -> Iterator[Finding]:
    place, id_ = f"import {repeat.import_id}, of the same file again,", repeat.import_id
    rejected = Counter(tuple(row) for row in at.query(_REJECTED, id=id_))
    must = Counter((line, CODE) for line in repeat.before)
    # What was corrected meanwhile was so before its row was read, or after.
    may = Counter((line, CODE) for line in repeat.beside)
    yield from compare(f"{place} rejected rows", must, rejected - (may - must))
    counts = tuple(at.query(_COUNTS, id=id_)[0])
    if counts != (0, len(LINES) - len(rejected), 0, len(rejected)):
        yield Finding(LOST if sum(counts) < len(LINES) else MISPLACED, f"{place} has the counts {counts}")
