"""Requests of one user do not wait for each other's transactions because of the user's name."""

from __future__ import annotations

import pytest

from core.caller import Caller
from tests.support.api.name_processes import send_all, write_name, write_nothing
from tests.support.application.driver import World

USERS = 20
CALLER = Caller("acme", "service", user_name="Service account")


@pytest.mark.slow
def test_twenty_changes_of_one_user_are_in_their_transactions_at_once(world: World) -> None:
    assert send_all(world.environment, USERS, CALLER, write_nothing) == [True] * USERS
    assert world.query("SELECT tenant_id, user_id, name FROM users") == [("acme", "service", "Service account")]


def test_an_upsert_in_their_transactions_makes_them_wait(world: World) -> None:
    """The negative control, also where the name is stored already and does not change."""
    assert send_all(world.environment, 2, CALLER, write_name, patience_s=2) == [False, False]
