"""Two clients change one version of an exhibit at once: one of them is told, and nothing is overwritten unseen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from sqlalchemy import Engine, event, update

from core.contracts.exhibits import Exhibit, ExhibitChange
from core.errors import StaleVersionError
from shell.exhibit_change_ops import patch_exhibit
from shell.tables import Exhibits
from shell.utils.db_helpers import retry_on_db_conflict
from tests.integration.exhibits_api.conftest import CALLER, Cases
from tests.support.database import barrier, outcome, together, transaction
from tests.support.world import World, call

ROUNDS = 20


class Client:
    """Somebody who has read a version, on a connection of his own, and meets the others before the first write."""

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
            changed = update(Exhibits).where(Exhibits.id == exhibit_id)
            opened.execute(changed.values(title=self._field, version=Exhibits.version + 1))


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


def test_of_two_clients_with_one_version_one_is_told(cases: Cases, clients: list[Client]) -> None:
    exhibit = cases.exhibit("A-1")
    for version in range(1, ROUNDS + 1):
        ended = at_once(clients, exhibit, version, Client.patch)
        stale = [each for each in ended if isinstance(each, StaleVersionError)]
        made = [each for each in ended if isinstance(each, Exhibit)]
        assert (len(stale), len(made)) == (1, 1), ended
        assert stale[0].current_version == made[0].version == cases.row(exhibit).version == version + 1


def test_what_the_winner_wrote_is_all_that_changed(cases: Cases, clients: list[Client]) -> None:
    exhibit = cases.exhibit("A-1", title="Memo", file_name="a")
    ended = at_once(clients, exhibit, 1, Client.patch)
    won = next(each for each in ended if isinstance(each, Exhibit))
    row = cases.row(exhibit)
    assert (row.title, row.file_name) == (won.title, won.file_name)
    assert (row.title, row.file_name) in [("title of 1", "a"), ("Memo", "fileName of 1")]


def test_a_version_that_is_assigned_detects_nothing_and_goes_back(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", version=5)
    with cases.database.environments(1) as (at,):
        Client(at, barrier(1), "of one who saw version 2").assign_version(exhibit, 2)
    assert (cases.row(exhibit).title, cases.row(exhibit).version) == ("of one who saw version 2", 2)


def test_a_check_before_a_plain_update_lets_both_win(cases: Cases, clients: list[Client]) -> None:
    exhibit = cases.exhibit("A-1")
    assert at_once(clients, exhibit, 1, Client.check_first) == [None, None]
    assert cases.row(exhibit).version == 3, "two changes of version 1, of which one is lost"


def test_a_client_and_an_import_do_not_hinder_each_other(cases: Cases, world: World) -> None:
    import import_chunk

    world.run(b"Control Number,Title\nA-1,Memo\n")
    exhibit = int(cases.database.scalar("SELECT id FROM exhibits"))
    world.start(b"Control Number,Title\nA-1,Other\nA-2,Memo\n")
    messages = world.chunk_messages()
    meeting = barrier(1)
    with cases.database.environments(1) as (at,):
        told, imported = together(
            lambda: Client(at, meeting, "title").patch(exhibit, 1).version,
            lambda: call(import_chunk.lambda_handler, messages[0]),
        )
    assert (told, imported) == (2, True)
    assert (cases.row(exhibit).title, cases.row(exhibit).version) == ("title of 1", 2)


def test_who_came_late_reads_again_and_succeeds(cases: Cases, clients: list[Client]) -> None:
    exhibit = cases.exhibit("A-1")
    at_once(clients, exhibit, 1, Client.patch)
    with cases.database.environments(1) as (at,):
        client = Client(at, barrier(1), "title")
        with pytest.raises(StaleVersionError) as stale:
            client.patch(exhibit, 1)
        assert client.patch(exhibit, stale.value.current_version).version == 3
