"""What a deployment gets from its migrations: whatever they meet, CloudFormation is answered, and rightly."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

import migrate_database
from core.errors import ExhibitIngestError, UnavailableError
from shell.deadline import MARGIN_S
from shell.maintenance import custom_resource, migrate
from shell.maintenance.custom_resource import MAX_BYTES, RESPONSE_S
from shell.maintenance.migrate import SCRIPTS
from shell.utils.advisory_lock import exclusive_connection
from tests.integration.db.conftest import forget_database
from tests.support.application.driver import Context, MigrationContext
from tests.support.aws.custom_resource_server import Answers, answers
from tests.support.database.counted_database import Database, until

pytestmark = pytest.mark.slow

HEAD = max(path.name[:4] for path in (SCRIPTS / "versions").glob("0*.py"))
ADD_COLUMN = "op.execute('ALTER TABLE cases ADD COLUMN note VARCHAR(10)')"
Folder = Callable[[str], Path]


@pytest.fixture
def reports() -> Iterator[Answers]:
    """The answers that CloudFormation gets."""
    with answers() as made:
        yield made


@pytest.fixture
def ours(empty: Engine) -> Engine:
    """The application's database, migrated; no other test's."""
    migrate_database.lambda_handler({"RequestType": "Local"}, MigrationContext())
    return empty


@pytest.fixture
def next_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """The code of tomorrow, with one more migration of these lines, in a folder whose name is no plain word."""

    def make(body: str) -> Path:
        folder = tmp_path / "a folder, 100%"
        shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        lines = f"from alembic import op\nrevision, down_revision = '9000', '{HEAD}'\ndef upgrade():\n    {body}\n"
        (folder / "versions" / "9000_next.py").write_text(lines)
        monkeypatch.setattr(migrate, "SCRIPTS", folder)
        return folder

    return make


def resource_event(reports: Answers, kind: str = "Update", **more: str) -> dict[str, Any]:
    ids = {"StackId": "arn:aws:cloudformation:s", "RequestId": "r", "LogicalResourceId": "DatabaseMigration"}
    return {"RequestType": kind, "ResponseURL": reports.url, **ids, "PhysicalResourceId": "database-schema", **more}


def revision(engine: Engine) -> str:
    with engine.connect() as connection:
        return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())


class Left(Context):
    """A Lambda context with so many seconds for the work itself."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds."""
        return round((self._seconds + RESPONSE_S + MARGIN_S) * 1000)


def test_code_that_is_rolled_back_leaves_what_newer_code_migrated_alone(
    ours: Engine, reports: Answers, next_migration: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_migration(ADD_COLUMN)
    migrate_database.lambda_handler(resource_event(reports), MigrationContext())
    assert revision(ours) == "9000"
    monkeypatch.setattr(migrate, "SCRIPTS", SCRIPTS)
    reports.bodies.clear()
    migrate_database.lambda_handler(resource_event(reports), MigrationContext())
    assert (reports.only()["Status"], revision(ours)) == ("SUCCESS", "9000")


def test_a_migration_counts_once_for_the_alarm_on_a_purge_that_does_not_run(
    ours: Engine, reports: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new stack, or one whose purge runs more often now, would otherwise begin with a page."""
    migrate_database.lambda_handler(resource_event(reports), MigrationContext())
    assert '"RowsPurged":[0.0]' in capsys.readouterr().out.replace(" ", "")


@pytest.mark.parametrize("strange", ["0000", "8fd1c2a9b0e3"])
def test_a_database_of_another_program_is_refused(ours: Engine, reports: Answers, strange: str) -> None:
    with ours.connect() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :strange"), {"strange": strange})
    migrate_database.lambda_handler(resource_event(reports), MigrationContext())
    answer = reports.only()
    assert (answer["Status"], revision(ours)) == ("FAILED", strange)
    assert f"the database is at revision '{strange}', which this code does not know" in answer["Reason"]


def test_a_migration_that_is_under_way_does_not_keep_the_code_before_it_from_being_rolled_back_to(
    ours: Engine, reports: Answers, database: Database
) -> None:
    with exclusive_connection("migrations", 0):
        migrate_database.lambda_handler(resource_event(reports), Left(1))
    assert reports.only()["Status"] == "SUCCESS"


def test_removing_the_stack_asks_nothing_of_a_database_that_may_be_gone(
    reports: Answers, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql+pymysql://nobody@127.0.0.1:1/gone")
    forget_database()
    migrate_database.lambda_handler(resource_event(reports, "Delete"), MigrationContext())
    assert reports.only()["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("body", "seconds"), [("op.execute('DO SLEEP(20)')", 1.2), (ADD_COLUMN, 0.5)], ids=["too slow", "not begun"]
)
def test_what_does_not_end_while_cloudformation_waits_is_reported_before_it_stops(
    ours: Engine, reports: Answers, next_migration: Folder, body: str, seconds: float
) -> None:
    next_migration(body)
    migrate_database.lambda_handler({**resource_event(reports), "StartedAt": 1}, Left(seconds))
    reason = reports.only()["Reason"]
    assert "migration 9000 failed: no time is left for it" in reason
    assert "wait until that is gone from SHOW PROCESSLIST. Earlier ones" in reason
    assert "deploy again; details" in reason
    assert revision(ours) == HEAD


def test_a_migration_that_waits_for_a_table_gives_way_and_comes_again(
    ours: Engine, reports: Answers, next_migration: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "_LIMIT_TABLE_WAIT", text("SET SESSION lock_wait_timeout = 1"))
    next_migration(ADD_COLUMN)
    work = Thread(target=migrate_database.lambda_handler, args=(resource_event(reports), MigrationContext()))
    with create_engine(ours.url).connect() as reader:
        reader.execute(text("SELECT * FROM cases"))
        work.start()
        until(lambda: "metadata lock" in str(processes(ours)))
        until(lambda: "metadata lock" not in str(processes(ours)))
    work.join()
    assert (reports.only()["Status"], revision(ours)) == ("SUCCESS", "9000")


def processes(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text("SHOW PROCESSLIST")).all())


def test_a_migration_that_fails_says_its_error_and_no_values(
    ours: Engine, reports: Answers, next_migration: Folder
) -> None:
    with ours.connect() as connection:
        connection.execute(text("INSERT INTO cases (tenant_id, name) VALUES ('t', 'Smith v. Jones')"))
    next_migration("op.execute(\"INSERT INTO cases (tenant_id, name) VALUES ('t', 'Smith v. Jones')\")")
    migrate_database.lambda_handler(resource_event(reports), MigrationContext())
    answer = reports.only()
    assert re.match(
        "migration 9000 failed: .* the last conflict was error 1062. Earlier ones are kept", answer["Reason"]
    )
    assert "Smith" not in answer["Reason"]
    assert (answer["Status"], revision(ours)) == ("FAILED", HEAD)


@pytest.mark.parametrize("statuses", [[], [503], [500, 502]])
def test_an_answer_that_does_not_get_through_is_sent_again(reports: Answers, statuses: list[int]) -> None:
    reports.statuses[:] = statuses
    with custom_resource.respond(resource_event(reports)):
        pass
    assert reports.only()["Status"] == "SUCCESS"


@pytest.mark.parametrize("statuses", [[503] * 9, [403]])
def test_an_answer_that_does_not_arrive_is_an_error_so_that_lambda_calls_again(
    reports: Answers, statuses: list[int]
) -> None:
    reports.statuses[:] = statuses
    with pytest.raises(UnavailableError, match="response SUCCESS"), custom_resource.respond(resource_event(reports)):
        pass
    assert reports.bodies == []


def test_the_answer_is_no_longer_than_aws_takes_whatever_the_reason(reports: Answers) -> None:
    with custom_resource.respond(resource_event(reports)):
        raise ExhibitIngestError("\N{PILE OF POO}" * 5000)
    (body,) = reports.bodies
    assert MAX_BYTES / 2 < len(body) <= MAX_BYTES
    assert json.loads(body)["Reason"].endswith("details are in the log of this resource's function")


@pytest.mark.parametrize(("given", "expected"), [({}, "mine"), ({"PhysicalResourceId": ""}, "database-schema")])
def test_the_resource_keeps_its_id_so_that_an_update_is_no_replacement(
    reports: Answers, given: dict[str, str], expected: str
) -> None:
    with custom_resource.respond(resource_event(reports, **{"PhysicalResourceId": "mine", **given})):
        pass
    assert reports.only() == {
        "Status": "SUCCESS",
        "PhysicalResourceId": expected,
        "StackId": "arn:aws:cloudformation:s",
        "RequestId": "r",
        "LogicalResourceId": "DatabaseMigration",
        "Reason": "details are in the log of this resource's function",
    }
