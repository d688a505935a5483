"""Pages are compared again after retries of the data file, whichever imports of images run beside it."""

from __future__ import annotations

import pytest

import start_import
from core.errors import WrongStateError
from shell.db.session import session
from shell.imports.commands import retry_import
from shell.imports.pages.reopening import reopen_images
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER
from tests.integration.imports.volumes.test_page_reconciliation import (
    DATA,
    EXPECTED,
    IMAGES,
    finish_images,
    found,
    reconciled,
)
from tests.support.application.driver import World, call, complete_imports, request_messages
from tests.support.volumes.paired_imports import DAT_PATH, OPT_PATH, announce, finish
from tests.support.volumes.volume_imports import import_volume, put_volume, start_volume_import


def give_up_one(world: World, place: int) -> None:
    """Work on all chunks that are sent but one, which fails."""
    chunks = world.chunk_messages()
    world.give_up(chunks.pop(place))
    for chunk in chunks:
        assert world.import_chunk(chunk)
    complete_imports()


def retry(import_id: int) -> None:
    with session() as transaction:
        retry_import(transaction, CALLER, import_id)


def test_images_are_not_retried_beside_their_data_file(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    assert call(start_import.lambda_handler, {"import_id": rows, "generation": 1})
    give_up_one(world, 0)
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    give_up_one(world, -1)
    retry(rows)
    with pytest.raises(WrongStateError, match="before this one is under way"):
        retry(images)
    finish_images(world)
    retry(images)
    finish_images(world)
    assert found(world, images) == EXPECTED
    assert reconciled(images)[0] is True


def test_what_was_compared_with_half_of_a_data_file_is_compared_again(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    assert call(start_import.lambda_handler, {"import_id": rows, "generation": 1})
    give_up_one(world, 0)
    finish_images(world)
    retry(rows)
    # As if the images had been completed beside it.
    world.query(
        "UPDATE page_reconciliations SET compared = REPLACE(compared, :old, :new) WHERE import_id = :i",
        old=f"[{rows}, 1,",
        new=f"[{rows}, 2,",
        i=images,
    )
    finish_images(world)
    assert found(world, images) == EXPECTED
    assert reconciled(images) == (True, 2, [(rows, 2)], 3)


@pytest.mark.parametrize("beside", [False, True])
def test_images_that_come_after_no_import_are_compared_again(world: World, chunk_rows: Chunks, beside: bool) -> None:
    """As an error file of images is, imported after the data file's end or beside its retry."""
    volume = put_volume(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    chunk_rows(1)
    rows = start_volume_import(world, volume, DAT_PATH)
    give_up_one(world, 0)
    if beside:
        retry(rows)
        [request] = request_messages()
    images = import_volume(world, volume, OPT_PATH)
    complete_imports()
    assert (1, "PAGES_MISSING", "PG001") not in found(world, images)
    if beside:
        assert reconciled(images)[:3] == (False, 1, [(rows, 2)])
        assert call(start_import.lambda_handler, request)
        for chunk in world.chunk_messages():
            assert world.import_chunk(chunk)
    else:
        retry(rows)
    finish_images(world)
    assert found(world, images) == EXPECTED
    assert reconciled(images) == (True, 2, [(rows, 2)], 3)


def test_the_end_of_a_data_file_locks_no_images_of_another_one(world: World, chunk_rows: Chunks) -> None:
    """Their data file's row is locked first; the end of another data file of the volume does not lock that."""
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    finish(world, rows)
    [(volume,)] = world.query("SELECT volume_id FROM imports WHERE id = :id", id=images)
    other, beside = import_volume(world, volume, DAT_PATH), import_volume(world, volume, OPT_PATH)
    for ended, locked in ((rows, [images, beside]), (other, [beside])):
        with session() as transaction:
            reopen_images(transaction, ended, 0)
            free = [row[0] for row in world.query("SELECT id FROM imports ORDER BY id FOR UPDATE SKIP LOCKED")]
        assert [each for each in (rows, images, other, beside) if each not in free] == locked
