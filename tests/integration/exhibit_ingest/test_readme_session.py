"""What the README shows of the demo is what it prints; docs/first-session.md runs as it stands there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from local.command import demo
from local.command.workspace import Workspace
from local.gateway.server import ApiGateway, Invoke
from local.gateway.tokens import Tokens
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.stack.served_stack import publish_stack
from local.template.reader import Template
from local.time_scale import TimeScale
from samples.demo import describe

pytestmark = pytest.mark.slow

_OF_CASE = ("exhibits", "custodians", "tags")
_README = REPOSITORY / "README.md"
_FIRST_SESSION = REPOSITORY / "docs" / "first-session.md"
_SCHEMA_DOCUMENT = REPOSITORY / "docs" / "schema.md"
_WRITTEN_API = "API=http://127.0.0.1:8700\n"

_COMMAND = """
import sys
from pathlib import Path
from exhibit_ingest.cli import main as cli
from local.command.workspace import Workspace
sys.argv[0] = ".venv/bin/exhibit-ingest"
sys.exit(cli.main(None, Workspace(Path({state!r}), Path({template!r}), {database!r})))
"""


def session() -> str:
    """The first shell block of the section about the API."""
    section = _FIRST_SESSION.read_text(encoding="utf-8").partition("\n## Use the API\n")[2].partition("\n## ")[0]
    found = re.search(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert found, "the section has no shell block"
    assert _WRITTEN_API in found[1]
    return found[1]


def folder_like_a_clone(folder: Path, state_dir: Path, database: str | None = None) -> Path:
    """A folder with .venv/bin in it, whose command works in the given state directory and database."""
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    command = folder / "command.py"
    command.write_text(_COMMAND.format(state=str(state_dir), template=str(DEFAULT_TEMPLATE), database=database))
    for name, arguments in (("python", ""), ("exhibit-ingest", f'"{command}"')):
        (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (binaries / name).chmod(0o755)
    return folder


def printed(stack: LocalStack, folder: Path) -> list[Any]:
    """What the session prints, a JSON object a line; in place of a folder, the files in it."""
    clone = folder_like_a_clone(folder / "clone", stack.state_dir, stack.database_url)
    ended = run(stack.api_url, clone, "-eu")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert sorted(path.name for path in clone.iterdir()) == [".venv", "command.py"]
    return [_read(line) for line in ended.stdout.splitlines() if line]


def _read(line: str) -> Any:
    return json.loads(line) if line.startswith("{") else sorted(path.name for path in Path(line).rglob("*.*"))


def run(api_url: str, clone: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The session's end."""
    return run_script(session().replace(_WRITTEN_API, f"API={api_url}\n"), clone, *options)


def run_script(script: str, clone: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script in the folder, as a user who pastes it there."""
    environment = os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    bash = shutil.which("bash") or pytest.fail("the session is one of bash")
    command = [bash, *options, "-c", script]
    return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=600)


def test_the_demo_prints_what_the_readme_shows(
    tmp_path: Path, schema: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = _README.read_text(encoding="utf-8").partition("`make demo` prints")[2].partition("\n## ")[0]
    shown = section.split("```")[1].strip("\n").splitlines()
    # Other tests of the process may have left rows in the schema that DATABASE_URL names.
    monkeypatch.setenv("DATABASE_URL", schema)
    monkeypatch.setattr(demo, "Workspace", partial(Workspace, state_dir=tmp_path / "state"))
    assert demo.main() == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    missing = [line for line in shown if line.strip(" …") and line not in printed]
    assert missing == [], "\n".join(printed)
    assert sum(line in printed for line in shown) > 10
    attachment = next(row for row in describe() if row.parent)
    [row] = [line for line in printed if line.startswith(f"│ {attachment.line} ")]
    assert row.count(str(attachment.parent)) == 2
    [counts] = [re.findall(r"[\d,]+", line) for line in printed if line.endswith("are in MySQL.")]
    assert tuple(int(each.replace(",", "")) for each in counts) == count_demo(schema)


def count_demo(database_url: str) -> tuple[int, ...]:
    """The documents, custodians and tags of the last case of the demo."""
    counts = ", ".join(f"(SELECT COUNT(*) FROM {table} WHERE case_id = c.id)" for table in _OF_CASE)
    engine = create_engine(database_url)
    with engine.connect() as connection:
        newest = "FROM cases AS c WHERE name LIKE 'demo 2%' ORDER BY id DESC LIMIT 1"
        counted = tuple(connection.execute(text(f"SELECT {counts} {newest}")).one())
    engine.dispose()
    return counted


def test_the_first_session_does_what_it_says(tmp_path: Path, schema: str) -> None:
    scale = TimeScale(0.05, shortest_timeout=60)
    options = StackOptions(workers=1, time_scale=scale, database_url=schema)
    with LocalStack(tmp_path / "state", options) as ours, publish_stack(ours, os.getpid()):
        made, state, rejections, exhibits, changed, tagged, *others = printed(ours, tmp_path)
    assert (state["status"], state["imported"], state["rejected"]) == ("completed_with_rejections", 2, 1)
    assert (state["id"], state["userId"]) == (made["id"], "ada")
    assert [row["line"] for row in rejections["items"]] == [4]
    assert [item["controlNumber"] for item in exhibits["items"]] == ["ABC-1", "ABC-2"]
    assert (changed["title"], changed["version"]) == ("The Plan", exhibits["items"][0]["version"] + 1)
    assert tagged == {"exhibits": 1, "tags": 1, "created": 1}
    production, documents, volume, *custody = others
    assert state["reports"] is not None
    assert volume == ["MANIFEST.csv", "MANIFEST.sha256", "VOL001.dat"]
    assert (production["status"], production["firstBates"]) == ("confirmed", "SMITH0000001")
    assert [(each["controlNumber"], each["batesBegin"]) for each in documents["items"]] == [("ABC-1", "SMITH0000001")]
    assert_custody_is_as_written(*custody)


def assert_custody_is_as_written(recorded: dict[str, Any], refused: dict[str, Any], handed_on: dict[str, Any]) -> None:
    [first] = recorded["items"]
    assert (refused["status"], [each["periodId"] for each in refused["conflicts"]]) == (409, [first["id"]])
    ended, begun = handed_on["ended"], handed_on["begun"]
    assert (ended["id"], ended["end"], begun["begin"]) == (first["id"], *["2026-11-21T17:30:00Z"] * 2)
    assert (begun["custodian"], begun["end"]) == ("Lab", None)


def test_the_request_of_the_fifth_question_is_made_for_the_tenant_of_its_load_file(tmp_path: Path) -> None:
    question = _SCHEMA_DOCUMENT.read_text(encoding="utf-8").partition("\n### 5. ")[2].partition("\n### ")[0]
    body, script = (
        re.findall(rf"^```{kind}\n(.*?)^```$", question, re.DOTALL | re.MULTILINE)[0] for kind in ("json", "sh")
    )
    template, made = Template.load(DEFAULT_TEMPLATE), list[dict[str, Any]]()

    def record(function: str, event: dict[str, Any]) -> Any:
        made.append(event)
        return {"statusCode": 202, "body": "{}"}

    clone = folder_like_a_clone(tmp_path / "clone", tmp_path / "state")
    (clone / "production.json").write_text(body, encoding="utf-8")
    with ApiGateway(template.routes, record, Tokens.load(tmp_path / "state", template)) as api:
        ended = run_script(script.replace("http://127.0.0.1:8700", api.url), clone, "-eu")
    assert ended.returncode == 0, ended.stderr
    [event] = made
    claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    assert (event["routeKey"], claims["custom:tenant_id"]) == ("POST /productions", "local")
    assert json.loads(event["body"]) == json.loads(body)
    assert event["headers"]["idempotency-key"]


def upload_that_fails(function: str, event: dict[str, Any]) -> Any:
    """Announced, but there is nothing where the file should go."""
    made = {"id": 7, "upload": {"url": "http://127.0.0.1:1/nowhere"}}
    status = {"finishedAt": None}
    return {"statusCode": 200, "body": json.dumps(made if event["routeKey"].startswith("POST") else status)}


def announcement_that_fails(function: str, event: dict[str, Any]) -> Any:
    return {"statusCode": 503, "body": "out of order"}


@pytest.mark.parametrize(
    ("invoke", "said"), [(upload_that_fails, "127.0.0.1 port 1"), (announcement_that_fails, "out of order")]
)
def test_the_session_ends_and_says_why_where_it_cannot_go_on(tmp_path: Path, invoke: Invoke, said: str) -> None:
    state_dir = tmp_path / "state"
    template = Template.load(DEFAULT_TEMPLATE)
    with ApiGateway(template.routes, invoke, Tokens.load(state_dir, template)) as api:
        ended = run(api.url, folder_like_a_clone(tmp_path / "clone", state_dir))
    assert said in ended.stdout + ended.stderr
