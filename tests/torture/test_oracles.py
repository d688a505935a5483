"""What the oracles and the hunt say of rows and events that are put before them, without an application."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from tests.torture.events_oracle import _judge_stories
from tests.torture.findings import DOUBLED, MISPLACED, UNFINISHED, Finding
from tests.torture.hunt import first_caught
from tests.torture.ledger import DOCUMENTS
from tests.torture.plan import plan_of
from tests.torture.requests_oracle import _judge_production

STARTED = {"eventType": "import.started", "importId": 1}
COMPLETED = {"eventType": "import.completed", "importId": 1}


def _heard(*events: dict[str, Any]) -> list[Finding]:
    return list(_judge_stories(cast("Any", SimpleNamespace(heard=list(events)))))


def test_an_end_that_is_heard_first_is_misplaced() -> None:
    assert [each.kind for each in _heard(COMPLETED, STARTED)] == [MISPLACED]


def test_an_end_behind_its_beginning_is_not_whatever_comes_twice() -> None:
    assert _heard(STARTED, COMPLETED, STARTED, COMPLETED) == []


def test_an_exhibit_that_a_production_has_twice_is_doubled() -> None:
    rows = [SimpleNamespace(exhibit_id=number, status="produced", position=number) for number in range(DOCUMENTS)]
    rows[-1].exhibit_id = 0
    assert DOUBLED in {each.kind for each in _judge_production(1, "confirmed", rows, {})}
    rows[-1].exhibit_id = DOCUMENTS
    assert DOUBLED not in {each.kind for each in _judge_production(1, "confirmed", rows, {})}


def test_a_violation_of_another_kind_does_not_prove_a_protection() -> None:
    plays = [(1, [Finding(UNFINISHED, "slow")]), (2, [Finding(UNFINISHED, "slow"), Finding(DOUBLED, "twice")])]
    caught = first_caught("chunk-row", plays, 2)
    assert (caught.seed, caught.finding) == (2, Finding(DOUBLED, "twice"))
    assert first_caught("chunk-row", plays[:1], 2).finding is None


def test_every_seed_has_faults_where_protections_act() -> None:
    aimed = {"mint", "number", "note", "record", "numbered", "told", "owned", "answered"}
    for seed in range(1, 21):
        assert {each.label for each in plan_of(seed).points} >= aimed
    assert any(each.label == "place" for seed in range(1, 21) for each in plan_of(seed).points)
