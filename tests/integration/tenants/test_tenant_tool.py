"""The operator's command: what it prints and changes, in a database that is connected and by the RDS Data API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.tenants.status import TenantStatus
from tests.integration.imports.import_requests import THREE, announce, put, start
from tests.support.application.driver import World
from tools.tenant import main
from tools.tenants.database import DataApi
from tools.tenants.records import list_tenants, set_status
from tools.tenants.work_under_way import _WORK as KINDS

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def run(world: World, capsys: Capsys) -> Any:
    """Runs the command; returns its exit status and all that it printed."""

    def command(*words: str) -> tuple[int, str]:
        status = main(["--database", world.environment["DATABASE_URL"], *words])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return command


def test_a_tenant_is_created_limited_suspended_and_listed(run: Any) -> None:
    assert run("create", "acme", "--running-imports", "3") == (0, "acme  active  epoch=0  running_imports=3\n")
    limits = "running_imports=3  rows_per_day=1000"
    assert run("set-limits", "acme", "--rows-per-day", "1000") == (0, f"acme  active  epoch=0  {limits}\n")
    suspended = f"acme  suspended  epoch=1  {limits}  (Late.)\n"
    assert run("set-status", "acme", "suspended", "--reason", "Late.") == (0, suspended)
    assert run("list") == (0, suspended)
    assert run("set-limits", "acme", "--running-imports", "none", "--rows-per-day", "none")[1].count("=") == 1
    assert run("set-status", "acme", "active") == (0, "acme  active  epoch=2\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "nemo"], "the tenant nemo does not exist; create it with: create nemo."),
        (["set-status", "nemo", "active"], "the tenant nemo does not exist; create it with: create nemo."),
        (["create", "a/b"], "'a/b' cannot be a tenant: it has 1 to 64 printable characters"),
        (["create", "acme"], "the tenant acme exists already; see: show acme."),
        (
            ["set-status", "acme", "suspended", "--reason", "x" * 256],
            "the reason is one line of at most 255 characters",
        ),
        (["set-limits", "acme", "--running-imports", "0"], "running_imports must be a whole number from 1 to"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(run: Any, words: list[str], message: str) -> None:
    run("create", "acme")
    status, printed = run(*words)
    assert (status, message in printed) == (1, True), printed
    assert run("list") == (0, "acme  active  epoch=0\n")


def test_work_under_way_is_counted_until_the_tenant_is_quiet(world: World, run: Any) -> None:
    pending = announce()
    message = put(pending, THREE)
    run("create", "tenant")
    assert "  imports: 0\n  uploads awaited: 1\n" in run("show", "tenant")[1]
    assert start(message)
    assert "  imports: 1\n  uploads awaited: 0\n" in run("show", "tenant")[1]
    world.query("UPDATE imports SET status = 'completed'")
    printed = run("show", "tenant")[1].splitlines()[2:]
    assert [each.rpartition(": ")[2] for each in printed] == ["0"] * len(KINDS)


class FakeDataApi:
    """Answers as the RDS Data API does ("ExecuteStatement", response syntax)."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def execute_statement(self, **request: Any) -> dict[str, Any]:
        self.requests.append(request)
        if request["sql"].startswith("UPDATE"):
            return {"numberOfRecordsUpdated": 1}
        names = ("tenant_id", "status", "limits", "epoch", "created_at", "changed_at", "reason")
        day = {"stringValue": "2026-11-27 09:00:00"}
        row = [{"stringValue": "acme"}, {"stringValue": "leaving"}, {"isNull": True}, {"longValue": 4}, day, day]
        columns = [{"label": name} for name in names]
        return {"columnMetadata": columns, "records": [[*row, {"stringValue": "Moves."}]]}


def test_a_deployed_stack_is_reached_by_the_data_api_with_values_as_parameters() -> None:
    api = FakeDataApi()
    database = DataApi("arn:cluster", "arn:secret", "exhibits", client=api)
    (found,) = list_tenants(database)
    assert (found.status, found.epoch, found.reason) == (TenantStatus.LEAVING, 4, "Moves.")
    assert set_status(database, "acme", TenantStatus.LEAVING, None) == found
    sent = api.requests[1]
    assert (sent["resourceArn"], sent["secretArn"], sent["database"]) == ("arn:cluster", "arn:secret", "exhibits")
    assert "acme" not in sent["sql"]
    assert {each["name"]: each["value"] for each in sent["parameters"]} == {
        "tenant": {"stringValue": "acme"},
        "status": {"stringValue": "leaving"},
        "reason": {"isNull": True},
    }


def test_a_database_that_cannot_be_reached_ends_a_step_of_a_move_with_what_to_do(run: Any, tmp_path: Path) -> None:
    stack = tmp_path / "stack.json"
    stack.write_text(json.dumps({"database": "mysql+pymysql://root:secret@127.0.0.1:1/exhibits", "bucket": "b"}))
    status, printed = run("export", "acme", str(tmp_path / "export"), "--source", str(stack))
    assert (status, "secret" in printed) == (1, False)
    assert printed == (
        "tenant: the database or the bucket does not answer (OperationalError). Once it does, run the command again: "
        "it goes on where it was.\n"
    )
