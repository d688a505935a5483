"""Purges from the request to the end, with the pauses left out."""

from __future__ import annotations

from typing import Any

from core.purges.certificate import Certificate
from shell.purges import run
from tests.support.application.driver import World


def request(world: World, case_id: int) -> None:
    """Close the case and request its purge, of which the day has come."""
    world.query(
        "UPDATE cases SET status = 'closed', purge_after = UTC_DATE(), purge_requested_by = 'user-1', "
        "purge_requested_at = NOW(6) WHERE id = :case_id",
        case_id=case_id,
    )


def end_pauses(world: World) -> None:
    """Let workers take the purges at once."""
    world.query("UPDATE case_purges SET next_at = NOW(6)")


def has_ended(world: World, case_id: int) -> bool:
    """Whether the purge is at its end."""
    rows: Any = world.query("SELECT ended_at FROM case_purges WHERE case_id = :case_id", case_id=case_id)
    return bool(rows) and rows[0].ended_at is not None


def purge(world: World, case_id: int) -> Certificate:
    """Purge the case; returns the stored certificate."""
    request(world, case_id)
    return drive(world, case_id)


def drive(world: World, case_id: int) -> Certificate:
    """Take a purge to its end; returns the stored certificate."""
    for _ in range(20):
        run.take_purges_on()
        if has_ended(world, case_id):
            return stored(world, case_id)
        end_pauses(world)
    raise AssertionError("the purge does not end")


def stored(world: World, case_id: int) -> Certificate:
    """The stored certificate."""
    [row] = world.query("SELECT details FROM case_changes WHERE case_id = :c AND kind = 'purged'", c=case_id)
    return Certificate.model_validate_json(row.details)
