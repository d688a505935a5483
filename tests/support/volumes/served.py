"""A running stack of one machine and commands that use it: one for all tests of a module."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, Engine, create_engine, text

from exhibit_ingest.cli.main import main
from exhibit_ingest.sign_in.surroundings import Surroundings
from local.command.workspace import Workspace
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from local.time_scale import TimeScale
from tests.support.servers.provisioned_servers import schema_beside

Document = dict[str, Any]


@dataclass
class Served:
    """A running `serve`, and commands that use it."""

    stack: LocalStack
    workspace: Workspace
    engine: Engine
    capsys: pytest.CaptureFixture[str]
    errors: str = ""

    def run(self, *arguments: str | Path, around: Surroundings | None = None) -> tuple[int, Document]:
        """The exit code of a command and its JSON object; with `around`, it finds its stack by that alone."""
        code = main([*map(str, arguments), "--json"], None if around else self.workspace, around)
        printed = self.capsys.readouterr()
        self.errors = printed.err
        return code, json.loads(printed.out) if printed.out else {}

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def list_volumes(self, case: str) -> list[tuple[Any, ...]]:
        """Status and number of files of each volume of a case."""
        statement = "SELECT v.status, v.files FROM volumes v JOIN cases c ON c.id = v.case_id WHERE c.name = :case"
        return self.query(f"{statement} ORDER BY v.id", case=case)

    def count_objects(self, case: str) -> int:
        """The files of volumes of a case that the storage has."""
        rows = self.query(
            "SELECT prefix FROM volumes v JOIN cases c ON c.id = v.case_id WHERE c.name = :case", case=case
        )
        s3, bucket = self.stack.s3, self.stack.bucket
        return sum(s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["KeyCount"] for (prefix,) in rows)


@contextmanager
def serve(folder: Path, schema_url: URL, name: str) -> Iterator[tuple[LocalStack, Workspace]]:
    """Run a stack for the block, with a schema of its own."""
    with schema_beside(schema_url, name) as url:
        workspace = Workspace(folder, database_url=url.render_as_string(hide_password=False))
        scale = TimeScale(0.05, shortest_timeout=float("inf"))
        options = StackOptions(
            workers=1, time_scale=scale, database_url=workspace.database_url, template=DEFAULT_TEMPLATE
        )
        with LocalStack(workspace.state_dir, options) as stack, publish_stack(stack, os.getpid()):
            yield stack, workspace


@contextmanager
def use(running: tuple[LocalStack, Workspace], capsys: pytest.CaptureFixture[str]) -> Iterator[Served]:
    """Give commands of one test the running stack."""
    stack, workspace = running
    engine = create_engine(workspace.database_url or "")
    yield Served(stack, workspace, engine, capsys)
    engine.dispose()


@contextmanager
def once(is_so: Callable[[], bool], act: Callable[[], object]) -> Iterator[None]:
    """Act in another thread as soon as something is so, while the block runs; the block fails if it never was."""
    ended, acted = threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.is_set():
            if is_so():
                acted.set()
                act()
                return
            time.sleep(0.02)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()
    assert acted.is_set(), "it never was so"


def interrupt() -> None:
    """End the command as a signal does. Ctrl-C is ignored where a shell has started the tests in the background."""
    os.kill(os.getpid(), signal.SIGTERM)
