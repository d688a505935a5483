"""Take the lines that the rows of an uploaded file correct, in the transaction of the chunk that accepts them.

Guaranteed: a line has one winner, be it a request, a discard or a row of any file: its claim is inserted, by its
primary key, in the transaction that writes the row, after its exhibits and before the row of the import. A row whose
line is taken or was never rejected is rejected when the chunk is read; one whose line was taken since makes the chunk
be read again. The rejected row itself is there for good: its chunk is done, and its import is not undone while another
one of the case runs (D293).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import Rejection
from core.errors import UnavailableError
from core.load_file.layout import Layout
from core.load_file.original_lines import find_original_line
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import RowError
from core.statuses import UNDONE_STATUSES
from shell.db.session import session
from shell.imports.corrections.rejections import find_refusals
from shell.imports.state.claims import ACCEPTED, Claim, accept_lines, lock_claims, read_taken, take_claims
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_STATUS = text("SELECT status FROM imports WHERE id = :import_id")


def find_refused_rows(import_record: Imports, layout: Layout, records: Sequence[SourceRecord]) -> dict[int, RowError]:
    """Return why rows of an uploaded correction cannot be accepted, by their lines; none for any other import."""
    if import_record.corrects_import_id is None or layout.json_cells:
        return {}
    first: dict[int, int] = {}
    found: dict[int, str] = {}
    for record in records:
        line = find_original_line(record, layout)
        if line is None:
            found[record.line_no] = (
                f"The row has no line of import {import_record.corrects_import_id}. Import rows that you added in a "
                "file of their own, without `corrects`."
            )
        elif first.setdefault(line, record.line_no) != record.line_no:
            found[record.line_no] = f"Line {first[line]} of this file corrects line {line}, too. Keep one of the two."
    found |= {first[line]: reason for line, reason in _explain_lines(import_record, first).items()}
    return {line: RowError(Rejection.LINE_NOT_OPEN, None, reason) for line, reason in found.items()}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _explain_lines(import_record: Imports, lines: Collection[int]) -> dict[int, str]:
    """Return why lines of the original import are not open."""
    original_id = import_record.corrects_import_id or 0
    with session() as reading:
        status = reading.execute(_STATUS, {"import_id": original_id}).scalar()
        if status in UNDONE_STATUSES:
            return dict.fromkeys(lines, f"Import {original_id} has the status {status}; its rows are not open.")
        taken = read_taken(reading, original_id, lines)
        refusals = find_refusals(reading, original_id, lines)
    beside = "is corrected by another row of this file; keep one of the two"
    own = {f"is corrected by import {import_record.id}": beside}
    found = {line: f"Line {line} of import {original_id} {own.get(what, what)}." for line, what in taken.items()}
    return found | refusals


def accept_rows(transaction: Session, import_record: Imports, layout: Layout, lines: Mapping[int, int]) -> None:
    """Record that the case has the rows at these lines of a correction, each by the line that it corrects.

    The claims of a request are accepted; those of an uploaded file are taken. The caller has locked the exhibits.
    Raises UnavailableError, so that the chunk is read again, if a line was taken after it was read.
    """
    original_id = import_record.corrects_import_id
    if layout.json_cells or original_id is None:
        accept_lines(transaction, import_record, lines)
        return
    claims = lock_claims(transaction, original_id, lines)
    if claims.taken:
        raise UnavailableError("A line was corrected or discarded after the chunk was read; the chunk is read again.")
    taken = (Claim(line, import_record.id, own) for line, own in lines.items())
    take_claims(transaction, original_id, taken, import_record.user_id, claims.reopened, ACCEPTED)
