"""Productions for the tests of the console: cases with files, productions that wait for numbers, the command beside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
from sqlalchemy import Connection, create_engine, text

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from local.stack import LocalStack
from local.stack.served_stack import publish_stack
from samples.volume import VolumeSpec, generate_volume
from tests.support.console.matters import find_case, load_volume, request
from tests.support.database.server_status import count_waiting, wait_until

SPEC = VolumeSpec(families=3, has_faults=False)
WHOLE = generate_volume(SPEC)


def load_case(stack: LocalStack, name: str) -> int:
    """Return the id of a new case with the documents, pages and files of a volume."""
    load_volume(stack, name, SPEC)
    return find_case(stack, name)


def produce(stack: LocalStack, case: str, prefix: str, **more: Any) -> dict[str, Any]:
    """Return a production of the whole case that has ended."""
    body = {"case": case, "query": {}, "volume": "VOL001", "prefix": prefix, "digits": 7, "numbering": "page", **more}
    created = request(stack, "POST", "/productions", body)
    stack.wait_until_idle()
    found: dict[str, Any] = request(stack, "GET", f"/productions/{created['id']}")
    return found


def find_production(page: Page) -> int:
    """Return the id of the production that the page shows."""
    expect(page.get_by_role("heading", name="Production", exact=False, level=1)).to_be_visible()
    return int(page.url.partition("?")[0].rsplit("/", 1)[1])


@contextmanager
def connect(stack: LocalStack) -> Iterator[Connection]:
    """Yield a connection to the database of the stack."""
    engine = create_engine(str(stack.options.database_url))
    with engine.connect() as connection:
        yield connection
        connection.rollback()
    engine.dispose()


@contextmanager
def held_numbers(stack: LocalStack, case_id: int) -> Iterator[Connection]:
    """Lock the documents of a case, so that no production gets numbers in the block; yield another connection."""
    with connect(stack) as holding, connect(stack) as watching:
        holding.execute(text("SELECT id FROM exhibits WHERE case_id = :case_id FOR UPDATE"), {"case_id": case_id}).all()
        yield watching


def wait_for_waiting(watching: Connection, number: int) -> None:
    """Wait until so many transactions of the stack wait for a lock."""
    wait_until(lambda: count_waiting(watching) >= number, f"{number} transactions wait")


def download_by_command(stack: LocalStack, production: int, folder: Path) -> dict[str, bytes]:
    """Download a production by the command, and return the bytes of its files by their paths."""
    workspace = Workspace(stack.state_dir, database_url=str(stack.options.database_url))
    with publish_stack(stack, os.getpid()):
        assert main(["productions", "download", str(production), str(folder)], workspace) == 0
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def write_crosswalk(stack: LocalStack, production: int, file: Path) -> bytes:
    """Write the crosswalk of a production by the command, and return its bytes."""
    workspace = Workspace(stack.state_dir, database_url=str(stack.options.database_url))
    with publish_stack(stack, os.getpid()):
        assert main(["productions", "crosswalk", str(production), "--csv", str(file)], workspace) == 0
    return file.read_bytes()
