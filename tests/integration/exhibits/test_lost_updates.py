"""Two clients change one version of an exhibit at once: one of them is refused, and nothing is overwritten unseen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import OperationalError

from core.contracts.exhibits import Exhibit, ExhibitChange
from core.errors import StaleVersionError
from shell.exhibits.commands import patch_exhibit
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import retry_on_db_conflict
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.application.driver import Message, World
from tests.support.database.counted_database import PATIENCE_S, barrier, outcome, together, transaction
from tests.support.exhibits.stored_cases import Cases

ROUNDS = 4


class Client:
    """A client that has read a version, on a connection of its own, and meets the others before the first write."""

    def __init__(self, at: Engine, meeting: threading.Barrier, field: str) -> None:
        self._at, self._meeting, self._field = at, meeting, field

    def patch(self, exhibit_id: int, version: int) -> Exhibit:
        """As the API does it; in the first attempt all have read before any writes."""
        change = ExhibitChange.model_validate({self._field: f"{self._field} of {version}"})
        first = [self._meeting.wait]

        @retry_on_db_conflict
        def attempt() -> Exhibit:
            with transaction(self._at) as opened:
                event.listen(opened, "before_flush", lambda *_: first and first.pop()())
                return patch_exhibit(opened, CALLER, exhibit_id, frozenset({version}), change)

        return attempt()

    def assign_version(self, exhibit_id: int, version: int) -> None:
        """A twin that gives the entity the client's version, as if that were compared with anything."""
        with transaction(self._at) as opened:
            exhibit = opened.get_one(Exhibits, exhibit_id)
            exhibit.version = version
            exhibit.title = self._field
            self._meeting.wait()

    def check_first(self, exhibit_id: int, version: int) -> None:
        """A twin that compares when it reads, and writes by a statement that does not."""
        with transaction(self._at) as opened:
            found = opened.get_one(Exhibits, exhibit_id).version
            assert found == version
            self._meeting.wait()
            # As text: two threads that compile the first UPDATE of a model can make SQLAlchemy warn.
            changed = text("UPDATE exhibits SET title = :title, version = version + 1 WHERE id = :id")
            opened.execute(changed, {"title": self._field, "id": exhibit_id})


@pytest.fixture
def clients(cases: Cases) -> Iterator[list[Client]]:
    """Two of them."""
    meeting = barrier(2)
    with cases.database.environments(2) as engines:
        yield [Client(at, meeting, field) for at, field in zip(engines, ("title", "fileName"), strict=True)]


def at_once(
    clients: list[Client], exhibit_id: int, version: int, way: Callable[[Client, int, int], object]
) -> list[object | Exception]:
    return together(*(outcome(partial(way, each, exhibit_id, version)) for each in clients))


def test_of_two_clients_with_one_version_one_is_refused_and_only_the_other_changes_anything(
    cases: Cases, clients: list[Client]
) -> None:
    exhibit = cases.exhibit("A-1", title="Memo", file_name="a")
    for version in range(1, ROUNDS + 1):
        before = cases.row(exhibit)
        ended = at_once(clients, exhibit, version, Client.patch)
        (stale,) = [each for each in ended if isinstance(each, StaleVersionError)]
        (made,) = [each for each in ended if isinstance(each, Exhibit)]
        row = cases.row(exhibit)
        assert stale.current_version == made.version == row.version == version + 1
        changed = [(f"title of {version}", before.file_name), (before.title, f"fileName of {version}")]
        assert (row.title, row.file_name) == (made.title, made.file_name)
        assert (row.title, row.file_name) in changed
    late = Client(clients[0]._at, barrier(1), "title")
    with pytest.raises(StaleVersionError) as response:
        late.patch(exhibit, 1)
    assert late.patch(exhibit, response.value.current_version).version == ROUNDS + 2


def test_a_version_that_is_assigned_detects_nothing_and_goes_back(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", version=5)
    with cases.database.environments(1) as (at,):
        Client(at, barrier(1), "of one who saw version 2").assign_version(exhibit, 2)
    assert (cases.row(exhibit).title, cases.row(exhibit).version) == ("of one who saw version 2", 2)


def test_a_check_before_a_plain_update_lets_both_win(cases: Cases, clients: list[Client]) -> None:
    exhibit = cases.exhibit("A-1")
    assert at_once(clients, exhibit, 1, Client.check_first) == [None, None]
    assert cases.row(exhibit).version == 3, "two changes of version 1, of which one is lost"


@pytest.fixture
def chunk(cases: Cases, world: World) -> Message:
    """The message of a chunk with a new exhibit, and with one that the case holds, A-1, and with another title."""
    world.run(b"Control Number,Title\nA-1,Memo\n")
    world.start(b"Control Number,Title\nA-1,Other\nA-2,Memo\n")
    return world.chunk_messages()[0]


def both(cases: Cases, world: World, exhibit: int) -> tuple[str, int, int]:
    """What the client changed, and how many exhibits there are: both effects, and nothing else."""
    row = cases.row(exhibit)
    return row.title, row.version, world.query("SELECT COUNT(*) FROM exhibits")[0][0]


def test_an_import_does_not_wait_for_a_client_who_changes_an_exhibit_that_it_names(
    cases: Cases, world: World, chunk: Message
) -> None:
    exhibit, locked, imported = cases.database.scalar("SELECT id FROM exhibits"), threading.Event(), threading.Event()

    def change(at: Engine) -> bool:
        with transaction(at) as opened:
            patch_exhibit(opened, CALLER, exhibit, frozenset({1}), ExhibitChange(title="Letter"))
            locked.set()
            return imported.wait(PATIENCE_S / 2)

    def bring() -> bool:
        assert locked.wait(PATIENCE_S)
        done = world.import_chunk(chunk)
        imported.set()
        return done

    with cases.database.environments(1) as (at,):
        assert together(lambda: change(at), bring) == [True, True]
    assert both(cases, world, exhibit) == ("Letter", 2, 2)


def test_a_client_does_not_wait_for_an_import_that_names_the_exhibit(
    cases: Cases, world: World, chunk: Message
) -> None:
    """The client comes when the import has written everything and has not committed."""
    exhibit = cases.database.scalar("SELECT id FROM exhibits")
    written, changed, met = threading.Event(), threading.Event(), []

    def last(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE imports SET chunks_left"):
            written.set()
            met.append(changed.wait(PATIENCE_S / 2))

    def change(at: Engine) -> int:
        assert written.wait(PATIENCE_S)
        version = Client(at, barrier(1), "title").patch(exhibit, 1).version
        changed.set()
        return version

    event.listen(world.engine, "before_cursor_execute", last)
    with cases.database.environments(1) as (at,):
        assert together(lambda: change(at), lambda: int(world.import_chunk(chunk))) == [2, 1]
    event.remove(world.engine, "before_cursor_execute", last)
    assert met == [True]
    assert both(cases, world, exhibit) == ("title of 1", 2, 2)


@pytest.mark.usefixtures("chunk")
def test_an_import_that_writes_every_row_it_names_waits_for_the_client(cases: Cases) -> None:
    exhibit = cases.database.scalar("SELECT id FROM exhibits")
    naive = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) SELECT case_id, 'A-1', 2, 2 "
    naive += "FROM imports LIMIT 1 ON DUPLICATE KEY UPDATE import_id = exhibits.import_id"
    with cases.database.environments(2) as (one, two), transaction(one) as client, transaction(two) as chunk:
        patch_exhibit(client, CALLER, exhibit, frozenset({1}), ExhibitChange(title="Letter"))
        chunk.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
        with pytest.raises(OperationalError, match="Lock wait timeout"):
            chunk.execute(text(naive))
