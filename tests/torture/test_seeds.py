"""A few seeds of the torture, and proof that its oracle sees what it is there for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.template.reader import Template
from tests.torture import findings, seeds
from tests.torture.clients.users import until
from tests.torture.faults.faulty_proxy import OF_COMMITS, Injection
from tests.torture.faults.injection_points import CALLS, LABELS, Action
from tests.torture.oracles.tamperings import list_ids, list_tamperings
from tests.torture.plans.seed import Trouble, plan_of
from tests.torture.plans.volumes import VolumeCasePlan
from tests.torture.stack.application import TortureStack, start_stack

# Any will do; `make torture` plays more.
SEED, STORM = 109, 12
EVERYTHING = range(1, 201)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TortureStack]:
    with start_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.mark.slow
def test_a_seed_holds(at: TortureStack) -> None:
    outcome = seeds.run(plan_of(SEED, storm=STORM), at)
    assert outcome.findings == [], f"again: python -m tests.torture --first {SEED} --seeds 1 --storm {STORM}"
    lost = [outcome.struck[f"statement {each.name}"] for each in OF_COMMITS]
    assert min(outcome.struck["statement DEADLOCK"], *lost) > 0
    assert len(outcome.struck) > 3, outcome.struck
    assert outcome.records
    assert outcome.requests


@pytest.mark.slow
def test_the_oracle_sees_every_kind_of_violation(tmp_path: Path) -> None:
    # A stack of its own: a dead-lettered event of it never goes out, and the next seed would wait for that.
    with start_stack(tmp_path) as at:
        volumes = next(each for each in (plan_of(seed).volumes for seed in EVERYTHING) if _has_zip_again(each[1]))
        outcome = seeds.run(replace(plan_of(1, with_faults=False), volumes=volumes), at)
        assert outcome.findings == []
        ledger = outcome.ledger
        ids = list_ids(ledger)
        known: set[findings.Finding] = set()
        for tampering, (kind, words) in list_tamperings():
            at.database.query(tampering, **{name: value for name, value in ids.items() if f":{name}" in tampering})
            found = set(seeds.judge(ledger, at))
            assert any(each.kind == kind and words in each.what for each in found - known), tampering
            known = found


def _has_zip_again(case: VolumeCasePlan) -> bool:
    """Whether a zip is undone and imported again: then there is something of everything."""
    return case.volume.is_zip and case.end == "again"


@pytest.mark.slow
def test_what_is_heard_of_and_is_not_there_is_early(at: TortureStack) -> None:
    at.subscriber.early.clear()
    topic = at.stack.environment("PublishOutboxFunction")["EVENTS_TOPIC_ARN"]
    message = '{"eventType": "import.completed", "eventId": 4711, "sequence": 1, "importId": 1}'
    at.stack.sns.publish(TopicArn=topic, Message=message)
    until(lambda: at.subscriber.early, "the event to be heard")
    assert [each["eventId"] for each in at.subscriber.early] == [4711]


def test_a_seed_plans_the_same_every_time_and_others_plan_otherwise() -> None:
    assert plan_of(7, storm=3) == plan_of(7, storm=3)
    assert replace(plan_of(7, storm=3), statements=()) == replace(plan_of(7), statements=())
    assert plan_of(7, storm=3).statements[:-6] == plan_of(7).statements
    assert len({repr(plan_of(seed)) for seed in EVERYTHING}) == len(EVERYTHING)


def test_every_function_that_works_may_be_struck() -> None:
    """But for the one that a deployment runs once, and the console's, which does no work."""
    struck = {point.function for seed in range(60) for point in plan_of(seed).points}
    idle = {"MigrateDatabaseFunction", "ConsoleFunction"}
    assert struck == set(Template.load(DEFAULT_TEMPLATE).functions) - idle


@pytest.mark.slow
def test_undisturbed_work_visits_every_point(at: TortureStack) -> None:
    """A label whose statements were reworded would never strike."""
    outcome = seeds.run(plan_of(2, with_faults=False), at)
    assert outcome.findings == []
    visited = at.controller.visited()
    labels = (
        *LABELS,
        "mint",
        "place",
        "number",
        "note",
        "overlay",
        "record",
        "numbered",
        "found",
        "ran",
        "overlaid",
        "weigh",
        "undone",
        "page",
        "link",
        "fill",
        "listed",
        "expanded",
        "ready",
        "linked",
        "paged",
        "released",
        "recorded",
        "owned",
        "answered",
        "take",
        "alter",
        "accepted",
        "entered",
        "erased",
    )
    sides = {(label, side) for label in labels for side in (False, True)} - {("begin", True)}
    assert visited >= sides | {("examine", True)}


def test_two_hundred_seeds_plan_every_kind_of_fault() -> None:
    plans = [plan_of(seed) for seed in EVERYTHING]
    assert {each.trouble for plan in plans for each in plan.troubles} == set(Trouble)
    assert {each.injection for plan in plans for each in plan.statements} == set(Injection)
    planned = {(each.label, each.action) for plan in plans for each in plan.points}
    of_all = {(label, action) for label in LABELS for action in (Action.DIE, Action.STOP)}
    of_calls = {(label, action) for label in CALLS for action in Action if action is not Action.PART}
    assert planned >= of_all | of_calls | {("publish", Action.PART)}
    assert any(file.is_cancelled for plan in plans for file in plan.files)
    assert any(file.is_twice for plan in plans for file in plan.files)


def test_every_seed_checks_a_file_in_a_case_of_its_own_and_some_leave_one() -> None:
    plans = [plan_of(seed) for seed in EVERYTHING]
    for plan in plans:
        cases = [file.case for file in plan.files]
        assert len(set(cases)) == len(cases)
        assert any(file.check and file.check.is_run for file in plan.files)
    checked = [(file, file.check) for plan in plans for file in plan.files if file.check]
    assert {check.is_run for _, check in checked} == {True, False}
    assert {check.is_run_by_two for _, check in checked} == {True, False}
    assert {check.is_run_cancelled for _, check in checked} == {True, False}
    habits = {(file.is_announced, file.is_twice, file.is_cancelled) for file, _ in checked}
    assert len(habits) == 6, "a file that is imported first is not cancelled too"


def test_the_oracle_knows_nothing_of_the_application() -> None:
    names = (
        "imports",
        "checks",
        "profiles",
        "overlays",
        "volumes",
        "events",
        "requests",
        "history",
        "cases",
        "purges",
        "suspensions",
        "moves",
        "repeats",
    )
    statements = "\n".join(f"import tests.torture.oracles.{name}" for name in names)
    tell = "import sys; print(sorted({n.partition('.')[0] for n in sys.modules} & {'core', 'shell', 'import_chunk'}))"
    code = f"import sys; sys.path[:0] = ['functions', 'shared']\n{statements}\n{tell}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(REPOSITORY), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
