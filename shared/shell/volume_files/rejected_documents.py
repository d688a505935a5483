"""Tell the pages of rejected rows from those of documents that no row has, once an image load file is imported.

Guaranteed: a rejection that becomes PAGES_OF_REJECTED_ROW names the line of the row and why it was rejected; repeating
it changes nothing. Memory does not grow with the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import Rejection
from core.volumes.documents import describe_rejected_row
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.compared_documents import add_rejected, create_database, find_rejected

ROWS_PER_STATEMENT = 2_000
_NOT_FOUND = text(
    "SELECT line_no, control_number FROM import_rejections WHERE import_id = :import_id AND line_no > :after "
    "AND seq = 0 AND code = 'OPT_DOC_NOT_FOUND' ORDER BY line_no LIMIT :most"
)
_ROWS = text(
    "SELECT id FROM imports WHERE volume_id = :volume_id AND kind = 'rows' AND phase = 'import' AND id < :import_id "
    "ORDER BY id"
)
_RENAME = text("""
    UPDATE JSON_TABLE(:found, '$[*]' COLUMNS (line_no BIGINT PATH '$[0]', message VARCHAR(1000) PATH '$[1]')) AS found
    STRAIGHT_JOIN import_rejections AS rejection FORCE INDEX (PRIMARY)
      ON rejection.import_id = :import_id AND rejection.line_no = found.line_no AND rejection.seq = 0
    SET rejection.code = :code, rejection.message = found.message
""")
Renamed = Sequence[tuple[int, str]]


def list_pages_of_rejected_rows(import_record: Imports) -> Iterator[Renamed]:
    """Yield lists of rejected lines of an image load file whose rows in the volume were rejected, with the messages."""
    page = _read_page(import_record, 0) if import_record.volume_id is not None else []
    if not page:
        return
    with closing(create_database()) as database:
        for import_id in _list_imports_of_rows(import_record):
            add_rejected(database, import_id)
        while page:
            found = ((line_no, find_rejected(database, key)) for line_no, key in page)
            yield [(line_no, describe_rejected_row(*row)) for line_no, row in found if row]
            page = _read_page(import_record, page[-1][0])


def rename_rejections(transaction: Session, import_id: int, found: Renamed) -> None:
    """Give rejections the code PAGES_OF_REJECTED_ROW, and their messages."""
    values = {"import_id": import_id, "found": json.dumps(found), "code": Rejection.PAGES_OF_REJECTED_ROW.value}
    transaction.execute(_RENAME, values)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_imports_of_rows(import_record: Imports) -> Sequence[int]:
    values = {"volume_id": import_record.volume_id, "import_id": import_record.id}
    with session() as reading:
        return reading.scalars(_ROWS, values).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(import_record: Imports, after: int) -> list[tuple[int, str]]:
    values = {"import_id": import_record.id, "after": after, "most": ROWS_PER_STATEMENT}
    with session() as reading:
        return [(row.line_no, row.control_number) for row in reading.execute(_NOT_FOUND, values)]
