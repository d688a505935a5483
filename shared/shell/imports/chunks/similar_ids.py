"""Find the documents of a case whose ids resemble those of rows that have none.

Guaranteed: documents that the same import has created are left out, so that the result does not depend on the order of
its chunks. The number of statements depends on the rows of a chunk alone, and an index serves each of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from core.cells.keys import show_text
from core.cells.similar_ids import describe_similar, fold_id, list_spellings
from core.codes import WarningCode
from core.load_file.rows import ValueChange
from shell.exhibits.updates import find_numbers
from shell.imports.rows.coercion import StorableRow

# MySQL 9.7 takes ten times as long for 10,000 in one statement as for 10,000 in five.
SPELLINGS_PER_STATEMENT = 2_000


def find_similar_ids(
    transaction: Session, case_id: int, import_id: int, control_numbers: Iterable[str]
) -> dict[str, str]:
    """Return the first id of the case that resembles each of the ids, which the case lacks; none for most."""
    meant: dict[str, list[str]] = {}
    for number in control_numbers:
        for spelling in list_spellings(number):
            meant.setdefault(spelling, []).append(number)
    found: dict[str, str] = {}
    spellings = sorted(meant)
    for start in range(0, len(spellings), SPELLINGS_PER_STATEMENT):
        part = spellings[start : start + SPELLINGS_PER_STATEMENT]
        for existing in find_numbers(transaction, case_id, part, but_of_import=import_id):
            for number in meant.get(existing, ()):
                if fold_id(number) == fold_id(existing):
                    found[number] = min(existing, found.get(number, existing))
    return found


def describe_near_miss(number: str, existing: str) -> str:
    """Return why a row has no document, and which one it may mean."""
    return f"{describe_similar(show_text(number), show_text(existing))}. Correct the id."


def warn_of_similar(row: StorableRow, existing: str, column: str | None) -> StorableRow:
    """Return a row that creates a document, with the warning that another one resembles it."""
    found = describe_similar(show_text(str(row.control_number)), show_text(existing))
    message = f"{found}; the row is a new document. If they are one, undo the import and correct the id."
    change = ValueChange(WarningCode.ID_SIMILAR_IN_CASE, column, message, row.control_number)
    return row._replace(changes=[*row.changes, change])
