"""Whether every version of every exhibit has its row of history."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.queried import Queried
from tests.torture.findings import DOUBLED, LOST, Finding

# Of an exhibit at version 4 there are rows of 2, 3 and 4, and no other.
_GAPS = """
    SELECT exhibits.id, exhibits.version, COUNT(changed.version) AS changes,
           MIN(changed.version) AS first, MAX(changed.version) AS last
    FROM exhibits LEFT JOIN exhibit_changes AS changed ON changed.exhibit_id = exhibits.id
    GROUP BY exhibits.id, exhibits.version
    HAVING COUNT(changed.version) <> exhibits.version - 1
      OR MIN(changed.version) <> 2 OR MAX(changed.version) <> exhibits.version
    ORDER BY exhibits.id LIMIT 10
"""
_OF_NOTHING = """
    SELECT exhibit_id, COUNT(*) AS changes FROM exhibit_changes
    WHERE NOT EXISTS (SELECT 1 FROM exhibits WHERE exhibits.id = exhibit_id)
    GROUP BY exhibit_id ORDER BY exhibit_id LIMIT 10
"""


def judge_history(at: Queried) -> Iterator[Finding]:
    """An exhibit's version is 1 and the number of its rows, which have the versions from 2 on."""
    for row in at.query(_GAPS):
        kind = LOST if row.changes < row.version - 1 else DOUBLED
        told = f"{row.changes} changes from version {row.first} to {row.last}"
        yield Finding(kind, f"exhibit {row.id} is at version {row.version} and has {told}")
    for row in at.query(_OF_NOTHING):
        yield Finding(LOST, f"exhibit {row.exhibit_id} is gone and has {row.changes} changes")
