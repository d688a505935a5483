"""INSERT IGNORE, of which every warning is looked at: damage is refused, however many duplicates there are."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from shell.db.bulk_insert import Row, insert_ignore_checked, insert_new
from shell.db.session import session
from tests.support.database.counted_database import Accounts, Database

ACCOUNTS = "toy_accounts"
TAGGING = ("exhibit_id", "tag_id", "user_id")


def test_insert_ignore_stores_what_it_cut(database: Database) -> None:
    with session() as caller:
        caller.execute(text("INSERT IGNORE INTO toy_accounts (id, note) VALUES (1, 'too long for it'), (2, NULL)"))
        caller.execute(text("INSERT IGNORE INTO taggings (exhibit_id, tag_id, user_id) VALUES (99, 99, 'u')"))
    assert database.scalar("SELECT note FROM toy_accounts WHERE id = 1") == "too long f"
    assert database.query("SELECT * FROM taggings") == [], "a missing parent looks like a duplicate"


@pytest.mark.parametrize(
    ("columns", "row", "number"),
    [
        (("id", "note"), (1, "too long for it"), 1265),
        (("id", "note"), (2**63, "a"), 1264),
        (("id", "balance"), (1, None), 1048),
    ],
)
def test_checked_ignore_refuses_damage_and_leaves_nothing_of_it(
    database: Database, columns: tuple[str, ...], row: Row, number: int
) -> None:
    with session() as caller:
        caller.add(Accounts(id=7, balance=7))
        with pytest.raises(InvalidInputError, match=f"toy_accounts: .*warning {number}"):
            insert_ignore_checked(caller, ACCOUNTS, columns, [row])
    assert database.balances() == [7]


def tagged(database: Database, tags: int) -> list[Row]:
    """One exhibit with so many tags; the rows that tag it."""
    rows: list[Row] = [(1, number, "u") for number in range(1, tags + 1)]
    database.query("INSERT INTO exhibits (id, case_id, control_number, import_id, line_no) VALUES (1, 1, 'A', 0, 1)")
    with session() as caller:
        insert_new(caller, "tags", ("id", "case_id", "name"), [(number, 1, f"tag {number}") for _, number, _ in rows])
        insert_new(caller, "taggings", TAGGING, rows)
    return rows


def test_checked_ignore_accepts_duplicates_and_sees_a_missing_parent_behind_many(database: Database) -> None:
    """More than the 64 warnings that a server lists by default."""
    rows = tagged(database, 65)
    with session() as caller:
        insert_ignore_checked(caller, "taggings", TAGGING, rows[:2], key=2)
        insert_ignore_checked(caller, "taggings", TAGGING, [], key=2)
        with pytest.raises(InvalidInputError, match="warning 1452"):
            insert_ignore_checked(caller, "taggings", TAGGING, [*rows, (99, 1, "u")], key=2)
    assert database.scalar("SELECT COUNT(*) FROM taggings") == 65


@pytest.fixture(params=[8, 16])
def few_are_listed(database: Database, request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session whose server lists eight warnings, taken to list as many, or twice as many."""
    with database.environments(1) as (engine,), Session(engine) as caller:
        caller.execute(text("SET SESSION max_error_count = 8"))
        caller.connection().info["session variable max_error_count"] = request.param
        yield caller


def test_checked_ignore_sees_damage_behind_more_duplicates_than_are_listed(few_are_listed: Session) -> None:
    there: list[Row] = [(number, "fine") for number in range(1, 21)]
    damaged: list[Row] = [*there[:12], (13, "too long for it"), *there[13:]]
    insert_new(few_are_listed, ACCOUNTS, ("id", "note"), there[:12] + there[13:])
    naive = few_are_listed.begin_nested()
    few_are_listed.execute(text("INSERT IGNORE INTO toy_accounts (id, note) VALUES " + ",".join(map(str, damaged))))
    assert {row[1] for row in few_are_listed.execute(text("SHOW WARNINGS"))} == {1062}, "a naive look does not see it"
    naive.rollback()
    with pytest.raises(InvalidInputError, match="warning 1265"):
        insert_ignore_checked(few_are_listed, ACCOUNTS, ("id", "note"), damaged)
    insert_ignore_checked(few_are_listed, ACCOUNTS, ("id", "note"), [*there, (21, "new")])
    assert few_are_listed.execute(text("SELECT COUNT(*) FROM toy_accounts")).scalar() == 21


@pytest.fixture
def plain(database: Database, administrator: Connection) -> Iterator[Engine]:
    """The database, as a user with rights on the schema alone."""
    user = f"plain_{secrets.token_hex(4)}"
    administrator.execute(text(f"CREATE USER {user}@'%' IDENTIFIED BY ''"))
    administrator.execute(text(f"GRANT ALL ON `{database.url.database}`.* TO {user}@'%'"))
    made = create_engine(database.url.set(username=user, password=""))
    yield made
    made.dispose()
    administrator.execute(text(f"DROP USER {user}@'%'"))


def test_checked_ignore_needs_no_right_but_those_on_the_schema(plain: Engine) -> None:
    with Session(plain) as caller:
        insert_ignore_checked(caller, ACCOUNTS, ("id", "note"), [(1, "a"), (2, "b")])
        insert_ignore_checked(caller, ACCOUNTS, ("id", "note"), [(2, "b"), (3, "c")])
        assert caller.execute(text("SELECT COUNT(*) FROM toy_accounts")).scalar() == 3
