"""Whether each case is as it was answered to be, and let in nothing while it was closed, held or being purged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.cases import CaseState, RecordedAct, find_impossible

_CHANGES = "SELECT case_id, kind FROM case_changes WHERE tenant_id = :tenant"
_STATES = (
    "SELECT id, version, status, held_at IS NOT NULL AS is_held, purge_requested_at IS NOT NULL AS has_purge "
    "FROM cases WHERE tenant_id = :tenant"
)
# A dry run of an undo removes nothing, and is allowed under a hold.
_ACTS = (
    "SELECT case_id, user_id IS NOT NULL AS is_users, "
    "IF(summary LIKE '%\"dryRun\": true%', 'import.dry_run_requested', action) AS action FROM activities "
    "WHERE tenant_id = :tenant AND case_id IS NOT NULL ORDER BY case_id, id"
)
_NAMES = (
    "SELECT custodians.name FROM custodians JOIN cases ON cases.id = case_id "
    "WHERE tenant_id = :tenant AND custodians.name LIKE 'Never %'"
)


def judge_cases(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """Everything that was done to the cases that others worked in."""
    course, tenant = ledger.cases, ledger.tenant
    done = {kind for _, kind in course.changes}
    if not done >= {"closed", "reopened"}:
        yield Finding(UNFINISHED, f"cases were only {sorted(done)}")
    ids = {case_id for case_id, _ in course.states}
    changes = (tuple(row) for row in at.query(_CHANGES, tenant=tenant))
    yield from compare("changes of cases", course.changes, Counter(each for each in changes if each[0] in ids))
    yield from _judge_states(ledger, at)
    for row in at.query(_NAMES, tenant=tenant):
        yield Finding(MISPLACED, f"custodian {row.name} was added by a request that a closed case refused")


def judge_fences(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """The acts in each case, of all clients, could follow each other."""
    rows = at.query(_ACTS, tenant=ledger.tenant)
    for case_id, group in groupby(rows, lambda row: row.case_id):
        for what in find_impossible(RecordedAct(row.action, bool(row.is_users)) for row in group):
            yield Finding(MISPLACED, f"case {case_id} let in {what}")


def _judge_states(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    last: dict[int, int] = {}
    for case_id, version in ledger.cases.states:
        last[case_id] = max(last.get(case_id, 0), version)
    rows = {row.id: row for row in at.query(_STATES, tenant=ledger.tenant)}
    for case_id, version in last.items():
        row, answered = rows[case_id], ledger.cases.states[case_id, version]
        found = CaseState(row.status, bool(row.is_held), bool(row.has_purge))
        if (row.version, found) != (version, answered):
            yield Finding(LOST, f"case {case_id} is {found} at version {row.version}, answered was {answered}")
