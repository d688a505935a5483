"""Commands beside a `serve`, which runs in this process for all tests of a module."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from exhibit_ingest.cli.main import main
from exhibit_ingest.client.api import Api
from exhibit_ingest.session.session import Context
from local.command.workspace import Workspace
from local.stack.served_stack import publish_stack
from tests.support.servers.provisioned_servers import schema_beside


@contextmanager
def serve(folder: Path, schema_url: URL, name: str) -> Iterator[Workspace]:
    """Run a stack on a schema of its own, as `serve` does, and publish it for commands."""
    with schema_beside(schema_url, name) as url:
        workspace = Workspace(folder, database_url=url.render_as_string(hide_password=False))
        with workspace.stack(minimal=True) as stack, publish_stack(stack, os.getpid()):
            yield workspace


@dataclass(frozen=True)
class Commands:
    """The command, with the stack of a workspace; what it prints is read by `capsys`."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: object) -> tuple[int, str, str]:
        """The exit code of a command, its output and its errors."""
        code = main([str(each) for each in arguments], self.workspace)
        printed = self.capsys.readouterr()
        return code, printed.out, printed.err

    def read(self, *arguments: object) -> tuple[int, dict[str, Any]]:
        """The exit code of a command with --json, and its JSON object."""
        code, printed, _ = self.run(*arguments, "--json")
        return code, json.loads(printed)

    @contextmanager
    def api(self) -> Iterator[Api]:
        """The API, as the user of the commands has it."""
        options = Namespace(stack=None, tenant=None, user=None, json=True)
        with Context(own=self.workspace).open(options) as session:
            yield session.api
