"""The wheel in an environment of its own, in a folder that is not the repository, with a stack that it has to find."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.session.machine import LOCAL_COMMANDS
from local.command.workspace import Workspace
from local.stack import LocalStack
from local.stack.options import REPOSITORY
from tests.support.servers.provisioned_servers import schema_beside
from tools import release

pytestmark = pytest.mark.slow

UV = Path(sys.executable).with_name("uv")
MOST_MEGABYTES = 60


def test_two_builds_are_equal_and_have_the_package_alone(tmp_path: Path) -> None:
    first, second = (release.build_distributions(tmp_path / name) for name in ("first", "second"))
    assert [path.suffix for path in first] == [".whl", ".gz"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert release.main(["--folder", str(tmp_path / "first")]) == 0
    assert release.find_foreign(["exhibit_ingest/a.py", "local/stack.py", "exhibit_ingest-1.dist-info/METADATA"]) == [
        "local/stack.py"
    ]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the wheel, which is installed with its dependencies from the packages that uv has."""
    folder = tmp_path_factory.mktemp("installed")
    wheel, _ = release.build_distributions(folder / "dist")
    environment = folder / "environment"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    pins = REPOSITORY / "requirements" / "dev.txt"
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", environment / "bin" / "python", "--constraint", pins, wheel],
        check=True,
    )
    size = sum(file.lstat().st_size for file in environment.rglob("*"))
    print(f"installed: {size / 1_000_000:.1f} MB")
    assert size < MOST_MEGABYTES * 1_000_000
    return environment / "bin" / "exhibit-ingest"


@pytest.fixture(scope="module")
def stack(schema_url: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    with schema_beside(schema_url, "wheel") as url:
        workspace = Workspace(tmp_path_factory.mktemp("wheel"), database_url=url.render_as_string(hide_password=False))
        with workspace.stack(minimal=True) as running:
            yield running


def run(command: Path, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder, with variables of its own alone."""
    environment = {"PATH": os.defpath, "HOME": str(folder), **variables}
    return subprocess.run(
        [command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_without_a_stack_the_command_says_how_to_get_one(installed: Path, tmp_path: Path) -> None:
    assert "serve" not in run(installed, tmp_path, "--help").stdout.split("examples:")[0]
    (tmp_path / "a.csv").write_text("Control Number\r\nA-1\r\n")
    done = run(installed, tmp_path, "preview", "a.csv")
    assert done.returncode == 2
    assert "No stack is chosen. Sign in to one: " in done.stderr


LOAD_FILE = b"Control Number,Title,Custodian,Tags\r\nA-1,One,Ada,Hot\r\nA-2,Two,Ada,\r\n,Lost,,\r\n"
# Each command of the wheel with the exit code that it has to end with, one after another.
STEPS: list[tuple[str, int]] = [
    ("whoami", 0),
    ("stacks", 0),
    ("preview a.csv", 0),
    ("check a.csv --case c", 3),
    ("import a.csv --case c --save-profile p", 3),
    ("import VOL --case v", 0),
    ("cases", 0),
    ("cases rename c d", 0),
    ("cases close d", 0),
    ("import a.csv --case d", 1),
    ("cases hold d --reason Order", 0),
    ("cases purge d --confirm d --after 2099-01-31", 1),
    ("cases lift d", 0),
    ("cases purge d --confirm d --after 2099-01-31", 0),
    ("cases withdraw d", 0),
    ("cases reopen d", 0),
    ("cases rename d c", 0),
    ("imports --case c", 0),
    ("documents --case c --csv documents.csv", 0),
    ("documents --case c --tag Hott", 2),
    ("show A-1 --case c", 0),
    ("history A-1 --case c", 0),
    ("open V-1 --case v --native --output native.txt", 0),
    ("custodians --case c", 0),
    ("tags --case c", 0),
    ("tag Privileged A-1 A-2 --case c", 0),
    ("untag Privileged A-2 --case c", 0),
    ("profiles", 0),
    ("profiles show p", 0),
    ("rejections {import}", 0),
    ("rejections {import} --csv rejected.csv", 0),
    ("rejections {import} --discard 4 --yes", 0),
    ("cancel {import}", 1),
    ("retry {import}", 1),
    ("run {import}", 1),
    ("produce --case v --all --prefix P --dry-run", 0),
    ("produce --case v --all --prefix P --yes", 0),
    ("productions --case v", 0),
    ("productions show 1", 0),
    ("productions crosswalk 1", 0),
    ("productions download 1 delivered", 0),
    ("volume 1 delivered", 0),
    ("custody hold 100 --begin 2026-11-21T09:00Z --custodian Ada --case c", 0),
    ("custody show 100", 0),
    ("custody history 100", 0),
    ("devices 100 --label Laptop", 0),
    ("devices", 0),
    ("operations", 0),
    ("undo {import} --dry-run", 3),
    ("undo {import} --yes", 3),
    ("completion bash", 0),
]


def test_every_command_has_a_step() -> None:
    """But those that need a browser; of one machine, there are none in the wheel."""
    [commands] = [each.choices for each in build_parser()._actions if each.dest == "command"]
    assert {line.split()[0] for line, _ in STEPS} == {*(commands or ())} - {*LOCAL_COMMANDS, "login", "logout"}


def write_files(folder: Path) -> None:
    """A load file with a row that is rejected, and a production of one document."""
    (folder / "a.csv").write_bytes(LOAD_FILE)
    (folder / "VOL" / "NATIVES").mkdir(parents=True)
    (folder / "VOL" / "load.dat").write_bytes(b"Control Number,Native Path\r\nV-1,NATIVES\\1.txt\r\n")
    (folder / "VOL" / "NATIVES" / "1.txt").write_bytes(b"native")


def test_every_command_works_with_a_stack_by_its_address(installed: Path, stack: LocalStack, tmp_path: Path) -> None:
    write_files(tmp_path)
    token = stack.tokens.issue("firm", "ann")
    chosen = {"EXHIBIT_INGEST_STACK": stack.api_url, "EXHIBIT_INGEST_TOKEN": token}
    number, failed = 0, []
    for line, code in STEPS:
        done = run(installed, tmp_path, *line.replace("{import}", str(number)).split(), **chosen)
        if done.returncode != code or "Traceback" in done.stderr:
            failed.append(f"{line}: {done.returncode} in place of {code}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
        if line.startswith("import a.csv --case c"):
            listed = json.loads(run(installed, tmp_path, "imports", "--case", "c", "--json", **chosen).stdout)[
                "imports"
            ]
            number = next(each["id"] for each in listed if each["phase"] == "import")
    assert "\n".join(failed) == ""
    # A command in a message can be pasted, although `stacks` does not know this stack by a name.
    listed = run(installed, tmp_path, "rejections", str(number), **chosen).stdout
    assert f"--stack {stack.api_url}" in listed
    assert (tmp_path / "native.txt").read_bytes() == b"native"
