"""Compare an import with the check that came before it."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import WarningCode
from shell.db.bulk_insert import insert_new
from shell.imports.completion import WarningRow, sum_chunks

# The warnings of the file that the split writes are numbered from 0.
_SEQ = 900_000
_CHECK = text(
    "SELECT would_import AS imported, unchanged, would_update AS updated, would_reject AS rejected FROM import_checks "
    "WHERE import_id = :import_id AND finished_at IS NOT NULL"
)
_DELETE = text("DELETE FROM import_warnings WHERE import_id = :import_id AND line_no = 0 AND seq = :seq")


def compare_with_check(transaction: Session, import_id: int) -> None:
    """Write the warning that the result differs from that of the check, if there was a check and it does.

    The caller holds the lock on the import's row. Repeating it replaces the warning of an earlier run.
    """
    check = transaction.execute(_CHECK, {"import_id": import_id}).one_or_none()
    if check is None:
        return
    totals = sum_chunks(transaction, import_id)
    transaction.execute(_DELETE, {"import_id": import_id, "seq": _SEQ})
    differing = [
        f"{name} {totals[name]} instead of {count}" for name, count in check._mapping.items() if totals[name] != count
    ]
    if differing:
        reason = "the case was changed after the check, or a chunk failed"
        message = f"the check found another result: rows {', '.join(differing)}; {reason}"
        code = WarningCode.DIFFERS_FROM_CHECK.value
        row = WarningRow(import_id, 0, _SEQ, 0, None, code, message)
        insert_new(transaction, "import_warnings", WarningRow._fields, [row])
