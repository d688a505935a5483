"""What the tests of exhibits, custodians and taggings need: two tenants, cases with exhibits, replayed units."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest
from sqlalchemy import Engine, make_url
from sqlalchemy.orm import Session

from core.contracts.common import Caller
from core.contracts.exhibits import TaggingRequest
from shell.utils.db_helpers import retry_on_db_conflict
from shell.utils.db_session import engine
from tests.conftest import RUN, SERVER, forget_caches
from tests.integration.database.conftest import is_mysql, user_of_our_own
from tests.support import servers
from tests.support.database import Database, transaction
from tests.support.world import Context, World

P = ParamSpec("P")
R = TypeVar("R")
CALLER = Caller(tenant_id="tenant", user_id="reviewer")
STRANGER = Caller(tenant_id="other", user_id="reviewer")


@retry_on_db_conflict
def replayed(at: Engine, op: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run the op as a request does: in a transaction of its own, replayed as a whole."""
    with transaction(at) as opened:
        return op(opened, *args, **kwargs)


def done(op: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same on the application's own engine."""
    return replayed(engine(), op, *args, **kwargs)


def tagging(exhibit_ids: list[int], *tags: str) -> TaggingRequest:
    """A request as a client sends it."""
    return TaggingRequest.model_validate({"exhibitIds": exhibit_ids, "tags": list(tags)})


@dataclass
class Cases:
    """Cases, exhibits and links put into the database past the application."""

    database: Database
    ids: dict[str, int] = field(default_factory=dict)

    def case(self, name: str, tenant: str = "tenant") -> int:
        """The id of a case, made on first use."""
        known = self.database.query("SELECT id FROM cases WHERE tenant_id = :t AND name = :n", t=tenant, n=name)
        if known:
            return int(known[0][0])
        self.database.query("INSERT INTO cases (tenant_id, name) VALUES (:t, :n)", t=tenant, n=name)
        return self.case(name, tenant)

    def exhibit(self, control_number: str, case: str = "Case", tenant: str = "tenant", **columns: Any) -> int:
        """Add an exhibit; returns its id."""
        values = {"case_id": self.case(case, tenant), "control_number": control_number, **columns}
        values = {"import_id": 1, "line_no": 2, "row_hash": b"\1" * 32, **values}
        marks = ", ".join(f":{name}" for name in values)
        self.database.query(f"INSERT INTO exhibits ({', '.join(values)}) VALUES ({marks})", **values)
        where = "case_id = :c AND control_number = :n"
        return int(
            self.database.scalar(f"SELECT id FROM exhibits WHERE {where}", c=values["case_id"], n=control_number)
        )

    def exhibits(self, count: int, case: str = "Case") -> list[int]:
        """Add so many exhibits at once; returns their ids in order."""
        case_id = self.case(case)
        with self.database.admin.connect() as connection:
            connection.exec_driver_sql(
                "INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (%s, %s, %s, %s)",
                [(case_id, f"{case}-{number:06}", 1, number) for number in range(count)],
            )
        found = self.database.query("SELECT id FROM exhibits WHERE case_id = :c ORDER BY id", c=case_id)
        return [int(row[0]) for row in found]

    def row(self, exhibit_id: int) -> Any:
        """The exhibit as it is committed."""
        return self.database.query("SELECT * FROM exhibits WHERE id = :id", id=exhibit_id)[0]

    def taggings(self) -> list[tuple[int, str]]:
        """All taggings, as (exhibit id, tag)."""
        statement = "SELECT exhibit_id, name FROM taggings JOIN tags ON tags.id = tag_id ORDER BY 1, 2"
        return [(row[0], row[1]) for row in self.database.query(statement)]


@pytest.fixture
def cases(world: World) -> Cases:
    """Empty tables of the schema that all tests of this worker use."""
    url = make_url(world.environment["DATABASE_URL"])
    return Cases(Database(url, is_mysql(os.environ[SERVER])))


@pytest.fixture(scope="session")
def counting_url(worker_id: str, environment: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """A schema on a server, or as a user, whose deadlocks nobody else adds to."""
    given, schema = os.environ[SERVER], f"exhibits_api_{os.environ[RUN]}_{worker_id}"
    with ExitStack() as stack:
        if is_mysql(given):
            server = user_of_our_own(given, schema).render_as_string(hide_password=False)
        else:
            server = stack.enter_context(servers.private_database())
        url = servers.fresh_schema(server, schema)
        stack.callback(servers.drop_schema, url)
        yield url.render_as_string(hide_password=False), is_mysql(server)


@pytest.fixture
def counting(counting_url: tuple[str, bool], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cases]:
    """Cases in a database that is the application's for the length of the test, and counts deadlocks for us alone."""
    import migrate_database

    monkeypatch.setenv("DATABASE_URL", counting_url[0])
    monkeypatch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.002")
    forget_caches()
    migrate_database.lambda_handler({"RequestType": "Local"}, Context())
    database = Database(make_url(counting_url[0]), counting_url[1])
    for table in ("custodian_exhibits", "taggings", "exhibits", "custodians", "tags", "cases"):
        database.query(f"DELETE FROM {table}")
    yield Cases(database)
    engine().dispose()
    monkeypatch.undo()
    forget_caches()
