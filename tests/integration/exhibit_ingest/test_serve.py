"""`serve`: the API of a whole stack, with functions in processes of their own behind it, until it is interrupted."""

from __future__ import annotations

import json
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil
import pytest
import requests
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from core.statuses import ImportStatus
from exhibit_ingest.cli import main
from local.command.unfinished import list_unfinished
from local.command.workspace import Workspace
from local.services.mysql_connection import describe_place
from local.template.reader import Template
from shell.tables.imports import Imports
from tests.support.application.driver import World
from tests.support.application.process_ends import wait_until_ended

TEMPLATE = """
Globals:
  Function: {CodeUri: code/, Timeout: 20, Environment: {Variables: {REDIS_URL: ""}}}
Resources:
  Api: {Type: AWS::Serverless::HttpApi}
  Visitors:
    Type: AWS::Serverless::Function
    Properties:
      Handler: visitors.handler
      Events:
        Say: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: GET, Path: "/visitors/{name}"}}
"""

CODE = """
import json, os
from redis import Redis

def handler(event, context):
    count = Redis.from_url(os.environ["REDIS_URL"], protocol=2).incr(event["pathParameters"]["name"])
    claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    return {"statusCode": 200, "body": json.dumps([claims["custom:tenant_id"], claims["sub"], count])}
"""

_SERVE = """
import signal, sys
from pathlib import Path
from exhibit_ingest.cli import main as cli
from local.command.workspace import Workspace
# A shell that runs the tests in the background may ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
sys.exit(cli.main(["serve", "--port", "0", "--workers", "1"], workspace))
"""


@pytest.fixture
def workspace(tmp_path: Path, world: World) -> Workspace:
    """One whose template has a function that counts its visitors in Redis."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "visitors.py").write_text(CODE)
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    return Workspace(tmp_path / "state", tmp_path / "template.yaml", world.environment["DATABASE_URL"])


def get(url: str, token: str) -> requests.Response:
    return requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=60)


@contextmanager
def serving(workspace: Workspace) -> Iterator[subprocess.Popen[str]]:
    """`serve` in a process of its own."""
    command = [
        sys.executable,
        "-c",
        _SERVE,
        str(workspace.state_dir),
        str(workspace.template),
        str(workspace.database_url),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(stream: IO[str] | None, count: int) -> list[str]:
    assert stream is not None
    return [stream.readline().rstrip() for _ in range(count)]


@pytest.mark.slow
def test_serve_says_where_it_is_answers_a_token_of_the_command_and_ends_with_0_at_ctrl_c(
    workspace: Workspace, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    [running] = imports_that_are(world, "running")
    sam = workspace.state_dir / "sam"
    with serving(workspace) as process:
        printed = lines(process.stdout, 8)
        written = json.loads((sam / "env-vars.json").read_text())
        assert main.main(["token", "--tenant", "acme", "--user", "ada"], workspace) == 0
        url, token = f"{printed[1].removeprefix('API:').strip()}/visitors/ü", capsys.readouterr().out.strip()
        assert get(url, "none").status_code == 401
        assert [get(url, token).json() for _ in range(2)] == [["acme", "ada", 1], ["acme", "ada", 2]]
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=300)[1].splitlines()
    assert process.returncode == 0
    assert "token --tenant" in printed[2]
    assert describe_place(str(workspace.database_url)) in printed[3]
    password = make_url(str(workspace.database_url)).password
    assert not password or not [line for line in [*printed, *errors] if str(password) in line]
    assert str(sam / "template.yaml") in printed[5]
    assert printed[-1] == "Press Ctrl-C to stop."
    assert set(written) == set(Template.load(workspace.template).functions)
    assert not sam.exists(), "its addresses are no longer valid"
    assert errors[1:3] == [
        "1 import has not finished:",
        f"  {running} (running, tenant acme)",
    ]
    wait_until_ended(children)


def imports_that_are(world: World, *statuses: str) -> list[int]:
    """Their ids."""
    row = {"tenant_id": "acme", "case_id": 1, "bucket": "b", "object_key": "k", "size": 1, "file_name": "f"}
    with Session(world.engine) as session, session.begin():
        made = [Imports(**row, upload_key=secrets.token_bytes(32), user_id="ada", status=each) for each in statuses]
        session.add_all(made)
        session.flush()
        return [each.id for each in made]


def test_what_has_not_ended_is_counted_over_all_and_named_up_to_a_number(world: World) -> None:
    ids = imports_that_are(world, *ImportStatus)
    found = list_unfinished(world.environment["DATABASE_URL"], 2)
    assert [(each.id, each.status, each.total) for each in found] == [
        (ids[0], "awaiting_upload", 5),
        (ids[2], "waiting", 5),
    ]


def test_a_port_in_use_is_reported_before_anything_is_started(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main.main(["serve", "--port", str(port)], workspace) == 1
    assert f"port {port} of 127.0.0.1 is in use" in capsys.readouterr().err
    assert not (workspace.state_dir / "logs").exists()
