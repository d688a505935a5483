"""Read the findings of checks for the API.

Guaranteed: no call reads another tenant's rows; pages follow each other by key.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.caller import Caller
from core.contracts.imports.checks import CheckFinding, FindingPage
from core.imports.check_summary import FINDINGS_PER_ATTEMPT, Severity, map_severities
from core.pagination import decode_cursor, paginate
from shell.db.session import session
from shell.imports.state.access import require_import
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# The row comparison (code, line_no, seq) > (...) would make the servers read all preceding rows as well.
_PAGE = (
    "SELECT f.code, f.line_no, f.seq, f.row_count, f.column_name, f.message, f.control_number "
    "FROM import_check_findings AS f JOIN import_checks AS c ON c.import_id = f.import_id "
    # Options that were changed since have another result.
    "JOIN imports AS i ON i.id = f.import_id AND i.layout IS NOT NULL "
    "WHERE f.import_id = :import_id AND c.finished_at IS NOT NULL "
    "AND (f.seq < :per_attempt OR f.seq BETWEEN :per_attempt * c.finished_attempt "
    "AND :per_attempt * (c.finished_attempt + 1) - 1) "
    "AND {place} ORDER BY f.code, f.line_no, f.seq LIMIT :most"
)
_AFTER = "f.line_no >= :line_no AND (f.line_no > :line_no OR f.seq > :seq)"
_OF_CODE = text(_PAGE.format(place=f"f.code = :code AND {_AFTER}"))
_OF_ALL = text(_PAGE.format(place=f"f.code >= :code AND (f.code > :code OR ({_AFTER}))"))
_SUMMARIES = text("SELECT findings FROM import_checks WHERE import_id = :import_id")


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_findings(caller: Caller, import_id: int, code: str | None, limit: int, after: str | None) -> FindingPage:
    """Return a page of what a finished check found, by code, line and number; none before it is finished.

    Raises NotFoundError if the tenant has no such import, InvalidInputError if `after` is not a valid cursor.
    """
    start = (code or "", 0, -1) if after is None else decode_cursor(after, (str, int, int))
    place = dict(zip(("code", "line_no", "seq"), (code or start[0], *start[1:]), strict=True))
    with session() as reading:
        require_import(reading, caller, import_id)
        values = {"import_id": import_id, "per_attempt": FINDINGS_PER_ATTEMPT, "most": limit + 1, **place}
        rows = reading.execute(_OF_CODE if code else _OF_ALL, values).all()
        severities = map_severities(reading.scalar(_SUMMARIES, values))
    page, following = paginate(rows, limit, lambda row: (row.code, row.line_no, row.seq))
    return FindingPage(items=[_build_finding(row, severities[row.code]) for row in page], next=following)


def _build_finding(row: Any, severity: Severity) -> CheckFinding:
    return CheckFinding(
        line=row.line_no,
        rows=row.row_count,
        column=row.column_name,
        code=row.code,
        severity=severity,
        message=row.message,
        control_number=row.control_number,
    )
