"""The number of a case's documents between the chunks of imports and the parts of undos; it is never another one.

test_command_counts.py compares every count that is printed, after each step of a case.
"""

from __future__ import annotations

import start_import
from core.contracts.imports.checks import RunRequest
from core.contracts.queries import CasesQuery
from shell.exhibits.case_list import list_cases
from shell.imports.commands import cancel_import
from shell.imports.steps import run_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import ACCEPT, CALLER, committed
from tests.support.application.driver import World, call, request_messages
from tests.support.undo.runs import begin_undo, end_undo
from tests.support.volumes.volume_imports import import_volume, put_volume

FILE = b"Control Number,Title\r\n" + b"".join(b"A-%d,title\r\n" % number for number in range(1, 8)) + b",no number\r\n"
OPT = b"".join(b"A-%d,VOL001,IMAGES\\%d.tif,Y,,,1\r\n" % (number, number) for number in (1, 2, 3))


def compare(world: World) -> int:
    """Compare the count of the case with that of its exhibits, and return it."""
    [case] = list_cases(CALLER, CasesQuery()).items
    [(documents,)] = world.query("SELECT COUNT(*) FROM exhibits")
    assert case.documents == documents
    return int(documents)


def deliver(world: World) -> list[int]:
    """Deliver the chunks or parts that wait, and return the number of documents after each."""
    found = []
    for message in world.chunk_messages():
        assert world.import_chunk(message)
        found.append(compare(world))
    return found


def test_the_documents_of_a_case_are_counted_at_any_time(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(3)
    import_id = world.start(FILE, dry_run=True)
    assert deliver(world) == [0, 0, 0]
    committed(run_import, CALLER, import_id, RunRequest.model_validate(ACCEPT))
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    assert deliver(world) == [3, 6, 7]
    images = import_volume(world, put_volume(world, {"load.opt": OPT, "IMAGES/1.tif": b"1"}), "load.opt")
    assert compare(world) == 7
    [(pages,)] = world.query("SELECT COUNT(*) FROM page_sets WHERE import_id = :i", i=images)
    assert pages == 3
    cancelled = world.start(FILE.replace(b"A-", b"B-"))
    first, *_ = world.chunk_messages()
    assert world.import_chunk(first)
    committed(cancel_import, CALLER, cancelled)
    assert compare(world) == 10
    for undone, left in ((cancelled, 7), (images, 7), (import_id, 0)):
        undo_by_parts(world, undone)
        assert compare(world) == left


def undo_by_parts(world: World, import_id: int) -> None:
    """Try an undo, which changes nothing, then do it part by part."""
    before = compare(world)
    for dry_run in (True, False):
        for message in begin_undo(world, import_id, dry_run=dry_run):
            assert world.import_chunk(message)
            assert compare(world) == before or not dry_run
        end_undo()
