"""A stack that runs for all tests of a module, and the commands that use it as that of a `serve`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, create_engine, text

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from local.time_scale import TimeScale
from tests.support.servers.provisioned_servers import schema_beside


@contextmanager
def run_stack(folder: Path, schema_url: URL, name: str) -> Iterator[Workspace]:
    """Run a stack with a schema of its own for the block, as `serve` does."""
    with schema_beside(schema_url, name) as url:
        workspace = Workspace(folder, database_url=url.render_as_string(hide_password=False))
        scale = TimeScale(0.05, shortest_timeout=float("inf"))
        options = StackOptions(
            workers=1, time_scale=scale, database_url=workspace.database_url, template=DEFAULT_TEMPLATE
        )
        with LocalStack(folder, options) as stack, publish_stack(stack, os.getpid()):
            yield workspace


@dataclass
class Commands:
    """Runs commands beside the stack of a workspace; `errors` is what the last one printed on standard error."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]
    errors: str = ""

    def run(self, *arguments: str | Path | int) -> tuple[int, str]:
        """The exit code of a command, and what it printed on standard output."""
        code = main([*map(str, arguments)], self.workspace)
        printed = self.capsys.readouterr()
        self.errors = printed.err
        return code, printed.out

    def read(self, *arguments: str | Path | int) -> tuple[int, dict[str, Any]]:
        """The exit code of a command, and its JSON object."""
        code, printed = self.run(*arguments, "--json")
        return code, json.loads(printed)

    def load(self, content: str, case: str, *options: str, code: int = 0) -> int:
        """Import a file into a case, and return the number of the import."""
        file = self.workspace.state_dir / "load.csv"
        file.write_bytes(content.encode())
        ended, printed = self.read("import", file, "--case", case, *options)
        assert ended == code, printed
        return int(printed["imports"][0]["import_id"])

    def change(self, statement: str, **values: Any) -> None:
        """Change rows of the database."""
        engine = create_engine(self.workspace.database_url or "")
        with engine.begin() as connection:
            connection.execute(text(statement), values)
        engine.dispose()


class Terminal:
    """A terminal in which a user gives one answer."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return f"{self._answer}\n"
