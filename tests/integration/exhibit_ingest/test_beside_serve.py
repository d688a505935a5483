"""`exhibit-ingest import` beside a running `serve` uses its stack, and says when that ends."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, text

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from samples.generator import generate
from samples.spec import Spec
from tests.support.imports.struck_command import run_until_struck
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


@pytest.mark.parametrize("point", ["send", "sent"])
def test_an_import_of_a_killed_command_goes_on_and_is_not_doubled(
    workspace: Workspace, point: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = generate(Spec(rows=5)).write(workspace.state_dir.parent / "five.dat")
    engine = create_engine(workspace.database_url or "")
    with serve(workspace) as served, publish_stack(served, os.getpid()):
        ended = run_until_struck(workspace, file, point, str(int(signal.SIGKILL)))
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        [journal] = (workspace.state_dir / "uploads").glob("*.json")
        assert main(["import", str(file), "--case", "c", "--json"], workspace) == 0
        printed = capsys.readouterr()
        # Once it is known what came of it, the same command imports the file again.
        assert main(["import", str(file), "--case", "c", "--json"], workspace) == 0
    [entry] = json.loads(printed.out)["imports"]
    [again] = json.loads(capsys.readouterr().out)["imports"]
    assert (entry["status"], entry["imported"], again["unchanged"]) == ("completed", 5, 5)
    assert ("of an earlier command goes on" in printed.err) is (point == "sent")
    with engine.connect() as connection:
        ids = connection.execute(text("SELECT id FROM imports ORDER BY id")).scalars().all()
    assert ids == [entry["import_id"], again["import_id"]]
    assert not journal.exists()
    engine.dispose()


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
    assert "ended during the import. Rows imported so far are kept, and the next `serve`" in entry["error"]
