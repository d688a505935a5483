"""Custodians and tags of exhibits: any number of callers, in any order, inside any transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from shell.custodian_ops import create_custodian_exhibits, insert_or_get_custodian
from shell.db.session import engine, session
from shell.exhibits.links import insert_links
from shell.tables.name_kinds import CUSTODIANS, TAGS
from shell.taggings_ops import create_np_taggings, create_taggings
from tests.support.database.counted_database import Accounts, Database, outcome, together, transaction

Pairs = Sequence[tuple[int, int]]
CASE = {"case_id": 1, "user_id": "importer"}


@pytest.fixture
def exhibits(database: Database) -> Database:
    """Exhibits, custodians and tags 1 to 4."""
    for number in range(1, 5):
        database.query(
            "INSERT INTO exhibits (id, case_id, control_number, import_id, line_no) VALUES (:n, 1, :n, 0, :n)", n=number
        )
        database.query("INSERT INTO custodians (id, case_id, name) VALUES (:n, 1, :name)", n=number, name=f"c{number}")
        database.query("INSERT INTO tags (id, case_id, name) VALUES (:n, 1, :name)", n=number, name=f"t{number}")
    return database


def links(database: Database, table: str = "custodian_exhibits") -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in database.query(f"SELECT * FROM {table} ORDER BY 1, 2")]


def naive_link(caller: Session, pairs: Pairs, user_id: str) -> None:
    """The negative control locks what it links as it comes."""
    for exhibit, custodian in pairs:
        caller.execute(text("SELECT id FROM exhibits WHERE id = :id FOR UPDATE"), {"id": exhibit})
        insert_links(caller, CUSTODIANS, [(exhibit, custodian)], user_id)


@pytest.mark.parametrize(("link", "deadlocks"), [(create_custodian_exhibits, 0), (naive_link, 1)])
def test_callers_with_the_same_rows_in_opposite_order_do_not_deadlock(
    exhibits: Database, link: Callable[[Session, Pairs, str], None], deadlocks: int
) -> None:
    before = exhibits.deadlocks()

    def work(engine: Engine, waiting: int, pairs: Pairs) -> None:
        exhibits.until_waiting(waiting)
        with transaction(engine) as caller:
            link(caller, pairs, "u")

    with exhibits.environments(3) as (one, two, three), Session(three) as between:
        between.execute(text("SELECT id FROM exhibits WHERE id = 2 FOR UPDATE"))

        def let_them_go_on() -> None:
            exhibits.until_waiting(2)
            between.commit()

        pairs = [(1, 1), (2, 2), (3, 3)]
        ended = together(
            outcome(lambda: work(one, 0, pairs)), outcome(lambda: work(two, 1, pairs[::-1])), outcome(let_them_go_on)
        )
    assert exhibits.deadlocks() - before == deadlocks
    assert [type(error) for error in ended if error] == [OperationalError] * deadlocks
    assert links(exhibits) == pairs


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(1, 1), (98, 1), (99, 1)], "exhibits with these ids do not exist: 98, 99."),
        ([(1, 97)], "custodians with these ids do not exist: 97."),
    ],
)
def test_unknown_ids_are_named_and_nothing_is_linked(exhibits: Database, pairs: Pairs, message: str) -> None:
    with session() as caller:
        caller.add(Accounts(id=1, balance=5))
        with pytest.raises(InvalidInputError, match=message):
            create_custodian_exhibits(caller, pairs, "u")
    assert links(exhibits) == []
    assert exhibits.balances() == [5], "the caller's own work is kept"


def test_links_that_exist_keep_their_user(exhibits: Database) -> None:
    with session() as caller:
        create_custodian_exhibits(caller, [(1, 1)], "first")
        create_custodian_exhibits(caller, [(1, 1), (1, 2)], "second")
        create_custodian_exhibits(caller, [], "third")
    found = exhibits.query("SELECT custodian_id, user_id FROM custodian_exhibits ORDER BY 1")
    assert [tuple(row) for row in found] == [(1, "first"), (2, "second")]


def test_a_custodian_is_inserted_once_and_then_found(exhibits: Database) -> None:
    with session() as caller:
        made = insert_or_get_custodian(caller, "Ann Lee", {"case_id": 1, "import_id": 3, "line_no": 7})
        again = insert_or_get_custodian(caller, "ANN LEE ", {"case_id": 1, "import_id": 4, "line_no": 1})
        elsewhere = insert_or_get_custodian(caller, "Ann Lee", {"case_id": 2})
    assert again.id == made.id != elsewhere.id
    assert (again.name, again.import_id, again.line_no) == ("Ann Lee", 3, 7)


@pytest.mark.parametrize("name", ["x" * 256, "👍"])
def test_a_custodians_name_is_never_changed_to_fit(exhibits: Database, name: str) -> None:
    with session() as caller, pytest.raises(InvalidInputError):
        insert_or_get_custodian(caller, name, CASE)


def test_tagging_twice_says_so_and_neither_that_nor_an_unknown_tag_costs_the_caller_his_transaction(
    exhibits: Database,
) -> None:
    with session() as caller:
        caller.add(Accounts(id=1, balance=5))
        assert create_taggings(caller, 1, 2, "first")
        assert not create_taggings(caller, 1, 2, "second")
        with pytest.raises(IntegrityError):
            create_taggings(caller, 1, 99, "u")
    assert links(exhibits, "taggings") == [(1, 2)]
    assert exhibits.balances() == [5]


def test_a_naive_second_tagging_takes_the_callers_transaction_with_it(exhibits: Database) -> None:
    insert = text("INSERT INTO taggings (exhibit_id, tag_id, user_id) VALUES (1, 2, 'u')")
    with Session(engine()) as caller:
        caller.add(Accounts(id=1, balance=5))
        caller.execute(insert)
        with pytest.raises(IntegrityError):
            caller.execute(insert)
        # The published helper: whatever went wrong, roll back and go on.
        caller.rollback()
        caller.commit()
    assert links(exhibits, "taggings") == []
    assert exhibits.balances() == []


def test_many_tags_on_many_exhibits(exhibits: Database) -> None:
    with session() as caller:
        create_taggings(caller, 2, 1, "reviewer")
        create_np_taggings(caller, ["t1", "T1 ", r"Hot\Really Hot"], [1, 2, 3, 3], CASE)
        create_np_taggings(caller, ["t1", r"Hot\Really Hot"], [1, 2, 3], CASE)
        create_np_taggings(caller, [], [1], CASE)
    names = [row.name for row in exhibits.query("SELECT name FROM tags WHERE id > 4")]
    assert names == [r"Hot\Really Hot"]
    assert len(links(exhibits, "taggings")) == 6
    assert exhibits.scalar("SELECT user_id FROM taggings WHERE exhibit_id = 2 AND tag_id = 1") == "reviewer"


@pytest.mark.parametrize(("tags", "ids"), [(["t1"], [1, 99]), (["x" * 501], [1]), (["👍"], [1])])
def test_taggings_that_are_refused_leave_nothing(exhibits: Database, tags: list[str], ids: list[int]) -> None:
    with session() as caller:
        caller.add(Accounts(id=1, balance=5))
        with pytest.raises(InvalidInputError):
            create_np_taggings(caller, tags, ids, CASE)
    assert links(exhibits, "taggings") == []
    assert exhibits.balances() == [5]


def test_a_conflict_inside_the_callers_transaction_is_raised_to_its_owner(exhibits: Database) -> None:
    with exhibits.environments(1) as (other,), Session(other) as holder, Session(engine()) as caller:
        holder.execute(text("SELECT id FROM exhibits WHERE id = 1 FOR UPDATE"))
        caller.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
        caller.add(Accounts(id=1, balance=5))
        with pytest.raises(OperationalError, match="1205"):
            create_custodian_exhibits(session=caller, exhibit_custodian_pairs=[(1, 1)], user_id="u")
        assert caller.get_one(Accounts, 1).balance == 5, "what was written before is still the transaction's"


def test_a_hot_custodian_or_tag_does_not_make_importers_wait(exhibits: Database) -> None:
    with exhibits.environments(2) as (one, two), Session(one) as left, Session(two) as right:
        right.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
        insert_links(left, CUSTODIANS, [(1, 1)], "u")
        insert_links(left, TAGS, [(1, 1)], "u")
        insert_links(right, CUSTODIANS, [(2, 1)], "u")
        insert_links(right, TAGS, [(2, 1)], "u")
        with pytest.raises(OperationalError, match="1205"):
            create_custodian_exhibits(right, [(3, 1)], "u")
