"""Whether the rejections and warnings of every import are counted by code and column as they are."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.database.committed_state import Queried
from tests.support.imports.counted_codes import list_miscounts
from tests.torture.findings import MISPLACED, UNFINISHED, Finding

_UNCOUNTED = (
    "SELECT id FROM imports WHERE status IN ('completed', 'completed_with_rejections') "
    "AND codes_generation <> generation"
)


def judge_codes(at: Queried) -> Iterator[Finding]:
    """Every difference, for imports of all kinds and callers."""
    for row in at.query(_UNCOUNTED):
        yield Finding(UNFINISHED, f"the codes of import {row.id} are not counted")
    for miscount in list_miscounts(at):
        yield Finding(MISPLACED, miscount)
