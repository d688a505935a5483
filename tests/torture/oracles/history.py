"""Whether every version of every exhibit has its row of history, and every request that changed one its own row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, LOST, MISPLACED, Finding, compare
from tests.torture.models.stored_documents import parse_changes
from tests.torture.plans.overlays import OVERLAID_CASE
from tests.torture.plans.volumes import VOLUME_CASES

# Of an exhibit at version 4 there are rows of 2, 3 and 4, and no other.
_GAPS = """
    SELECT exhibits.id, exhibits.version, COUNT(changed.version) AS changes,
           MIN(changed.version) AS first, MAX(changed.version) AS last
    FROM (SELECT id, version FROM exhibits UNION ALL SELECT exhibit_id, version FROM exhibit_tombstones) AS exhibits
    LEFT JOIN exhibit_changes AS changed ON changed.exhibit_id = exhibits.id
    GROUP BY exhibits.id, exhibits.version
    HAVING COUNT(changed.version) <> exhibits.version - 1
      OR MIN(changed.version) <> 2 OR MAX(changed.version) <> exhibits.version
    ORDER BY exhibits.id LIMIT 100
"""
_OF_NOTHING = """
    SELECT exhibit_id, COUNT(*) AS changes FROM exhibit_changes
    WHERE NOT EXISTS (SELECT 1 FROM exhibits WHERE exhibits.id = exhibit_id)
      AND NOT EXISTS (SELECT 1 FROM exhibit_tombstones AS stone WHERE stone.exhibit_id = exhibit_changes.exhibit_id)
    GROUP BY exhibit_id ORDER BY exhibit_id LIMIT 10
"""


def judge_history(at: Queried) -> Iterator[Finding]:
    """An exhibit's version is 1 and the number of its rows, with the versions from 2 on; also of a removed one."""
    for row in at.query(_GAPS):
        kind = LOST if row.changes < row.version - 1 else DOUBLED
        answered = f"{row.changes} changes from version {row.first} to {row.last}"
        yield Finding(kind, f"exhibit {row.id} is at version {row.version} and has {answered}")
    for row in at.query(_OF_NOTHING):
        yield Finding(LOST, f"exhibit {row.exhibit_id} is gone without a tombstone, and has {row.changes} changes")


def judge_changes(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """The rows are those of the requests that were answered, one for each exhibit that a request changed.

    Those of the case that is overlaid are judged with its overlays, those of pages with their volumes.
    """
    expected = ledger.changes + Counter({(each, "edited"): len(answered) for each, answered in ledger.titles.items()})
    rows = at.query(
        "SELECT exhibit_id, changed.version, action, changes FROM exhibit_changes AS changed "
        "JOIN exhibits ON exhibits.id = exhibit_id JOIN cases ON cases.id = case_id "
        "WHERE tenant_id = :tenant AND cases.name NOT IN (:overlaid, :one, :other) "
        "ORDER BY exhibit_id, changed.version",
        tenant=ledger.tenant,
        overlaid=OVERLAID_CASE,
        one=VOLUME_CASES[0],
        other=VOLUME_CASES[1],
    )
    found = Counter((row.exhibit_id, row.action) for row in rows)
    yield from compare("changes in the history, by exhibit and action", expected, found)
    for exhibit, answered in ledger.titles.items():
        mine = [row for row in rows if (row.exhibit_id, row.action) == (exhibit, "edited")]
        titles = {row.version: parse_changes(row.changes)["fields"]["title"] for row in mine}
        if {version: title["new"] for version, title in titles.items()} != answered:
            yield Finding(LOST, f"titles of exhibit {exhibit} were answered as {answered}; its history has {titles}")
        if any(before["new"] != after["old"] for before, after in pairwise(titles.values())):
            yield Finding(MISPLACED, f"titles of exhibit {exhibit} do not follow each other: {titles}")
