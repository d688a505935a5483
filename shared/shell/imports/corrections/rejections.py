"""Find out which lines of an import have a rejected row that can be corrected."""

from __future__ import annotations

import json
from collections.abc import Collection

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import Rejection

_REJECTED = text(
    "SELECT rejection.line_no, rejection.code "
    "FROM JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS asked "
    "STRAIGHT_JOIN import_rejections AS rejection FORCE INDEX (PRIMARY) "
    "ON rejection.import_id = :import_id AND rejection.line_no = asked.line_no"
)


def find_refusals(transaction: Session, import_id: int, lines: Collection[int]) -> dict[int, str]:
    """Return why lines can neither be corrected nor discarded, by line.

    Such a row is there for good, unless the import is undone: a retry changes only what it says here of failed chunks.
    """
    place = {"import_id": import_id, "lines": json.dumps(sorted(lines))}
    codes = {row.line_no: row.code for row in transaction.execute(_REJECTED, place)}
    refusals = {line: f"Line {line}: the import has no rejected row there." for line in lines if line not in codes}
    failed = (line for line, code in codes.items() if code == Rejection.CHUNK_FAILED)
    return refusals | {line: f"Line {line}: a whole chunk failed there; retry the import." for line in failed}
