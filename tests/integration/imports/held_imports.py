"""Imports that are held, their requests, and options of which one reads the file as it should be."""

from __future__ import annotations

from typing import Any

from core.contracts.imports.checks import RunRequest
from core.contracts.imports.options import NewOptions
from core.contracts.imports.states import ImportState
from shell.imports.steps import change_options, check_import, run_import
from tests.integration.imports.import_requests import ACCEPT, CALLER, announce, committed, put, run_chunks, start
from tests.support.application.driver import World

# Read by the right options: two rows, of which one is rejected, and another title.
FILE = b"Number;Name;Who\r\nA-1;one;Smith\r\nA-2;two;Jones\r\n;three;Brown\r\n"
RIGHT: dict[str, Any] = {"delimiter": ";", "columns": {"Number": "control_number", "Name": "title"}}
WRONG: dict[str, Any] = {"delimiter": "|"}
OTHER: dict[str, Any] = {"delimiter": ";", "columns": {"Name": "control_number"}}
RUN = RunRequest.model_validate(ACCEPT)


def held(data: bytes = FILE, **body: Any) -> int:
    """Announce a file that is held, and upload it."""
    pending = announce(hold=True, **body)
    assert start(put(pending, data))
    return pending.id


def change(import_id: int, seen: int, options: dict[str, Any]) -> ImportState:
    """Change the options of an import whose version was seen."""
    return committed(change_options, CALLER, import_id, {seen}, NewOptions.model_validate({"options": options}))


def check(import_id: int, seen: int = 1) -> ImportState:
    return committed(check_import, CALLER, import_id, {seen})


def run(import_id: int, seen: int = 1) -> ImportState:
    return committed(run_import, CALLER, import_id, RUN, {seen})


def at_once(world: World, case: str, **options: Any) -> int:
    """Import the file at once, with these options, to its end."""
    pending = announce(case=case, options=options)
    assert start(put(pending, FILE))
    run_chunks(world)
    return pending.id
