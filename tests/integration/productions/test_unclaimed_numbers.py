"""The numbers of productions that a version without claims confirmed are found after the next maintenance."""

from __future__ import annotations

from typing import Any

import purge_expired
from shell.maintenance import unclaimed_numbers
from shell.productions.steps import PRODUCTION, reserve
from tests.support.application.driver import Context, World
from tests.support.productions.runs import ask, execute, put_documents


def claims(world: World) -> list[tuple[Any, ...]]:
    """All claims of the database."""
    return [tuple(row) for row in world.query("SELECT * FROM production_numbers ORDER BY production_id, exhibit_id")]


def test_what_an_earlier_version_confirms_after_the_migration_is_claimed(world: World) -> None:
    """It neither reads nor writes the table; the migration may have claimed a part of what it confirmed meanwhile."""
    put_documents(world, ["A-1", "A-2", "A-3"])
    execute(ask())
    execute(ask(prefix="OLD", volume="VOL002"))
    reserve({PRODUCTION: ask(prefix="OTHER", volume="VOL003")})
    confirmed = claims(world)
    assert len(confirmed) == 6
    world.query("UPDATE productions SET updated_at = NOW(6) - INTERVAL 40 DAY WHERE prefix = 'OLD'")
    world.query("DELETE FROM production_numbers WHERE bates_begin LIKE 'OLD%' OR bates_begin = 'ACME0000002'")
    for _ in range(2):
        purge_expired.lambda_handler({}, Context())
        assert claims(world) == confirmed


def test_the_numbers_of_a_case_that_is_being_purged_are_not_claimed(world: World) -> None:
    put_documents(world, ["A-1"])
    production_id = ask()
    execute(production_id)
    world.query("DELETE FROM production_numbers")
    for status in ("purging", "purged"):
        world.query("UPDATE cases SET status = :status", status=status)
        purge_expired.lambda_handler({}, Context())
        # As if the purge had begun after the production was listed.
        unclaimed_numbers._claim(production_id)
        assert claims(world) == []
    world.query("UPDATE cases SET status = 'closed'")
    unclaimed_numbers._claim(production_id)
    assert len(claims(world)) == 1
