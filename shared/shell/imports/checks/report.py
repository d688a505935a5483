"""Write the findings of a check to S3 as a CSV file.

Guaranteed: the file depends on the findings alone, in the order of code and line, so that writing it twice is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import text

from core.imports.check_summary import FINDINGS_PER_ATTEMPT, Severity, map_severities
from core.imports.report_files import build_findings_key
from shell.aws.s3 import write_stream
from shell.db.session import session
from shell.imports.completing.deficiencies import write_deficiencies
from shell.observability import logger
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.utils.csv_format import format_csv
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import ImportCheckedMessage

HEADER = ("code", "severity", "line", "column", "message", "id", "rows")
PAGE = 5_000
_PAGE = text(
    "SELECT code, line_no, seq, row_count, column_name, message, control_number FROM import_check_findings "
    "WHERE import_id = :import_id AND (seq < :per_attempt OR seq BETWEEN :first_seq AND :last_seq) "
    "AND code >= :code AND (code > :code OR (line_no >= :line_no AND (line_no > :line_no OR seq > :seq))) "
    "ORDER BY code, line_no, seq LIMIT :page"
)
_MARK_WRITTEN = text(
    "UPDATE import_checks SET report_written = 1, deficiencies_generation = :generation "
    "WHERE import_id = :import_id AND generation = :generation AND finished_at IS NOT NULL"
)


def write_check_report(message: ImportCheckedMessage) -> None:
    """Write the file of the check that a message says is finished; do nothing if a retry made the message obsolete."""
    import_id, generation = message.import_id, message.generation
    found = _find_check(import_id, generation)
    if found is None:
        return
    import_record, attempt, severities = found
    lines = format_csv(HEADER, _list_findings(import_id, attempt, severities))
    key = build_findings_key(import_id, generation)
    write_stream(import_record.bucket, key, lines, "text/csv; charset=utf-8")
    write_deficiencies(import_record, generation)
    _mark_written(import_id, generation)
    logger.info("findings written", extra={"import_id": import_id, "generation": generation})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_check(import_id: int, generation: int) -> tuple[Imports, int, dict[str, Severity]] | None:
    """Return the import, the attempt that ended its check, and the severity of each code.

    None if the file is written, the message obsolete, or another check is to follow.
    """
    with session() as reading:
        check, import_record = reading.get(ImportChecks, import_id), reading.get(Imports, import_id)
        if check is None or import_record is None or check.finished_at is None or check.generation != generation:
            return None
        if check.report_written or import_record.layout is None:
            return None
        return import_record, check.finished_attempt, map_severities(check.findings)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _mark_written(import_id: int, generation: int) -> None:
    with session() as transaction:
        transaction.execute(_MARK_WRITTEN, {"import_id": import_id, "generation": generation})


def _list_findings(import_id: int, attempt: int, severities: Mapping[str, Severity]) -> Iterator[Sequence[Any]]:
    place: dict[str, Any] = {"code": "", "line_no": 0, "seq": -1}
    first = FINDINGS_PER_ATTEMPT * attempt
    fixed = {"import_id": import_id, "per_attempt": FINDINGS_PER_ATTEMPT, "first_seq": first, "page": PAGE}
    while rows := _read_page({**fixed, "last_seq": first + FINDINGS_PER_ATTEMPT - 1, **place}):
        for row in rows:
            where = (row.code, severities[row.code].value, row.line_no, row.column_name)
            yield (*where, row.message, row.control_number, row.row_count)
        place = {name: getattr(rows[-1], name) for name in place}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(values: dict[str, Any]) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_PAGE, values).all()
