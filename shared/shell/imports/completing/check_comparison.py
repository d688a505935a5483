"""Compare an import with the check that came before it.

Guaranteed: a warning says if any row has another result or other codes than in the check, if the whole file has, or if
another number of custodians or tags is new. Not compared: the texts of messages, and which values an overlay replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import CheckCode, WarningCode
from core.imports.check_summary import read_summaries
from shell.db.bulk_insert import insert_new
from shell.imports.state.progress import WarningRow, sum_chunks

# The warnings of the file that the split writes are numbered from 0.
_SEQ = 900_000
_MAX_CHARACTERS = 1000
_CHECK = text(
    "SELECT would_import AS imported, unchanged, would_update AS updated, would_reject AS rejected, "
    "new_custodians AS custodians, new_tags AS tags, findings FROM import_checks "
    "WHERE import_id = :import_id AND finished_at IS NOT NULL"
)
_DELETE = text("DELETE FROM import_warnings WHERE import_id = :import_id AND line_no = 0 AND seq = :seq")
# As a check counts them: rows for errors, each finding for warnings.
_CODES = text(
    "SELECT code, SUM(line_rows) AS found FROM (SELECT code, line_no, MAX(row_count) AS line_rows "
    "FROM import_rejections WHERE import_id = :import_id GROUP BY code, line_no) AS by_line GROUP BY code "
    "UNION ALL SELECT code, COUNT(*) FROM import_warnings WHERE import_id = :import_id GROUP BY code"
)
# Without a digest the chunk was checked by an earlier version, or failed, which its code says.
_CHUNKS = text(
    "SELECT COUNT(*) AS found, MIN(first_line) AS first_line FROM import_chunks "
    "WHERE import_id = :import_id AND check_digest IS NOT NULL AND NOT (check_digest <=> import_digest)"
)
_NAMES = {
    **{name: f"rows {name}" for name in ("imported", "unchanged", "updated", "rejected")},
    **{name: f"new {name}" for name in ("custodians", "tags")},
}


def compare_with_check(transaction: Session, import_id: int) -> None:
    """Write the warning that the result differs from that of the check, if there was a check and it does.

    The caller holds the lock on the import's row. Repeating it replaces the warning of an earlier run.
    """
    check = transaction.execute(_CHECK, {"import_id": import_id}).one_or_none()
    if check is None:
        return
    transaction.execute(_DELETE, {"import_id": import_id, "seq": _SEQ})
    differing = list(_list_differences(transaction, import_id, check))
    if differing:
        reason = "the case was changed after the check, or a chunk failed"
        message = f"the check found another result: {', '.join(differing)}; {reason}"[:_MAX_CHARACTERS]
        code = WarningCode.DIFFERS_FROM_CHECK.value
        row = WarningRow(import_id, 0, _SEQ, 0, None, code, message)
        insert_new(transaction, "import_warnings", WarningRow._fields, [row])


def _list_differences(transaction: Session, import_id: int, check: Any) -> Iterator[str]:
    totals = sum_chunks(transaction, import_id)
    for name, label in _NAMES.items():
        yield from _compare(label, totals[name], getattr(check, name))
    expected = {each.code: each.count for each in read_summaries(check.findings)}
    found = _count_codes(transaction, import_id)
    for code in sorted((expected.keys() | found.keys()) - set(CheckCode)):
        yield from _compare(code, found.get(code, 0), expected.get(code, 0))
    chunks = transaction.execute(_CHUNKS, {"import_id": import_id}).one()
    if chunks.found:
        yield f"other rows in {chunks.found} of the chunks, the first from line {chunks.first_line}"


def _compare(label: str, found: int, expected: int) -> Iterator[str]:
    if found != expected:
        yield f"{label} {found} instead of {expected}"


def _count_codes(transaction: Session, import_id: int) -> Mapping[str, int]:
    return {row.code: int(row.found) for row in transaction.execute(_CODES, {"import_id": import_id})}
