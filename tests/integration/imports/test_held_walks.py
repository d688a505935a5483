"""Random walks through the states of a held import, with workers that are killed and messages that come again."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

import complete_import
import import_chunk
import start_import
from core.errors import ExhibitIngestError
from tests.integration.imports.held_imports import FILE, OTHER, RIGHT, WRONG, at_once, change, check, run
from tests.integration.imports.import_requests import announce, cancel, events, put, retry, state
from tests.support.application.driver import Message, World, call, completion_messages, request_messages
from tests.support.database.dump import Dump
from tests.support.faults.step_hooks import KilledError, at, at_every_step, kill

WALKS = int(os.environ.get("HELD_WALKS") or (500 if os.environ.get("RACE_COUNTS") == "full" else 20))
STEPS = 14
# Of a message to one of the functions, some are killed at one of the first statements.
KILLS, FIRST_STATEMENTS = 0.3, 60
CHOICES: list[dict[str, Any]] = [RIGHT, OTHER, WRONG]
ENDED = ("completed", "completed_with_rejections")


class Walk:
    """One import, what has been requested of it, and the messages that are under way."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.random = world, random.Random(seed)
        self.versions: list[dict[str, Any]] = [self.random.choice(CHOICES)]
        self.pending = announce(hold=True, case=f"Walk {seed}", options=self.versions[0])
        self.messages: list[tuple[Callable[..., Any], Message]] = [(start_import.lambda_handler, self._put())]
        self.sent = list(self.messages)
        self.confirmed = set[int]()

    def _put(self) -> Message:
        return put(self.pending, FILE)

    def step(self) -> None:
        """Take one step at random; what the state refuses is refused, and changes nothing."""
        seen = self.random.choice((len(self.versions), self.random.randint(1, len(self.versions))))
        steps: dict[str, Callable[[], object]] = {
            "change": lambda: self._change(seen),
            "check": lambda: check(self.pending.id, seen),
            "run": lambda: self._run(seen),
            "cancel": lambda: cancel(self.pending.id),
            "retry": lambda: retry(self.pending.id),
        }
        names = [*steps, *["deliver"] * 5]
        name = self.random.choice(names)
        if name == "deliver":
            self.deliver()
            return
        before = state(self.pending.id)
        try:
            steps[name]()
        except ExhibitIngestError:
            after = state(self.pending.id)
            assert (after.status, after.options_version, after.generation) == (
                before.status,
                before.options_version,
                before.generation,
            )

    def _change(self, seen: int) -> None:
        options = self.random.choice(CHOICES)
        assert change(self.pending.id, seen, options).options_version == len(self.versions) + 1
        self.versions.append(options)

    def _run(self, seen: int) -> None:
        run(self.pending.id, seen)
        assert seen == len(self.versions), "options that no user has seen"
        self.confirmed.add(seen)

    def deliver(self, *, kills: float = KILLS) -> None:
        """Deliver a message that is under way, or again one that was delivered."""
        self.collect()
        if not self.messages and not self.sent:
            return
        is_late = not self.messages or self.random.random() < 0.15
        handler, message = self.random.choice(self.sent if is_late else self.messages)
        killed_at = self.random.randint(1, FIRST_STATEMENTS) if self.random.random() < kills else 0
        try:
            with at_every_step(self.world, at(killed_at, kill)):
                acknowledged = call(handler, message)
        except KilledError:
            acknowledged = False
        if acknowledged and (handler, message) in self.messages:
            self.messages.remove((handler, message))

    def collect(self) -> None:
        """Take the messages that were sent."""
        found = [
            *((start_import.lambda_handler, each) for each in request_messages()),
            *((import_chunk.lambda_handler, each) for each in self.world.chunk_messages()),
            *((complete_import.lambda_handler, each) for each in completion_messages()),
        ]
        self.messages += found
        self.sent += found

    def drain(self) -> None:
        """Deliver all that is under way, without kills."""
        self.collect()
        while self.messages:
            self.deliver(kills=0)
            self.collect()

    def end(self) -> str:
        """Bring the import to its end, as a user would who runs it; return its last status."""
        self.drain()
        while (found := state(self.pending.id)).status not in ENDED:
            if found.status == "cancelled":
                retry(self.pending.id)
            elif found.status == "failed" or self.versions[-1] is WRONG:
                change(self.pending.id, len(self.versions), RIGHT)
                self.versions.append(RIGHT)
            else:
                self._run(len(self.versions))
            self.drain()
        return found.status


@pytest.fixture
def expected(world: World) -> Callable[[dict[str, Any]], Dump]:
    """Call it for what an import with these options at once leaves."""
    ids = {name: at_once(world, name, **options) for name, options in (("right", RIGHT), ("other", OTHER))}
    dumps = {name: world.dump(import_id) for name, import_id in ids.items()}
    return lambda options: dumps["right" if options is RIGHT else "other"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, WALKS + 1))
def test_a_walk_with_kills_imports_what_was_confirmed_exactly_once(
    world: World, expected: Callable[[dict[str, Any]], Dump], seed: int
) -> None:
    walk = Walk(world, seed)
    for _ in range(STEPS):
        walk.step()
        if not walk.confirmed:
            assert world.query(
                "SELECT COUNT(*) FROM exhibits e JOIN imports i ON i.case_id = e.case_id WHERE i.id = :id",
                id=walk.pending.id,
            ) == [(0,)]
    walk.end()
    ran = walk.versions[state(walk.pending.id).options_version - 1]
    assert state(walk.pending.id).options_version in walk.confirmed
    assert world.dump(walk.pending.id) == expected(ran)
    ended = [each for each in events(world, "import.completed") if each["importId"] == walk.pending.id]
    assert [each["generation"] for each in ended][-1] == state(walk.pending.id).generation
    found = state(walk.pending.id)
    assert found.imported + found.unchanged + found.updated + found.rejected == found.rows_seen == 3
