"""Store what the check of a load file finds.

Guaranteed: it writes to the tables of checks alone, never to the case.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.load_file.encoding import replace_surrogates
from shell.db.bulk_insert import insert_missing, insert_new
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

FACTS_PART_BYTES = 1_000_000
MAX_COLUMN_CHARACTERS, MAX_MESSAGE_CHARACTERS = 255, 1000
_FACTS_COLUMNS = ("import_id", "chunk_no", "part", "facts")
# The index holds both columns: the rows are not read.
_CASE = text(
    "SELECT COUNT(*) AS exhibits, COALESCE(MAX(id), 0) AS last_id "
    "FROM exhibits FORCE INDEX (uq_exhibits_control_number) WHERE case_id = :case_id"
)
# One row for each change of an exhibit. It is never deleted; the join leaves out those of documents that were removed.
_CHANGES = text(
    "SELECT COUNT(*) FROM exhibits AS e JOIN exhibit_changes AS c ON c.exhibit_id = e.id WHERE e.case_id = :case_id"
)
_BEGIN = text(
    "INSERT INTO import_checks (import_id, exhibits_before, last_exhibit_before, changes_before) "
    "VALUES (:import_id, :exhibits, :last_id, :changes)"
)
_FACTS = text(
    "SELECT facts FROM import_check_facts WHERE import_id = :import_id AND chunk_no = :chunk_no ORDER BY part"
)
# A check that was cancelled, or whose end failed, needs them when it is retried; one that ended without some of its
# chunks needs those of the others. Once none of this holds, it never does again.
_KEEPS_FACTS = text(
    "SELECT 1 FROM imports AS i WHERE i.id = :import_id AND i.phase = 'check' AND (i.status <> 'checked' "
    "OR EXISTS (SELECT 1 FROM import_chunks AS k WHERE k.import_id = i.id AND k.status <> 'done'))"
)
_DELETE_FACTS = text("DELETE FROM import_check_facts WHERE import_id = :import_id LIMIT 100")
_CHUNKS = text("SELECT DISTINCT chunk_no FROM import_check_facts WHERE import_id = :import_id ORDER BY chunk_no")


class FindingRow(NamedTuple):
    """A row of `import_check_findings`; the fields are the columns."""

    import_id: int
    code: str
    line_no: int
    seq: int
    row_count: int
    column_name: str | None
    message: str
    control_number: str | None


class CaseState(NamedTuple):
    """How many exhibits a case has, the highest of their ids (0 if it has none), and how many changes they had.

    It is equal only if no exhibit was added, changed or deleted: one that is added and stays has a higher id. Without
    one, fewer exhibits show a deletion, and without that, more changes a change.
    """

    exhibits: int
    last_id: int
    changes: int


def begin_check(transaction: Session, import_record: Imports) -> None:
    """Record the state of the case at the beginning of the check of a file."""
    state = read_case_state(transaction, import_record.case_id)
    transaction.execute(_BEGIN, {"import_id": import_record.id, **state._asdict()})


def read_case_state(reading: Session, case_id: int) -> CaseState:
    """Return what differs after an exhibit was added to the case, changed in any way, or deleted from it."""
    row = reading.execute(_CASE, {"case_id": case_id}).one()
    changes = reading.execute(_CHANGES, {"case_id": case_id}).scalar_one()
    return CaseState(int(row.exhibits), int(row.last_id), int(changes))


def build_finding(
    import_id: int,
    code: str,
    line_no: int,
    seq: int,
    message: str,
    *,
    column: str | None = None,
    control_number: str | None = None,
    rows: int = 1,
) -> FindingRow:
    """Return the row of a finding, with texts as its columns store them."""
    texts = (_clean(column), replace_surrogates(message[:MAX_MESSAGE_CHARACTERS]), _clean(control_number))
    return FindingRow(import_id, code, line_no, seq, rows, *texts)


def _clean(text_value: str | None) -> str | None:
    return None if text_value is None else replace_surrogates(text_value[:MAX_COLUMN_CHARACTERS])


def write_findings(transaction: Session, findings: Sequence[FindingRow]) -> None:
    """Insert the findings; those that exist already stay as they are, so that it can be repeated."""
    insert_missing(transaction, "import_check_findings", FindingRow._fields, findings, key=4)


def write_facts(transaction: Session, import_id: int, chunk_no: int, facts: bytes) -> None:
    """Store a chunk's facts in parts that each fit into one statement."""
    packed = zlib.compress(facts, 1)
    parts = [packed[start : start + FACTS_PART_BYTES] for start in range(0, len(packed), FACTS_PART_BYTES)]
    rows = [(import_id, chunk_no, number, part) for number, part in enumerate(parts)]
    insert_new(transaction, "import_check_facts", _FACTS_COLUMNS, rows)


def delete_facts(import_id: int) -> None:
    """Delete the facts of a check that has a result, a hundred at a time, unless a retry can need them."""
    while _delete_some_facts(import_id):
        pass


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _delete_some_facts(import_id: int) -> bool:
    with session() as transaction:
        if transaction.execute(_KEEPS_FACTS, {"import_id": import_id}).first() is not None:
            return False
        return count_changed_rows(transaction.execute(_DELETE_FACTS, {"import_id": import_id})) > 0


def read_facts(import_id: int) -> Iterator[bytes]:
    """Yield the facts of the chunks that were checked, in the order of the file, each read when it is needed."""
    for chunk_no in _list_chunks(import_id):
        yield _read_chunk(import_id, chunk_no)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_chunks(import_id: int) -> Sequence[int]:
    with session() as reading:
        return reading.scalars(_CHUNKS, {"import_id": import_id}).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_chunk(import_id: int, chunk_no: int) -> bytes:
    with session() as reading:
        parts = reading.scalars(_FACTS, {"import_id": import_id, "chunk_no": chunk_no}).all()
    return zlib.decompress(b"".join(map(bytes, parts)))
