"""`exhibit-ingest import` beside a running `serve` uses its stack, and says when that ends."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import requests
from sqlalchemy import URL

from exhibit_ingest.cli.import_journal import ImportJournal, RunningImport
from exhibit_ingest.cli.import_status import list_unfinished
from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace
from local.services.mysql_connection import describe_place
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from samples.generator import generate
from samples.spec import Spec
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow


@pytest.fixture
def workspace(tmp_path: Path, schema_url: URL) -> Iterator[Workspace]:
    """One with a schema of its own."""
    with schema_beside(schema_url, "serve") as url:
        yield Workspace(tmp_path / "state", database_url=url.render_as_string(hide_password=False))


def serve(workspace: Workspace, *, poll_events: bool = True) -> LocalStack:
    """A stack as `serve` has it, in this process."""
    options = StackOptions(database_url=workspace.database_url, template=DEFAULT_TEMPLATE, poll_events=poll_events)
    return LocalStack(workspace.state_dir, options)


def run_import(workspace: Workspace) -> int:
    file = generate(Spec(rows=5)).write(workspace.state_dir.parent / "five.dat")
    return main(["import", str(file), "--case", "beside", "--json", "--workers", "2"], workspace)


def test_an_import_uses_the_stack_that_serve_has_published(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(workspace) as served:
        with publish_stack(served, os.getpid()):
            assert run_import(workspace) == 0
        objects = served.s3.list_objects_v2(Bucket=served.bucket, Prefix="imports/local/beside/")
    printed = capsys.readouterr()
    [entry] = json.loads(printed.out)["imports"]
    assert (entry["status"], entry["imported"]) == ("completed", 5)
    assert "--workers has no effect" in printed.err
    assert objects["KeyCount"] == 1


def test_an_import_cancels_that_of_a_killed_command_through_the_api_of_serve(workspace: Workspace) -> None:
    with serve(workspace) as stack, publish_stack(stack, os.getpid()):
        headers = {"Authorization": f"Bearer {stack.tokens.issue('local', 'ada')}", "Idempotency-Key": "1"}
        body = {"case": "beside", "fileName": "five.dat"}
        made = requests.post(f"{stack.api_url}/imports", json=body, headers=headers, timeout=60).json()
        key = unquote(urlsplit(made["upload"]["url"]).path).removeprefix(f"/{stack.bucket}/")
        place = describe_place(workspace.database_url or "")
        with ImportJournal(workspace.state_dir).record(RunningImport("five.dat", "local", stack.bucket, key, place)):
            assert run_import(workspace) == 0
        # While the other command lives, its import goes on.
        assert list_unfinished(workspace.database_url or "", 1)[0].id == made["id"]
        assert run_import(workspace) == 0
        assert list_unfinished(workspace.database_url or "", 1) == []


def test_an_import_ends_with_serve_and_says_what_to_do(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    codes: list[int] = []
    # No queue is polled, so the import does not end before the stack does.
    with serve(workspace, poll_events=False) as stack:
        with publish_stack(stack, os.getpid()):
            importing = threading.Thread(target=lambda: codes.append(run_import(workspace)))
            importing.start()
            while importing.is_alive() and not stack.s3.list_objects_v2(Bucket=stack.bucket)["KeyCount"]:
                importing.join(0.05)
        importing.join(60)
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert codes == [1]
    assert "ended during the import. Rows imported so far are kept. Import the file again" in entry["error"]
