"""The run of a check is compared with the case that was checked, if that is required, and with the check afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import WrongStateError
from tests.integration.imports.import_requests import (
    ACCEPT,
    CALLER,
    THREE,
    announce,
    checked,
    details,
    finish,
    put,
    run,
    run_chunks,
    start,
)
from tests.support.api.client import Client
from tests.support.application.driver import World

HELD = b"Control Number,Title,Custodian\r\nA-1,one,Smith\r\nA-2,two,Smith\r\n"
CLIENT = Client(tenant=CALLER.tenant_id, user=CALLER.user_id)


def overlay(world: World) -> None:
    """Have another import change an exhibit."""
    pending = announce(options={"mode": "overlay"})
    assert start(put(pending, b"Control Number,Title\r\nA-1,uno\r\n"))
    run_chunks(world)


def edit(world: World) -> None:
    """Have a user change an exhibit."""
    [(exhibit,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    assert CLIENT.patch(f"/exhibits/{exhibit}", {"title": "uno"}, 1).status == 200


def tag(world: World) -> None:
    """Have a user tag an exhibit."""
    [(exhibit,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    assert CLIENT.post("/taggings", {"exhibitIds": [exhibit], "tags": ["hot"]}).status == 200


def exchange(world: World) -> None:
    """Add an exhibit and delete another one, so that their number is the same."""
    world.run(b"Control Number\r\nA-9\r\n")
    world.query(
        "DELETE FROM custodian_exhibits WHERE exhibit_id = (SELECT id FROM exhibits WHERE control_number = 'A-2')"
    )
    world.query("DELETE FROM exhibits WHERE control_number = 'A-2'")


@pytest.mark.parametrize("change", [overlay, edit, tag, exchange])
def test_a_case_that_is_required_to_be_unchanged_is_one_without_any_change_of_an_exhibit(
    world: World, change: Callable[[World], None]
) -> None:
    world.run(HELD)
    import_id = checked(world, THREE.replace(b"A-", b"B-"))
    change(world)
    with pytest.raises(WrongStateError, match="added to the case, changed or deleted"):
        run(import_id, requireUnchanged=True)
    unchanged = checked(world, THREE.replace(b"A-", b"C-"))
    world.run(HELD.replace(b"A-", b"X-"), case="Another")
    assert run(unchanged, requireUnchanged=True).status == "running"


def reasons(world: World, import_id: int) -> list[str]:
    """The messages that say that an import differs from its check."""
    query = "SELECT message FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK' AND import_id = :id"
    return [message for (message,) in world.query(query, id=import_id)]


def test_rows_that_exchange_their_results_differ_from_the_check_although_the_counts_are_equal(world: World) -> None:
    world.run(b"Control Number,Title\r\nA-2,other\r\n")
    import_id = checked(world, b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n")
    world.run(b"Control Number,Title\r\nA-1,other\r\n")
    world.query("DELETE FROM exhibits WHERE control_number = 'A-2'")
    run(import_id, **ACCEPT)
    finish(world)
    [message] = reasons(world, import_id)
    assert message.startswith("the check found another result: other rows in 1 of the chunks, the first from line 2;")


def test_a_warning_that_the_check_did_not_have_is_reported(world: World) -> None:
    import_id = checked(world, THREE)
    check = details(import_id).check
    assert check is not None
    assert check.status == "ok"
    world.run(b"Control Number,Custodian\r\nZ-1,SMITH\r\n")
    run(import_id)
    finish(world)
    [message] = reasons(world, import_id)
    assert "new custodians 2 instead of 3, NAME_MERGED 1 instead of 0;" in message


def test_a_table_without_rows_is_run_as_it_was_checked(world: World) -> None:
    import_id = checked(world, b"Control Number,Title\r\n")
    run(import_id, acknowledgeWarnings=True)
    finish(world)
    assert (details(import_id).status, reasons(world, import_id)) == ("completed", [])
