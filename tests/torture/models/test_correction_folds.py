"""The model of corrections says what requests come to, and what they cannot come to."""

from __future__ import annotations

import random
from itertools import chain

import pytest

from tests.torture.findings import DOUBLED, LOST, MISPLACED
from tests.torture.models.corrections import (
    CorrectionCourse,
    Ended,
    Event,
    Fold,
    Looked,
    Refused,
    Retried,
    Taken,
    Undone,
)
from tests.torture.models.held import read_documents
from tests.torture.plans.corrections import (
    NUMBER,
    TITLE,
    CorrectedRow,
    CorrectionCasePlan,
    CorrectionRequest,
    draw_corrections,
)
from tests.torture.plans.held import READINGS, Act, draw_held

PLAN = CorrectionCasePlan("Case", is_volume=False, rejected=("", "", ""), steps=(), is_undone=False)
ONE = CorrectionRequest((CorrectedRow(3, "C-3", "x"), CorrectedRow(4, "", "x")))
OTHER = CorrectionRequest((CorrectedRow(4, "O-4", "x"),), discarded=(5,))


def fold(*events: Event) -> tuple[list[str], Fold]:
    """The kinds of what cannot be, and the fold."""
    folded = Fold(CorrectionCourse(PLAN, 1, list(events)))
    return [each.kind for each in folded.run()], folded


def test_a_row_that_is_rejected_again_leaves_its_line_open() -> None:
    kinds, folded = fold(
        Taken(2, ONE), Ended(2, has_run=True), Looked(2, [4, 5]), Taken(3, OTHER), Ended(3, has_run=True)
    )
    assert (kinds, folded.list_open()) == ([], [])
    assert [(import_id, line, row.number) for import_id, line, row in folded.list_documents()] == [
        (2, 1, "C-3"),
        (3, 1, "O-4"),
    ]
    assert folded.holders == {3: 2, 4: 3, 5: 0}


def test_an_undo_and_a_cancellation_open_lines_and_a_discarded_one_stays() -> None:
    events = (Taken(2, OTHER), Ended(2, has_run=True), Looked(1, [3]), Undone(2), Looked(2, [3, 4]))
    assert fold(*events, Taken(3, ONE), Ended(3, has_run=False), Looked(2, [3, 4]))[0] == []
    assert fold(*events, Looked(0, [3, 4], is_undone=True))[0] == []


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ((Taken(2, OTHER), Ended(2, has_run=True), Taken(3, OTHER), Ended(3, has_run=True)), DOUBLED),
        ((Refused(ONE),), LOST),
        ((Taken(2, ONE), Ended(2, has_run=True), Looked(3, [3, 4, 5])), MISPLACED),
        ((Taken(2, ONE), Ended(2, has_run=False), Taken(3, OTHER), Retried(2, is_accepted=True)), DOUBLED),
        ((Taken(2, ONE), Ended(2, has_run=False), Retried(2, is_accepted=False)), LOST),
    ],
)
def test_what_cannot_be_is_found(events: tuple[Event, ...], kind: str) -> None:
    assert fold(*events)[0] == [kind]


def test_a_row_that_equals_a_document_is_accepted_and_creates_none() -> None:
    rows = (CorrectedRow(3, NUMBER, TITLE), CorrectedRow(4, NUMBER, "another"))
    _, folded = fold(Taken(2, CorrectionRequest(rows)), Ended(2, has_run=True))
    assert (folded.list_open(), list(folded.list_documents())) == ([4, 5], [])


def test_seeds_draw_every_habit_of_corrections() -> None:
    cases = list(chain.from_iterable(draw_corrections(random.Random(seed)) for seed in range(60)))
    steps = [step for case in cases for step in case.steps]
    assert {case.is_volume for case in cases} == {case.is_undone for case in cases} == {True, False}
    for name in ("rival", "is_cancelled", "other", "is_repeated", "is_undone"):
        assert {bool(getattr(step, name)) for step in steps} == {True, False}
    rows = [row for step in steps for row in step.request.rows]
    assert {row.error for row in rows} == {None, "MISSING_ID", "EXISTS_WITH_OTHER_VALUES"}
    assert any(row.is_there for row in rows)
    for case in cases:
        assert all(step.request.lines <= set(case.lines) for step in case.steps)


def test_seeds_draw_every_step_of_a_held_import_and_no_run_of_what_cannot_be_read() -> None:
    plans = [draw_held(random.Random(seed)) for seed in range(60)]
    assert {step.act for plan in plans for step in plan.steps} == set(Act)
    for plan in plans:
        reading = plan.reading
        for step in plan.steps:
            reading = step.reading if step.act in (Act.CHANGE, Act.CHANGE_BY_TWO) else reading
            assert READINGS[reading].is_possible or "RUN" not in step.act.name
        documents = [read_documents(plan, READINGS[each]) for each in (0, 1)]
        assert [len(each) for each in documents] == [9, 9]
        assert documents[0] != documents[1]
