"""`make smoke` against the local stack: the script that tries a deployed one, with its outputs in a file."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from shell.maintenance.migrate import SCRIPTS
from tests.support.database.application_user import application_user
from tools.smoke.__main__ import main
from tools.smoke.steps import STEPS

SCRIPT = """
import sys
from pathlib import Path
from local.gateway.tokens import Tokens
from local.template.reader import Template
tokens = Tokens.load(Path({state!r}), Template.load(Path({template!r})))
print(tokens.issue(sys.argv[1], "smoke", roles=(sys.argv[2],)))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    with LocalStack(tmp_path_factory.mktemp("state"), StackOptions()) as running:
        yield running


def smoke(stack: LocalStack, folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Run the script on the stack with these outputs changed."""
    outputs = {"ApiUrl": stack.api_url, "Bucket": stack.bucket, "LogGroup": "the log group", **changed}
    described = {"Stacks": [{"Outputs": [{"OutputKey": k, "OutputValue": v} for k, v in outputs.items()]}]}
    (folder / "outputs.json").write_text(json.dumps(described), encoding="utf-8")
    token = folder / "print_token.py"
    token.write_text(SCRIPT.format(state=str(stack.state_dir), template=str(DEFAULT_TEMPLATE)), encoding="utf-8")
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(token))} {{tenant}} {{role}}"
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "tools.smoke",
            "local",
            "--outputs",
            folder / "outputs.json",
            "--token-command",
            command,
        ],
        env={**os.environ, **stack.aws.environment(), "PYTHONPATH": str(REPOSITORY)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_step_succeeds_on_a_stack_that_works(stack: LocalStack, tmp_path: Path) -> None:
    ended = smoke(stack, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    *done, mail = [name for name, _ in STEPS]
    assert [line.rpartition(" (")[0] for line in lines[:-2]] == [f"ok      {name}" for name in done]
    assert lines[-2] == f"skipped {mail}: no e-mail address is subscribed to the alarms (AlarmEmail)"


def test_every_step_succeeds_with_the_rights_of_the_deployed_functions(
    tmp_path: Path, migrated: dict[str, str]
) -> None:
    """The tests' server, whose schema is migrated; the functions log in as a user that only reads and writes rows."""
    with application_user(make_url(migrated["DATABASE_URL"])) as user:
        options = StackOptions(database_url=user.render_as_string(hide_password=False), migrations=SCRIPTS)
        with LocalStack(tmp_path / "state", options) as stack:
            ended = smoke(stack, tmp_path)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_first_step_that_fails_is_named_with_what_to_look_at(stack: LocalStack, tmp_path: Path) -> None:
    """The production is made in the stack's bucket, and its volume looked for in another one."""
    other = "another-bucket"
    stack.s3.create_bucket(Bucket=other)
    ended = smoke(stack, tmp_path, Bucket=other)
    assert ended.returncode == 1
    failed = "failed  produce: POST /productions: expected 202, got 422 (FILE_MISSING (SMOKE-1): "
    assert ended.stdout.splitlines()[-2].startswith(failed)
    assert "the log group" in ended.stdout.splitlines()[-1]


def test_an_api_that_lets_anyone_in_fails_the_first_step(stack: LocalStack, tmp_path: Path) -> None:
    ended = smoke(stack, tmp_path, ApiUrl=stack.aws.endpoint)
    assert (ended.returncode, ended.stdout.startswith("failed  log in: GET /imports: expected 401")) == (1, True)


def test_outputs_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "--outputs", str(tmp_path / "missing.json"), "--token-command", "true"]) == 1
    assert "the outputs of the stack cannot be read" in capsys.readouterr().out
