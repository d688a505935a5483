"""What the oracles and the hunt say of rows and events that are put before them, without an application."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

from samples.generator import generate
from samples.spec import Spec
from tests.support.tenants.two_schemas import Rows
from tests.torture.clients.ledger import DOCUMENTS, Check, Ledger, Move, Suspension, Upload
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding
from tests.torture.hunt import first_caught
from tests.torture.models.cases import RecordedAct, find_impossible
from tests.torture.oracles.checks import _judge_summary, _judge_truth
from tests.torture.oracles.events import _judge_stories
from tests.torture.oracles.moves import judge_moves
from tests.torture.oracles.profiles import _judge_rows, _judge_versions
from tests.torture.oracles.requests import _judge_production
from tests.torture.oracles.suspensions import judge_suspensions
from tests.torture.plans.seed import plan_of

STARTED = {"eventType": "import.started", "importId": 1}
COMPLETED = {"eventType": "import.completed", "importId": 1}


def _heard(*events: dict[str, Any]) -> list[Finding]:
    return list(_judge_stories(cast("Any", SimpleNamespace(heard=list(events)))))


def test_an_end_that_is_heard_first_is_misplaced() -> None:
    assert [each.kind for each in _heard(COMPLETED, STARTED)] == [MISPLACED]


def test_an_end_behind_its_beginning_is_not_whatever_comes_twice() -> None:
    assert _heard(STARTED, COMPLETED, STARTED, COMPLETED) == []


def _find(*actions: str) -> list[str]:
    return list(find_impossible(RecordedAct(each) for each in actions))


def test_what_a_case_cannot_have_let_in_is_found() -> None:
    assert _find("case.created", "exhibit.changed", "case.closed", "import.cancelled", "case.reopened") == []
    assert _find("case.closed", "exhibit.changed", "case.reopened") == ["exhibit.changed in a case that is closed"]
    assert _find("case.held", "exhibit.changed", "import.undo_requested", "case.lifted", "import.undo_requested") == [
        "import.undo_requested under a hold"
    ]
    assert _find("case.closed", "case.purge_requested", "case.held") == ["case.held although its purge is requested"]
    assert _find("case.held", "case.closed", "case.purge_requested", "case.purge_begun") == [
        "case.purge_requested under a hold",
        "case.purge_begun under a hold",
    ]
    assert list(find_impossible([RecordedAct("case.closed"), RecordedAct("import.completed", is_users=False)])) == []


def test_what_is_done_or_started_for_a_suspended_tenant_is_misplaced() -> None:
    found = {
        "activities": [SimpleNamespace(action="exhibit.changed")],
        "outbox_events": [SimpleNamespace(aggregate_id="1")],
    }
    at: Any = SimpleNamespace(
        query=lambda text, **_: next(rows for name, rows in found.items() if f"FROM {name}" in text)
    )
    ledger = Ledger("tenant", suspensions=[Suspension("read_only", (1, 1), (9, 9))])
    # A read-only tenant has its work end.
    assert [each.kind for each in judge_suspensions(ledger, at)] == [UNFINISHED, MISPLACED]
    ledger.suspensions.append(Suspension("suspended", (10, 10), (11, 11)))
    assert [each.kind for each in judge_suspensions(ledger, at)] == [MISPLACED] * 3
    found = {name: [] for name in found}
    assert list(judge_suspensions(ledger, at)) == []


def test_a_moved_row_that_is_missing_or_there_twice_and_a_tenant_of_two_stacks_are_found() -> None:
    rows: Rows = {"cases": Counter({(b"1",): 1}), "tags": Counter({(b"2",): 1})}
    ledger = Ledger("tenant", moves=[Move("moved", rows)])
    found = (rows, rows)
    statuses = ["leaving", "active"]
    cells: Any = SimpleNamespace(read=lambda _: found, get_statuses=lambda _: statuses)
    assert list(judge_moves(ledger, cells)) == []
    found = (rows, {"cases": Counter(), "tags": Counter({(b"2",): 2})})
    assert [each.kind for each in judge_moves(ledger, cells)] == [LOST, DOUBLED]
    found, statuses = (rows, rows), ["active", "active"]
    assert [each.kind for each in judge_moves(ledger, cells)] == [DOUBLED]
    statuses = ["read_only", ""]
    assert [each.kind for each in judge_moves(ledger, cells)] == [UNFINISHED]


def test_an_exhibit_that_a_production_has_twice_is_doubled() -> None:
    rows = [SimpleNamespace(exhibit_id=number, status="produced", position=number) for number in range(DOCUMENTS)]
    rows[-1].exhibit_id = 0
    assert DOUBLED in {each.kind for each in _judge_production(1, "confirmed", rows, {})}
    rows[-1].exhibit_id = DOCUMENTS
    assert DOUBLED not in {each.kind for each in _judge_production(1, "confirmed", rows, {})}


def _check(*findings: dict[str, Any]) -> Check:
    return Check(
        Upload("Case", generate(Spec(rows=3)), has_twin=False), is_run=True, unchanged=False, findings=[*findings]
    )


def test_a_check_that_counts_other_rows_than_the_file_has_is_misplaced() -> None:
    right = {"wouldImport": 3, "unchanged": 0, "wouldReject": 0}
    assert list(_judge_truth(_check(), right)) == []
    assert [each.kind for each in _judge_truth(_check(), {**right, "wouldImport": 2})] == [MISPLACED]
    error = {"line": 2, "code": "MISSING_ID", "severity": "error"}
    assert [each.kind for each in _judge_truth(_check(error), right)] == [MISPLACED]


def test_a_summary_counts_the_rows_of_errors_and_other_findings_one_by_one() -> None:
    error = {"line": 2, "code": "MISSING_ID", "severity": "error", "rows": 4}
    warning = {"line": 2, "code": "BATES_GAP", "severity": "warning", "rows": 1}
    check = _check(error, error, warning, warning)
    right = [{"code": "MISSING_ID", "count": 4}, {"code": "BATES_GAP", "count": 2}]
    assert list(_judge_summary(check, {"findings": right})) == []
    assert [each.kind for each in _judge_summary(check, {"findings": right[:1]})] == [LOST]
    more = [right[0], {"code": "BATES_GAP", "count": 3}]
    assert [each.kind for each in _judge_summary(check, {"findings": more})] == [DOUBLED]


def test_a_version_of_a_profile_that_no_caller_was_answered_is_lost() -> None:
    ledger = Ledger("tenant", profiles={(1, 1): {}, (1, 3): {}})
    assert [each.kind for each in _judge_versions(ledger, {1: 3})] == [LOST]
    ledger.profiles[1, 2] = {}
    assert list(_judge_versions(ledger, {1: 3})) == []


def test_profiles_of_one_name_are_doubled_and_one_that_was_deleted_is_misplaced() -> None:
    profile = {"name": "Kept", "options": {"columns": {}}, "headerFingerprint": ""}
    ledger = Ledger("tenant", profiles={(1, 1): profile, (2, 1): profile})
    rows = [
        SimpleNamespace(id=number, name="Kept", version=1, options='{"columns": {}}', fingerprint="")
        for number in (1, 2)
    ]
    assert [each.kind for each in _judge_rows(ledger, {1: 1, 2: 1}, rows)] == [DOUBLED]
    ledger.deleted_profiles.add(2)
    assert [each.kind for each in _judge_rows(ledger, {1: 1, 2: 1}, rows)] == [DOUBLED, MISPLACED]
    assert list(_judge_rows(ledger, {1: 1, 2: 1}, rows[:1])) == []


def test_a_violation_of_another_kind_does_not_prove_a_protection() -> None:
    plays = [(1, [Finding(UNFINISHED, "slow")]), (2, [Finding(UNFINISHED, "slow"), Finding(DOUBLED, "twice")])]
    caught = first_caught("chunk-row", plays, 2)
    assert (caught.seed, caught.finding) == (2, Finding(DOUBLED, "twice"))
    assert first_caught("chunk-row", plays[:1], 2).finding is None


def test_every_seed_has_faults_where_protections_act() -> None:
    aimed = {
        "mint",
        "number",
        "note",
        "overlay",
        "record",
        "numbered",
        "found",
        "overlaid",
        "page",
        "paged",
        "link",
        "linked",
        "released",
        "fill",
        "listed",
        "expanded",
        "ready",
        "recorded",
        "owned",
        "answered",
        "take",
        "alter",
        "accepted",
        "entered",
        "erased",
    }
    for seed in range(1, 21):
        assert {each.label for each in plan_of(seed).points} >= aimed
    assert any(each.label == "place" for seed in range(1, 21) for each in plan_of(seed).points)
