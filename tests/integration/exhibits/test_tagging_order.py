"""Callers who name the same exhibits in another order wait for each other; the server sees no deadlock."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shell.exhibits.commands import add_custodians, add_taggings, remove_taggings
from shell.taggings_ops import create_np_taggings
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by, sorts, tagging
from tests.support.database.counted_database import barrier, done, outcome, replayed, together, transaction
from tests.support.exhibits.stored_cases import Cases


@pytest.mark.parametrize(
    ("first", "second", "made"),
    [
        ((slice(40), range(6)), (slice(None, 20, -1), range(8, 2, -1)), 40 * 6 + 39 * 6 - 19 * 3),
        ((slice(10), range(12)), (slice(10, 20), range(11, -1, -1)), 20 * 12),
    ],
    ids=["overlapping", "new tags on exhibits of one's own"],
)
def test_requests_in_opposite_orders_do_not_deadlock(
    counting: Cases, race_counts: int, first: tuple[slice, range], second: tuple[slice, range], made: int
) -> None:
    ids = counting.exhibits(60)
    before, rounds, meeting = counting.database.deadlocks(), 60 // race_counts, barrier(2)

    def work(at: Engine, expected: slice, tags: range) -> None:
        for number in range(rounds):
            meeting.wait()
            replayed(at, add_taggings, CALLER, tagging(ids[expected], *(f"{number} {tag}" for tag in tags)))

    with counting.database.environments(2) as (one, two):
        together(lambda: work(one, *first), lambda: work(two, *second))
    assert counting.database.deadlocks() - before == 0
    assert len(counting.taggings()) == rounds * made


def test_adding_removing_and_custodians_do_not_deadlock_each_other(counting: Cases, race_counts: int) -> None:
    ids = counting.exhibits(10)
    before, rounds, meeting = counting.database.deadlocks(), 60 // race_counts, barrier(3)

    def work(at: Engine, number: int) -> None:
        for turn in range(rounds):
            meeting.wait()
            expected = tagging(ids if turn % 2 else ids[::-1], "Hot", f"New {turn}")
            if number < 2:
                replayed(at, (add_taggings, remove_taggings)[number], CALLER, expected)
            else:
                replayed(at, add_custodians, CALLER, ids[turn % 10], [f"New {turn}", "Ann"])

    with counting.database.environments(3) as engines:
        together(*(lambda e=each, n=number: work(e, n) for number, each in enumerate(engines)))
    assert counting.database.deadlocks() - before == 0
    tagged = Counter(tag for _, tag in counting.taggings())
    assert set(tagged.values()) <= {len(ids)}, "a tag is on all of the exhibits or on none"
    assert counting.database.scalar("SELECT COUNT(*) FROM tags") == rounds + 1
    links = "SELECT exhibit_id, name FROM custodian_exhibits JOIN custodians ON custodians.id = custodian_id"
    held = {(ids[turn % 10], name) for turn in range(rounds) for name in (f"New {turn}", "Ann")}
    assert {tuple(row) for row in counting.database.query(links)} == held


def naive_taggings(opened: Session, ids: Sequence[int], case_id: int, met: list[Callable[[], object]]) -> None:
    """A twin that locks the exhibits as they are named."""
    for exhibit in ids:
        opened.execute(text("SELECT id FROM exhibits WHERE id = :id FOR UPDATE"), {"id": exhibit})
        while met:
            met.pop()()
    create_np_taggings(opened, ["Hot"], ids, {"case_id": case_id, "user_id": "u"})


def test_callers_that_lock_in_the_order_given_deadlock(counting: Cases) -> None:
    ids, case_id = counting.exhibits(2), counting.case("Case")
    before, meeting = counting.database.deadlocks(), barrier(2)

    def work(at: Engine, expected: Sequence[int]) -> None:
        with transaction(at) as opened:
            naive_taggings(opened, expected, case_id, [meeting.wait])

    with counting.database.environments(2) as (one, two):
        ended = together(outcome(lambda: work(one, ids)), outcome(lambda: work(two, ids[::-1])))
    assert counting.database.deadlocks() - before == 1
    assert sum(isinstance(error, OperationalError) for error in ended) == 1


def test_a_thousand_exhibits_are_locked_off_their_key(counting: Cases) -> None:
    ids = counting.exhibits(3_000)[:1_000]
    sent = sent_by(lambda: done(remove_taggings, CALLER, tagging(ids, "Hot")))
    plan = plan_of(counting, *next(each for each in sent if each[0].endswith("FOR UPDATE")))
    assert re.search(r'"(key|index_name)": "primary"', plan)
    assert not sorts(plan)
    marks = ", ".join(map(str, ids))
    in_one_list = f"SELECT id FROM exhibits FORCE INDEX (PRIMARY) WHERE id IN ({marks}) ORDER BY id FOR UPDATE"
    assert counting.database.is_mysql or sorts(plan_of(counting, in_one_list))
