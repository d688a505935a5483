"""How `import` ends with a stack of its own: the result first, and at once where a function cannot start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import URL

from exhibit_ingest.cli.main import main
from exhibit_ingest.session.machine import MachineWish, RunningMachine
from local.command.workspace import Workspace
from local.stack.options import REPOSITORY
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow
BROKEN = "module_that_is_missing"


@dataclass(frozen=True)
class WatchedWorkspace(Workspace):
    """One that notes what is printed before its stack stops, and after."""

    capsys: pytest.CaptureFixture[str] | None = None
    printed: list[str] = field(default_factory=list)

    @contextmanager
    def run(self, wish: MachineWish) -> Iterator[RunningMachine]:
        assert self.capsys is not None
        with super().run(wish) as running:
            yield running
            self.printed.append(self.capsys.readouterr().out)
        self.printed.append(self.capsys.readouterr().out)


@pytest.fixture
def database_url(schema_url: URL) -> Iterator[str]:
    with schema_beside(schema_url, "ends") as url:
        yield url.render_as_string(hide_password=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A load file with one document."""
    written = tmp_path / "one.csv"
    written.write_text("Control Number,Title\nA-1,One\n")
    return written


def break_handler(folder: Path, handler: str) -> Path:
    """The template, beside the folders that it names, with another module for a handler."""
    for name in ("functions", "shared", "layers", "docs"):
        (folder / name).symlink_to(REPOSITORY / name)
    text = (REPOSITORY / "template.yaml").read_text(encoding="utf-8")
    assert f"Handler: {handler}." in text
    template = folder / "template.yaml"
    template.write_text(text.replace(f"Handler: {handler}.", f"Handler: {BROKEN}."), encoding="utf-8")
    return template


def test_the_result_is_printed_before_the_stack_stops(
    database_url: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = WatchedWorkspace(tmp_path / "state", database_url=database_url, capsys=capsys)
    assert main(["import", str(file), "--case", "c", "--json"], workspace) == 0
    before, after = workspace.printed
    assert json.loads(before)["imports"][0]["imported"] == 1
    assert after == ""


@pytest.mark.parametrize("handler", ["import_chunk", "imports_api"])
def test_a_function_that_cannot_start_ends_the_command_with_the_end_of_its_log(
    database_url: str, file: Path, tmp_path: Path, handler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path / "state", break_handler(tmp_path, handler), database_url)
    assert main(["import", str(file), "--case", "c"], workspace) == 1
    printed = capsys.readouterr()
    words = " ".join((printed.out + printed.err).split())
    assert "a function of the stack cannot start" in words
    assert f"No module named '{BROKEN}'; 3 starts failed" in words
    assert ".log ends with:" in words
