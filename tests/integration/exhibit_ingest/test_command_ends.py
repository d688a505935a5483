"""How `import` ends with a stack of its own: the result first."""

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
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow


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


def test_the_result_is_printed_before_the_stack_stops(
    database_url: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = WatchedWorkspace(tmp_path / "state", database_url=database_url, capsys=capsys)
    assert main(["import", str(file), "--case", "c", "--json"], workspace) == 0
    before, after = workspace.printed
    assert json.loads(before)["imports"][0]["imported"] == 1
    assert after == ""
