"""Held imports expire after a while, unless something was done with them, and can be held again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.contracts.imports.states import ImportState
from shell.db.session import session
from shell.imports import upload_expiry
from shell.imports.upload_expiry import expire_uploads
from tests.integration.imports.held_imports import RIGHT, change, check, held, run
from tests.integration.imports.import_requests import events, finish, retry, state
from tests.support.application.driver import World, request_messages
from tests.support.volumes import paired_imports
from tests.support.volumes.paired_imports import DAT_PATH, OPT_PATH


def test_held_imports_expire_by_their_own_clock_and_can_be_held_again(world: World) -> None:
    late, early, changed = held(), held(), held()
    world.query("UPDATE imports SET started_at = NOW(6) - INTERVAL 31 DAY WHERE id <> :id", id=early)
    world.query("UPDATE imports SET started_at = NOW(6) - INTERVAL 29 DAY WHERE id = :id", id=early)
    change(changed, 1, RIGHT)
    assert (expire_uploads(10), expire_uploads(10)) == (1, 0)
    expired = state(late)
    assert (expired.status, expired.failure_code, expired.actions) == ("failed", "HELD_TOO_LONG", ["options", "retry"])
    assert (state(early).status, state(changed).status) == ("uploaded", "uploaded")
    assert [each["code"] for each in events(world, "import.failed")] == ["HELD_TOO_LONG"]
    assert (retry(late).status, request_messages()) == ("uploaded", [])
    run(late)
    finish(world)
    assert state(late).status in ("completed", "completed_with_rejections", "failed")


@pytest.mark.parametrize("step", [check, run])
def test_expiry_leaves_what_was_started_meanwhile(world: World, step: Callable[[int], ImportState]) -> None:
    import_id = held(options=RIGHT)
    world.query("UPDATE imports SET started_at = NOW(6) - INTERVAL 31 DAY WHERE id = :id", id=import_id)
    overdue = upload_expiry._find_overdue(upload_expiry._HELD, 10)
    step(import_id)
    assert (overdue, upload_expiry._expire(upload_expiry._HELD, overdue)) == ([import_id], 0)
    finish(world)
    assert state(import_id).status in ("checked", "completed_with_rejections")


HOLD_IMAGES = "UPDATE imports SET status = 'uploaded', wanted = 'hold' WHERE id = :id"
AGE = "UPDATE imports SET {column} = NOW(6) - INTERVAL 31 DAY WHERE id = :id"


def test_images_expire_that_are_held_after_their_data_file_was_imported(world: World) -> None:
    """They share the clock of the data file until it has been imported for as long."""
    rows, images = paired_imports.announce(world, {DAT_PATH: b"BEGDOC\r\nA1\r\n", OPT_PATH: b"A1,V,1.tif,Y,,,\r\n"})
    world.query(HOLD_IMAGES, id=images)
    world.query(AGE.format(column="started_at"), id=images)
    assert expire_uploads(10) == 0
    paired_imports.finish(world, rows)
    assert (expire_uploads(10), state(images).status) == (0, "uploaded")
    world.query(AGE.format(column="finished_at"), id=rows)
    overdue = upload_expiry._find_overdue(upload_expiry._HELD, 10)
    with session() as transaction:
        upload_expiry._lock_before(transaction, overdue)
        free = [row[0] for row in world.query("SELECT id FROM imports ORDER BY id FOR UPDATE SKIP LOCKED")]
    assert (overdue, free) == ([images], [images]), "the data file is locked first"
    assert (expire_uploads(10), expire_uploads(10), state(images).failure_code) == (1, 0, "HELD_TOO_LONG")
    assert retry(images).status == "uploaded"
