"""The API of a whole stack: functions in processes of their own behind it, and the commands that serve it."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil
import pytest
import requests
from redis import Redis
from sqlalchemy.orm import Session

from core.statuses import ImportStatus
from local.cli import main
from local.cli.import_status import list_unfinished
from local.cli.workspace import Workspace
from local.errors import LocalError
from local.gateway.tokens import SECRET_FILE
from local.stack import LocalStack
from local.template.reader import Template
from shell.tables.imports import Imports
from tests.support.ended import wait_until_ended
from tests.support.world import World

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
  Slow:
    Type: AWS::Serverless::Function
    Properties:
      Handler: visitors.slow
      Timeout: 1
      Events:
        Say: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: GET, Path: /slow}}
"""

CODE = """
import json, os, time
from redis import Redis

def handler(event, context):
    count = Redis.from_url(os.environ["REDIS_URL"], protocol=2).incr(event["pathParameters"]["name"])
    claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    return {"statusCode": 200, "body": json.dumps([claims["custom:tenant_id"], claims["sub"], count])}

def slow(event, context):
    time.sleep(60)
"""

_SERVE = """
import signal, sys
from pathlib import Path
from local.cli import main as cli
from local.cli.workspace import Workspace
# Whoever runs the tests in the background may have had it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
sys.exit(cli.main(["serve", "--port", "0", "--workers", "1"], workspace))
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, stack: LocalStack) -> Workspace:
    folder = tmp_path_factory.mktemp("visitors")
    (folder / "code").mkdir()
    (folder / "code" / "visitors.py").write_text(CODE)
    (folder / "template.yaml").write_text(TEMPLATE)
    return Workspace(folder / "state", folder / "template.yaml", stack.database_url)


@pytest.fixture(scope="module")
def visitors(workspace: Workspace) -> Iterator[LocalStack]:
    with workspace.stack(workers=2) as running:
        yield running


def get(url: str, token: str) -> requests.Response:
    return requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def test_a_token_of_the_command_opens_the_api_while_it_runs(
    visitors: LocalStack, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["token", "--tenant", "acme", "--user", "ada"], workspace) == 0
    token = capsys.readouterr().out.strip()
    assert [get(f"{visitors.api_url}/visitors/ü", token).json() for _ in range(2)] == [
        ["acme", "ada", 1],
        ["acme", "ada", 2],
    ]


def test_the_functions_share_the_stacks_redis(visitors: LocalStack) -> None:
    get(f"{visitors.api_url}/visitors/grace", visitors.tokens.issue("acme", "ada"))
    with Redis.from_url(visitors.redis_url, protocol=2) as client:
        assert client.get("grace") == b"1"


@pytest.mark.slow
def test_a_function_that_is_killed_for_its_time_fails_and_is_noted(visitors: LocalStack) -> None:
    answer = get(f"{visitors.api_url}/slow", visitors.tokens.issue("acme", "ada"))
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})
    assert [failure.error_type for failure in visitors.failures()] == ["Sandbox.Timedout"]


def test_a_template_without_routes_has_no_api(stack: LocalStack) -> None:
    assert stack.redis_url == ""
    with pytest.raises(LocalError, match="no routes"):
        _ = stack.api_url


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
def test_serve_says_where_it_is_and_ends_with_0_at_ctrl_c(workspace: Workspace, tmp_path: Path, world: World) -> None:
    ours = Workspace(tmp_path, workspace.template, world.environment["DATABASE_URL"])
    [running] = imports_that_are(world, "running")
    with serving(ours) as process:
        said = lines(process.stdout, 8)
        written = json.loads((tmp_path / "sam" / "env-vars.json").read_text())
        assert get(f"{said[0].removeprefix('API:').strip()}/visitors/ada", "none").status_code == 401
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=30)[1].splitlines()
    assert process.returncode == 0
    assert "token --tenant" in said[1]
    assert str(ours.database_url) in said[2]
    assert str(tmp_path / "sam" / "template.yaml") in said[4]
    assert said[-1] == "Press Ctrl-C to stop."
    assert set(written) == set(Template.load(workspace.template).functions)
    assert not (tmp_path / "sam").exists(), "its addresses are nobody's any more"
    assert told[1:3] == [
        "1 import has not finished, and its upload is lost now:",
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
        (ids[0], "awaiting_upload", 3),
        (ids[1], "splitting", 3),
    ]


def test_a_port_that_is_taken_is_told_before_anything_is_started(
    visitors: LocalStack, workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = visitors.api_url.rpartition(":")[2]
    other = Workspace(tmp_path, workspace.template, workspace.database_url)
    assert main.main(["serve", "--port", port], other) == 1
    assert f"port {port} of 127.0.0.1 is in use" in capsys.readouterr().err
    assert not (tmp_path / "logs").exists()


def test_reset_forgets_the_secret(tmp_path: Path, workspace: Workspace) -> None:
    own = Workspace(tmp_path / "state", workspace.template, workspace.database_url)
    secrets = []
    for _ in range(2):
        assert main.main(["token", "--tenant", "acme", "--user", "ada"], own) == 0
        secrets.append((own.state_dir / SECRET_FILE).read_text())
        assert main.main(["reset"], own) == 0
        assert not own.state_dir.exists()
    assert secrets[0] != secrets[1]
