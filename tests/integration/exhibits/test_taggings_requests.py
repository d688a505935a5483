"""Many exhibits tagged, untagged and given custodians at once: all or none, counted exactly, in few statements."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.taggings import TaggingRequest, TaggingsMade
from core.errors import InvalidInputError, NotFoundError
from shell.db.session import session
from shell.exhibits.commands import add_custodians, add_taggings, remove_taggings
from shell.taggings_ops import create_np_taggings
from tests.integration.exhibits.exhibit_requests import CALLER, tagging
from tests.support.database.counted_database import done, replayed, together
from tests.support.exhibits.stored_cases import Cases

FIVE = ("Hot", r"Hot\Really Hot", "Privileged", "Responsive", "Redact")


def test_every_exhibit_gets_every_tag_once(cases: Cases) -> None:
    ids = cases.exhibits(3)
    assert done(add_taggings, CALLER, tagging(ids[1:2], "hot")) == TaggingsMade(exhibits=1, tags=1, created=1)
    made = done(add_taggings, CALLER, tagging([*ids[::-1], ids[0]], "Hot", "HOT", r"Hot\Really Hot"))
    assert made == TaggingsMade(exhibits=3, tags=2, created=5)
    assert cases.taggings() == [(each, tag) for each in ids for tag in ("hot", r"Hot\Really Hot")]
    again = done(add_taggings, CALLER, tagging(ids, "Hot"))
    assert (again.exhibits, again.tags, again.created) == (3, 1, 0)


def test_tags_are_taken_off_again_and_others_stay(cases: Cases) -> None:
    ids = cases.exhibits(3)
    done(add_taggings, CALLER, tagging(ids, *FIVE))
    assert done(remove_taggings, CALLER, tagging(ids[:2], "hot", "Redact", "Unknown")).removed == 4
    assert done(remove_taggings, CALLER, tagging(ids[:2], "Hot", "Redact")).removed == 0
    assert done(remove_taggings, CALLER, tagging(ids, "Unknown")).removed == 0
    assert len(cases.taggings()) == 11
    assert cases.database.scalar("SELECT COUNT(*) FROM tags") == 5, "nothing is added by taking off"


def test_a_tag_of_another_case_is_another_tag(cases: Cases) -> None:
    here, there = cases.exhibit("A-1"), cases.exhibit("A-1", "Case 2")
    done(add_taggings, CALLER, tagging([here], "Hot"))
    assert done(remove_taggings, CALLER, tagging([there], "Hot")).removed == 0
    assert done(add_taggings, CALLER, tagging([there], "Hot")).created == 1
    assert cases.database.scalar("SELECT COUNT(*) FROM tags") == 2


@pytest.mark.parametrize("op", [add_taggings, remove_taggings])
def test_foreign_and_missing_exhibits_are_refused_alike_and_nothing_is_done(
    cases: Cases, op: Callable[[Session, Caller, TaggingRequest], object]
) -> None:
    mine = cases.exhibits(30)
    theirs = cases.exhibit("A-1", tenant="other")
    missing = list(range(theirs + 1, theirs + 30))
    done(add_taggings, CALLER, tagging(mine, "Hot"))
    with pytest.raises(NotFoundError) as refused:
        done(op, CALLER, tagging([*missing, *mine, theirs], "Hot", "New"))
    assert (
        str(refused.value)
        == f"You have no exhibits with these ids: {', '.join(map(str, [theirs, *missing][:20]))} and 10 more."
    )
    assert len(cases.taggings()) == 30
    assert cases.database.scalar("SELECT COUNT(*) FROM tags") == 1


def test_a_refused_request_locks_nothing_of_another_tenants(cases: Cases) -> None:
    theirs = cases.exhibit("A-1", tenant="other")
    with session() as transaction:
        with pytest.raises(NotFoundError):
            add_taggings(transaction, CALLER, tagging([theirs], "Hot"))
        assert cases.database.query(f"SELECT id FROM exhibits WHERE id = {theirs} FOR UPDATE NOWAIT")


def test_exhibits_of_several_cases_are_refused(cases: Cases) -> None:
    ids = [cases.exhibit("A-1"), cases.exhibit("A-1", "Case 2")]
    with pytest.raises(InvalidInputError, match="several cases"):
        done(add_taggings, CALLER, tagging(ids, "Hot"))
    assert cases.taggings() == []


def test_a_name_that_cannot_be_stored_is_refused_and_nothing_is_done(cases: Cases) -> None:
    ids = cases.exhibits(1)
    for tag in ("👍", "x" * 501):
        request = TaggingRequest.model_construct(exhibit_ids=ids, tags=["Hot", tag])
        for op in (add_taggings, remove_taggings):
            with pytest.raises(InvalidInputError, match="KEY_"):
                done(op, CALLER, request)
    for custodian in ("👍", "x" * 256):
        with pytest.raises(InvalidInputError, match="KEY_"):
            done(add_custodians, CALLER, ids[0], ["Ann", custodian])
    assert cases.database.query("SELECT name FROM tags UNION ALL SELECT name FROM custodians") == []


def questions(op: Callable[[Session], object]) -> int:
    """How many statements the server counts for the op."""
    statement = text("SHOW SESSION STATUS LIKE 'Questions'")
    with session() as transaction:
        before = int(transaction.execute(statement).one()[1])
        op(transaction)
        return int(transaction.execute(statement).one()[1]) - before - 1


def test_statements_do_not_grow_with_exhibits_tags_and_custodians(cases: Cases) -> None:
    ids = cases.exhibits(1_000)
    # What a connection queries once in its life is queried.
    questions(lambda t: add_taggings(t, CALLER, tagging(ids[1:2], "Warm")))
    few = questions(lambda t: add_taggings(t, CALLER, tagging(ids[:1], "First")))
    many = questions(lambda t: add_taggings(t, CALLER, tagging(ids, *FIVE)))
    assert many == few <= 20
    assert len(cases.taggings()) == 5_002
    fewer = questions(lambda t: remove_taggings(t, CALLER, tagging(ids[:1], "First")))
    assert questions(lambda t: remove_taggings(t, CALLER, tagging(ids, *FIVE))) == fewer <= 10
    assert len(cases.taggings()) == 1
    questions(lambda t: add_custodians(t, CALLER, ids[0], ["Warm"]))
    few = questions(lambda t: add_custodians(t, CALLER, ids[0], ["First"]))
    names = [f"Custodian {number}" for number in range(50)]
    assert questions(lambda t: add_custodians(t, CALLER, ids[0], names)) == few <= 16


def test_more_pairs_than_fit_one_statement_are_taken(cases: Cases) -> None:
    ids = cases.exhibits(300)
    tags = [f"Tag {number}" for number in range(50)]
    assert done(add_taggings, CALLER, tagging(ids, *tags)).created == 15_000
    assert done(remove_taggings, CALLER, tagging(ids[::2], *tags)).removed == 7_500
    assert done(add_taggings, CALLER, tagging(ids, *tags)).created == 7_500


def test_custodians_are_added_once_each(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1")
    done(add_custodians, CALLER, exhibit, ["Bob", "ann LEE"])
    response = done(add_custodians, CALLER, exhibit, ["Carl", "Ann Lee", "ANN LEE", "Carl"])
    assert [each.name for each in response.custodians] == ["ann LEE", "Bob", "Carl"]
    assert cases.database.scalar("SELECT COUNT(*) FROM custodians WHERE import_id IS NULL") == 3
    users = cases.database.query("SELECT DISTINCT user_id FROM custodian_exhibits")
    assert [row[0] for row in users] == ["reviewer"]


ADD: dict[str, Callable[[Session, int], object]] = {
    "tags": lambda t, exhibit: add_taggings(t, CALLER, tagging([exhibit], "Hot")),
    "custodians": lambda t, exhibit: add_custodians(t, CALLER, exhibit, ["Hot"]),
}


@pytest.mark.parametrize("kind", ADD)
def test_a_name_that_vanishes_while_it_is_used_is_added_again(counting: Cases, kind: str) -> None:
    """As where an import ends and removes an unlinked name. No other session may wait on this server."""
    exhibit, case_id = counting.exhibit("A-1"), counting.case("Case")
    counting.database.query(f"INSERT INTO {kind} (case_id, name) VALUES (:case, 'Hot')", case=case_id)
    with counting.database.environments(2) as (one, two), Session(two) as ending:
        ending.execute(text(f"DELETE FROM {kind}"))
        tried: list[int] = []

        def op(transaction: Session) -> object:
            tried.append(1)
            return ADD[kind](transaction, exhibit)

        def end() -> None:
            counting.database.until_waiting(1)
            ending.commit()

        together(lambda: replayed(one, op), end)
    assert len(tried) == 2
    assert counting.database.scalar(f"SELECT COUNT(*) FROM {kind}") == 1


def test_counts_are_exact_when_two_tag_the_same_exhibits(counting: Cases) -> None:
    """The second waits for the first, which has tagged and has not committed."""
    request = tagging(counting.exhibits(5), "a", "b")
    with counting.database.environments(2) as (one, two), Session(one) as first:
        created = add_taggings(first, CALLER, request).created

        def commit() -> int:
            counting.database.until_waiting(1)
            first.commit()
            return created

        second = together(lambda: replayed(two, add_taggings, CALLER, request).created, commit)
    assert second == [0, 10]


def test_counts_under_no_lock_count_a_pair_twice(cases: Cases) -> None:
    exhibit, case = cases.exhibit("A-1"), {"case_id": cases.case("Case"), "user_id": "u"}
    count = text("SELECT COUNT(*) FROM taggings")
    with cases.database.environments(2) as (one, two), Session(one) as left, Session(two) as right:
        before = [caller.execute(count).scalar_one() for caller in (left, right)]
        after = []
        for caller in (left, right):
            create_np_taggings(caller, ["Hot"], [exhibit], case)
            after.append(caller.execute(count).scalar_one())
            caller.commit()
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1], "of one pair"
