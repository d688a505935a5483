"""Write the CSV file of what an undo kept.

Guaranteed: the file depends on the rows alone, so that writing it twice is harmless; each generation of an undo has a
file of its own, so that a worker that is late does not replace or stand for the file of a retry; it has no value of a
document besides the names of fields, custodians and tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import text

from core.imports.report_files import build_kept_key
from shell.aws.s3 import write_stream
from shell.db.session import session
from shell.observability import logger
from shell.settings import settings
from shell.tables.undos import ImportUndos
from shell.utils.csv_format import format_csv
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import ImportUndoneMessage

PAGE = 5_000
HEADER = ("line", "id", "code", "kind", "name", "by_user", "by_import", "by_production", "by_document")
_PAGE = text(
    "SELECT line_no, seq, control_number, code, kind, name, by_user, by_import, by_production, by_document "
    "FROM import_undo_kept WHERE import_id = :import_id AND undo_no = :undo_no "
    "AND line_no >= :line_no AND (line_no > :line_no OR seq > :seq) ORDER BY line_no, seq LIMIT :page"
)
_MARK_WRITTEN = text(
    "UPDATE import_undos SET report_written = 1 "
    "WHERE import_id = :import_id AND undo_no = :undo_no AND generation = :generation AND finished_at IS NOT NULL"
)


def write_undo_report(message: ImportUndoneMessage) -> None:
    """Write the file of the undo that a message says has ended; do nothing if it is written or the undo runs again."""
    import_id, undo_no = message.import_id, message.undo_no
    generation = _find_due(import_id, undo_no)
    if generation is None:
        return
    lines = format_csv(HEADER, _list_kept(import_id, undo_no))
    write_stream(settings().bucket, build_kept_key(import_id, undo_no, generation), lines, "text/csv; charset=utf-8")
    _mark_written(import_id, undo_no, generation)
    logger.info("kept documents written", extra={"import_id": import_id, "undo_no": undo_no})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_due(import_id: int, undo_no: int) -> int | None:
    """Return the generation of the undo if that has ended and its file is not written, else None."""
    with session() as reading:
        undo = reading.get(ImportUndos, (import_id, undo_no))
        is_due = undo is not None and undo.finished_at is not None and not undo.report_written
        return undo.generation if undo is not None and is_due else None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _mark_written(import_id: int, undo_no: int, generation: int) -> None:
    with session() as transaction:
        values = {"import_id": import_id, "undo_no": undo_no, "generation": generation}
        transaction.execute(_MARK_WRITTEN, values)


def _list_kept(import_id: int, undo_no: int) -> Iterator[Sequence[Any]]:
    place = {"import_id": import_id, "undo_no": undo_no, "line_no": 0, "seq": -1}
    while rows := _read_page(place):
        yield from ((row.line_no, *row[2:]) for row in rows)
        place |= {"line_no": rows[-1].line_no, "seq": rows[-1].seq}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(place: dict[str, int]) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_PAGE, {**place, "page": PAGE}).all()
