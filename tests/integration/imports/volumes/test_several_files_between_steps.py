"""Several image load files of a volume, some checked and some run, held, or started while an import is being undone."""

from __future__ import annotations

from sqlalchemy import text

import import_chunk
import start_import
from core.contracts.imports.checks import RunRequest
from core.contracts.imports.undos import UndoRequest
from shell.imports.commands import cancel_import, retry_import
from shell.imports.undo.commands import undo_import
from shell.volume_files.figures import read_page_figures
from shell.volumes.runs import run_volume
from tests.integration.imports.images.image_imports import status
from tests.integration.imports.import_requests import CALLER, committed
from tests.integration.imports.volumes.several_files import DATA, ONE, begin, complete, image_file, work
from tests.support.application.driver import World, call, completion_messages, request_messages
from tests.support.volumes.paired_imports import DAT_PATH

ACCEPT = RunRequest.model_validate({"acceptRejections": True})
_OTHER = """
    INSERT INTO imports
      (tenant_id, case_id, user_id, bucket, object_key, size, file_name, upload_key, status, phase, kind)
    SELECT tenant_id, case_id, user_id, bucket, 'imports/x', 1, 'x', UNHEX(SHA2('x', 256)), 'completed', 'import',
      'rows' FROM imports WHERE id = :i
"""
_OF_OTHER = """
    INSERT INTO import_chunks
      (import_id, chunk_no, byte_start, byte_end, first_line, last_line, row_count, sha256, status)
    VALUES (:i, 1, 0, 1, 1, 1, 1, UNHEX(SHA2('x', 256)), 'done')
"""


def step(world: World) -> bool:
    """Deliver each message once; return whether there were any."""
    requests = request_messages()
    for message in requests:
        call(start_import.lambda_handler, message)
    chunks = world.chunk_messages()
    for message in chunks:
        call(import_chunk.lambda_handler, message)
    completions = completion_messages()
    for message in completions:
        complete(message)
    return bool(requests or chunks or completions)


def checked_but_one(world: World) -> tuple[list[int], int]:
    """The imports of a volume that are run after a check, but for the first image load file; and the volume."""
    ids = begin(world, check=True)
    committed(cancel_import, CALLER, ids[1])
    work(world)
    [(volume,)] = world.query("SELECT volume_id FROM imports WHERE id = :i", i=ids[0])
    committed(run_volume, CALLER, volume, ACCEPT, None)
    return ids, int(volume)


def test_the_pages_that_a_run_counts_are_without_those_that_its_check_took_out(world: World) -> None:
    ids = begin(world, {DAT_PATH: DATA, ONE: image_file("A1*", "A2", "B1*", "B2")}, check=True)
    work(world)
    # The chunk took the document without a row for one of them, which the end of the check corrected.
    assert read_page_figures(ids[1]).documents == 1
    [(volume,)] = world.query("SELECT volume_id FROM imports WHERE id = :i", i=ids[0])
    committed(run_volume, CALLER, volume, ACCEPT, None)
    work(world)
    figures = read_page_figures(ids[1])
    assert (figures.lines_seen, figures.imported, figures.rejected, figures.documents) == (4, 2, 2, 1)


def test_a_check_beside_what_has_been_imported_ends(world: World) -> None:
    ids, _ = checked_but_one(world)
    work(world)
    committed(retry_import, CALLER, ids[1])
    rounds = 0
    while step(world):
        rounds += 1
        assert rounds < 20, "they are completed again and again"
    assert status(world, ids[1]) == "checked"


def test_images_that_are_held_go_on_after_their_data_file(world: World) -> None:
    ids = begin(world)
    # As if the volume had been held.
    world.query("UPDATE imports SET wanted = 'hold', status = 'cancelled' WHERE id = :i", i=ids[1])
    committed(retry_import, CALLER, ids[1])
    committed(cancel_import, CALLER, ids[0])
    assert status(world, ids[1]) == "blocked"
    committed(retry_import, CALLER, ids[0])
    work(world)
    assert status(world, ids[1]) == "uploaded"
    [(volume,)] = world.query("SELECT volume_id FROM imports WHERE id = :i", i=ids[0])
    committed(run_volume, CALLER, volume, ACCEPT, None)
    work(world)
    assert status(world, ids[1]).startswith("completed")


def test_no_chunk_of_images_is_imported_while_an_import_of_the_case_is_undone(world: World) -> None:
    ids, _ = checked_but_one(world)
    with world.engine.begin() as connection:
        connection.execute(text(_OTHER), {"i": ids[0]})
    [(other,)] = world.query("SELECT MAX(id) FROM imports")
    with world.engine.begin() as connection:
        connection.execute(text(_OF_OTHER), {"i": other})
    while status(world, ids[2]) != "running":
        assert step(world)
    committed(retry_import, CALLER, ids[1])
    while status(world, ids[1]) != "splitting":
        assert step(world)
    committed(undo_import, CALLER, int(other), UndoRequest.model_validate({}))
    committed(cancel_import, CALLER, ids[1])
    assert (status(world, other), status(world, ids[3])) == ("undoing", "running")
    for message in request_messages():
        call(start_import.lambda_handler, message)
    chunks = world.chunk_messages()
    for message in chunks:
        call(import_chunk.lambda_handler, message)
    assert [row.status for row in world.query("SELECT status FROM import_chunks WHERE import_id = :i", i=ids[3])] == [
        "pending"
    ]
