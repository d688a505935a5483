"""`exhibit-ingest import` beside a running `serve` uses its stack, and says when that ends."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from local.cli.main import main
from local.cli.workspace import Workspace
from local.errors import StackBusyError
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from samples.generator import generate
from samples.spec import Spec

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database_url(schema_url: Any) -> Iterator[str]:
    """A schema of its own."""
    engine = create_engine(schema_url.set(database=""), isolation_level="AUTOCOMMIT")
    name = f"{schema_url.database}_serve"
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        yield schema_url.set(database=name).render_as_string(hide_password=False)
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
    engine.dispose()


def serve(workspace: Workspace, *, poll_events: bool = True) -> LocalStack:
    """A stack as `serve` has it, in this process."""
    options = StackOptions(database_url=workspace.database_url, template=DEFAULT_TEMPLATE, poll_events=poll_events)
    return LocalStack(workspace.state_dir, options)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("served"), database_url=database_url)


@pytest.fixture(scope="module")
def served(workspace: Workspace) -> Iterator[LocalStack]:
    with serve(workspace) as stack:
        yield stack


def run_import(workspace: Workspace, folder: Path, seed: int, *arguments: str) -> int:
    file = generate(Spec(rows=5, seed=seed)).write(folder / f"{seed}.dat")
    return main(["import", str(file), "--case", "beside", "--json", *arguments], workspace)


def test_an_import_uses_the_stack_that_serve_has_published(
    served: LocalStack, workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with publish_stack(served, os.getpid()):
        assert run_import(workspace, tmp_path, 1, "--workers", "2") == 0
    printed = capsys.readouterr()
    [entry] = json.loads(printed.out)["imports"]
    assert (entry["status"], entry["imported"]) == ("completed", 5)
    assert "--workers has no effect" in printed.err
    assert served.s3.list_objects_v2(Bucket=served.bucket, Prefix="imports/local/beside/")["KeyCount"] == 1


@pytest.mark.usefixtures("served")
def test_an_import_is_refused_by_a_command_that_has_published_nothing(workspace: Workspace) -> None:
    with pytest.raises(StackBusyError, match=r"end it \(Ctrl-C\) first"):
        workspace.connect(1)


def test_a_serve_with_another_database_is_refused(
    served: LocalStack, workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with publish_stack(served, os.getpid()):
        assert run_import(Workspace(workspace.state_dir), tmp_path, 2) == 1
    assert "DATABASE_URL is not set here" in json.loads(capsys.readouterr().out)["imports"][0]["error"]


def test_an_import_ends_with_serve_and_says_what_to_do(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path / "state", database_url=database_url)
    codes: list[int] = []
    # No queue is polled, so the import does not end before the stack does.
    with serve(workspace, poll_events=False) as stack:
        with publish_stack(stack, os.getpid()):
            importing = threading.Thread(target=lambda: codes.append(run_import(workspace, tmp_path, 3)))
            importing.start()
            while importing.is_alive() and not stack.s3.list_objects_v2(Bucket=stack.bucket)["KeyCount"]:
                importing.join(0.05)
        importing.join(60)
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert codes == [1]
    assert "ended during the import. Rows imported so far are kept. Import the file again" in entry["error"]
