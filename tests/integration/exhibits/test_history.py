"""Every change of an exhibit has one row of history, in its own transaction: what is in it, and what the API lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.contracts.exhibits import ExhibitChange
from core.errors import NotFoundError, StaleVersionError, TransactionConflictError
from core.exhibit_history import RECORDED_COLUMNS, Action, Change, Entry, Key, Kind
from shell.db.session import session
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit, remove_taggings
from shell.exhibits.history import Author, NewEntry, iterate_histories, write_entries
from shell.tables.exhibits import Exhibits
from tests.integration.exhibits.exhibit_requests import CALLER, tagging
from tests.support.database.counted_database import barrier, done, outcome, replayed, together
from tests.support.exhibits.stored_cases import Cases
from tests.torture.oracles.history import judge_history

HASH = b"\1" * 32
Op = Callable[[Session, int], object]
WRITERS: dict[str, Op] = {
    "edited": lambda t, exhibit: patch(t, exhibit, title="Letter"),
    "custodians_added": lambda t, exhibit: add_custodians(t, CALLER, exhibit, ["Ann"]),
    "tagged": lambda t, exhibit: add_taggings(t, CALLER, tagging([exhibit], "Hot")),
    "untagged": lambda t, exhibit: remove_taggings(t, CALLER, tagging([exhibit], "Cold")),
}


def patch(transaction: Session, exhibit: int, /, **fields: Any) -> object:
    """A change of whichever version there is."""
    versions = range(1, 1_000)
    return patch_exhibit(transaction, CALLER, exhibit, versions, ExhibitChange.model_validate(fields))


def history(exhibit: int) -> list[Entry]:
    with session() as reading:
        return dict(iterate_histories(reading, [exhibit]))[exhibit]


def only(exhibit: int) -> Entry:
    (entry,) = history(exhibit)
    return entry


def on(kind: Kind, **changes: tuple[Any, Any]) -> dict[Key, Change]:
    return {Key(kind, name): Change(*values) for name, values in changes.items()}


@pytest.fixture
def exhibit(cases: Cases) -> int:
    """One with a title, and a tag that a load file gave it."""
    made = cases.exhibit("A-1", title="Memo", row_hash=HASH)
    cases.database.query("INSERT INTO tags (case_id, name) VALUES (:case, 'Cold')", case=cases.case("Case"))
    cases.database.query("INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT :e, id, 'u' FROM tags", e=made)
    return made


@pytest.mark.parametrize("action", WRITERS)
def test_every_writer_writes_one_row_and_one_version(cases: Cases, exhibit: int, action: str) -> None:
    done(WRITERS[action], exhibit)
    entry = only(exhibit)
    assert (entry.version, entry.action, entry.user_id) == (2, Action(action), "reviewer")
    assert (entry.import_id, entry.line_no, entry.undo_no) == (None, None, None)
    assert cases.row(exhibit).version == 2
    assert list(judge_history(cases.database)) == []


def test_a_change_names_every_field_of_the_request_and_those_that_follow(exhibit: int) -> None:
    done(patch, exhibit, title="Memo", fileName="a.msg", dateSent="2020-02-29T23:59:59.5")
    assert only(exhibit).changes == on(
        Kind.FIELD,
        title=("Memo", "Memo"),
        file_name=(None, "a.msg"),
        date_sent=(None, "2020-02-29 23:59:59.500000"),
        date_sent_precision=(None, "T"),
        row_hash=(HASH.hex(), None),
    )
    done(patch, exhibit, documentDate=None)
    assert history(exhibit)[1].changes == on(
        Kind.FIELD,
        document_date=(None, None),
        document_date_precision=(None, None),
        document_date_source=(None, None),
        row_hash=(None, None),
    )


def test_every_column_that_a_change_may_set_is_recorded() -> None:
    fixed = {"id", "case_id", "control_number", "import_id", "line_no", "line_count", "version"}
    assert {*fixed, *RECORDED_COLUMNS, "document_properties"} == set(Exhibits.__table__.columns.keys())
    assert set(ExhibitChange.model_fields) - {"properties"} <= set(RECORDED_COLUMNS)


def test_a_link_that_exists_is_asserted_in_its_stored_spelling(exhibit: int) -> None:
    done(add_taggings, CALLER, tagging([exhibit], "COLD", "Hot"))
    done(add_custodians, CALLER, exhibit, ["Ann"])
    done(add_custodians, CALLER, exhibit, ["ANN", "Bob"])
    assert [entry.changes for entry in history(exhibit)] == [
        on(Kind.TAG, Cold=(True, True), Hot=(False, True)),
        on(Kind.CUSTODIAN, Ann=(False, True)),
        on(Kind.CUSTODIAN, Ann=(True, True), Bob=(False, True)),
    ]


def test_an_exhibit_of_which_nothing_is_removed_keeps_its_version(cases: Cases, exhibit: int) -> None:
    untagged = cases.exhibit("A-2")
    done(remove_taggings, CALLER, tagging([exhibit, untagged], "cold", "Never"))
    assert only(exhibit).changes == on(Kind.TAG, Cold=(True, False))
    assert (history(untagged), cases.row(untagged).version) == ([], 1)


def test_many_exhibits_get_a_row_each_with_what_each_had(cases: Cases) -> None:
    ids = cases.exhibits(1_000)
    done(add_taggings, CALLER, tagging(ids[::2], "Hot"))
    done(add_taggings, CALLER, tagging(ids, "Hot", *(f"Tag {number} " + "x" * 200 for number in range(9))))
    with session() as reading:
        entries = dict(iterate_histories(reading, ids))
    assert [len(entries[each]) for each in ids] == [2, 1] * 500
    assert [entries[each][-1].changes[Key(Kind.TAG, "Hot")].old for each in ids] == [True, False] * 500
    assert list(judge_history(cases.database)) == []


def test_a_refused_change_writes_neither(cases: Cases, exhibit: int) -> None:
    with pytest.raises(StaleVersionError):
        done(patch_exhibit, CALLER, exhibit, frozenset({7}), ExhibitChange(title="x"))
    with pytest.raises(NotFoundError):
        done(add_taggings, CALLER, tagging([exhibit, exhibit + 1_000], "Hot"))
    assert (history(exhibit), cases.row(exhibit).version) == ([], 1)


@pytest.mark.parametrize("action", WRITERS)
def test_a_transaction_that_is_rolled_back_leaves_neither(cases: Cases, exhibit: int, action: str) -> None:
    with session() as transaction:
        WRITERS[action](transaction, exhibit)
        transaction.rollback()
    assert (history(exhibit), cases.row(exhibit).version) == ([], 1)


@pytest.mark.parametrize("action", WRITERS)
def test_a_retried_transaction_writes_one_row(cases: Cases, exhibit: int, action: str) -> None:
    """The first attempt has written everything when the server makes it a deadlock's victim."""
    failures = [1]

    def fail_once(transaction: Session) -> object:
        answered = WRITERS[action](transaction, exhibit)
        if failures and failures.pop():
            transaction.execute(text("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213"))
        return answered

    done(fail_once)
    assert failures == []
    assert only(exhibit).version == cases.row(exhibit).version == 2


class Died(BaseException):
    """The process ends here, as far as its transactions are concerned."""


@pytest.mark.parametrize("action", WRITERS)
@pytest.mark.parametrize("is_early", [False, True], ids=["in one transaction", "after a commit"])
def test_a_writer_that_dies_before_its_row_leaves_no_version_without_one(
    cases: Cases, exhibit: int, action: str, is_early: bool
) -> None:
    """The negative control has committed the change when it writes the history."""

    def reach(_c: object, cursor: Any, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO exhibit_changes"):
            if is_early:
                cursor.connection.commit()
            raise Died

    with cases.database.environments(1) as (at,):
        event.listen(at, "before_cursor_execute", reach)
        with pytest.raises(Died):
            replayed(at, WRITERS[action], exhibit)
    assert [finding.kind for finding in judge_history(cases.database)] == (["lost"] if is_early else [])


def test_a_version_has_one_row(cases: Cases, exhibit: int) -> None:
    author, entry = Author(Action.EDITED, "ada"), NewEntry(exhibit, 2, {})
    done(write_entries, author, [entry])
    with pytest.raises(IntegrityError), session() as transaction:
        write_entries(transaction, author, [entry])
    assert len(history(exhibit)) == 1
    assert list(judge_history(cases.database)) != [], "the exhibit is at version 1"


def test_writers_of_one_exhibit_at_once_leave_no_gap(counting: Cases, race_counts: int) -> None:
    ids = counting.exhibits(3)
    rounds, meeting, before = 40 // race_counts, barrier(4), counting.database.deadlocks()

    def tag(at: Engine, turn: int) -> int:
        replayed(at, add_taggings, CALLER, tagging(ids[:: 1 if turn % 2 else -1], "Hot", f"Tag {turn}"))
        return 3

    def untag(at: Engine, _turn: int) -> int:
        return replayed(at, remove_taggings, CALLER, tagging(ids, "Hot")).removed

    def name(at: Engine, turn: int) -> int:
        replayed(at, add_custodians, CALLER, ids[turn % 3], [f"Custodian {turn}", "Ann"])
        return 1

    def edit(at: Engine, turn: int) -> int:
        change = outcome(partial(replayed, at, patch, ids[turn % 3], title=f"Title {turn}"))
        ended = change()
        # Stale at each of three attempts; by then the others have done what they do in this turn.
        ended = change() if isinstance(ended, TransactionConflictError) else ended
        assert not isinstance(ended, Exception)
        return 1

    def work(at: Engine, op: Callable[[Engine, int], int]) -> int:
        changes = 0
        for turn in range(rounds):
            meeting.wait()
            changes += op(at, turn)
        return changes

    with counting.database.environments(4) as engines:
        done_by = together(*(partial(work, at, op) for at, op in zip(engines, (tag, untag, name, edit), strict=True)))
    with session() as reading:
        entries = dict(iterate_histories(reading, ids))
    versions = {each: [entry.version for entry in entries[each]] for each in ids}
    assert versions == {each: list(range(2, counting.row(each).version + 1)) for each in ids}
    assert sum(map(len, entries.values())) == sum(done_by)
    assert counting.database.deadlocks() == before
    for each in ids:
        assert_replayed(counting, each, entries[each])


def assert_replayed(cases: Cases, exhibit: int, entries: list[Entry]) -> None:
    """Each entry begins where the one before it ended, and the last ones are what is stored."""
    state: dict[Key, Any] = {}
    for entry in entries:
        for key, change in entry.changes.items():
            default = False if key.kind is Kind.TAG or key.kind is Kind.CUSTODIAN else change.old
            assert change.old == state.get(key, default)
            state[key] = change.new
    tags = {name for each, name in cases.taggings() if each == exhibit}
    assert {key.name for key, value in state.items() if key.kind is Kind.TAG and value} == tags
    assert state.get(Key(Kind.FIELD, "title")) == cases.row(exhibit).title
