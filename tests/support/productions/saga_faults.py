"""The saga's steps with something around them: faults, a cancellation, a kill; and how a production may end.

Points are named: `copy:2` is the second part of a step, `undo copy` what undoes it; before it is done, or after, when
its effect is there and its checkpoint is not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from sqlalchemy.exc import DataError

from core.errors import InvalidInputError, StorageUnavailableError, WrongStateError
from core.saga import PART, SagaContext, SagaStep
from shell.aws.durable_execution import durable_handler
from shell.productions.queries import get_production
from shell.productions.saga import STEPS, produce
from tests.support.application.driver import World
from tests.support.productions.runs import (
    CALLER,
    MANIFESTS,
    Handler,
    cancel,
    documents_of,
    objects_of,
    status_of,
    steps_of,
)

# Two documents, each of them a part: two parts of copies, one of load files, and one that reads them back.
NUMBERS = ("DOC-1", "DOC-2")
PART_SIZE = 1
FORWARD = ("begin", "reserve", "copy:1", "copy:2", "copy:3", "copy:4", "confirm", "notify")
BACKWARD = ("undo copy", "undo reserve", "undo begin")
VOLUME = {
    *(f"{kind}/000{n}/{{0}}000000{n}.{end}" for n in (1, 2) for kind, end in (("NATIVES", "docx"), ("TEXT", "txt"))),
    "DATA/VOL001.dat",
}
MARKER = "Zq7-secret-never-logged"


class Point(NamedTuple):
    """A place in a run of the saga."""

    name: str
    after: bool = False

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} {self.name}"


Hook = Callable[[Point], object]


def around(hook: Hook, steps: Sequence[SagaStep] = STEPS) -> tuple[SagaStep, ...]:
    """The steps, with the hook called at each point that a run comes to."""
    return tuple(
        replace(
            step,
            execute=partial(_forward, step, hook),
            compensate=partial(_backward, step, hook) if step.compensate else None,
        )
        for step in steps
    )


def _forward(step: SagaStep, hook: Hook, context: SagaContext) -> SagaContext:
    name = f"copy:{context[PART] + 1}" if step.name == "copy" else step.name
    hook(Point(name))
    result = step.execute(context)
    hook(Point(name, after=True))
    return result


def _backward(step: SagaStep, hook: Hook, context: SagaContext) -> None:
    assert step.compensate
    hook(Point(f"undo {step.name}"))
    step.compensate(context)
    hook(Point(f"undo {step.name}", after=True))


def handler_of(steps: Sequence[SagaStep]) -> Handler:
    """The function `produce` with other steps."""
    return durable_handler(partial(produce, saga_steps=steps))


ERRORS: dict[str, Callable[[], Exception]] = {
    "refused": lambda: InvalidInputError("refused"),
    # A driver that quotes values.
    "unexpected": lambda: DataError(f"INSERT '{MARKER}'", {"title": MARKER}, Exception(1406, f"too long: '{MARKER}'")),
    "unavailable": StorageUnavailableError,
}


@dataclass(frozen=True)
class Fault:
    """An error of a kind at a point, so many times, or always."""

    at: str
    kind: str = "refused"
    after: bool = False
    times: int | None = None

    def __str__(self) -> str:
        often = "" if self.times is None else f" x{self.times}"
        return f"{self.kind}{often} {Point(self.at, self.after)}"


@dataclass
class Faulty:
    """Faults, and how often each point was come to."""

    faults: tuple[Fault, ...]
    tried: Counter[Point] = field(default_factory=Counter)

    def __call__(self, point: Point) -> None:
        """Fail, if that is what happens here."""
        self.tried[point] += 1
        for fault in self.faults:
            if (fault.at, fault.after) == point and (fault.times is None or self.tried[point] <= fault.times):
                raise ERRORS[fault.kind]()


def failing(*faults: Fault) -> Handler:
    """The function with these faults."""
    return handler_of(around(Faulty(faults)))


def events_of(world: World, production_id: int) -> list[str]:
    """The kinds of the production's events but for the request, in their order."""
    rows = world.query(
        "SELECT event_type FROM outbox_events WHERE aggregate_type = 'production' AND aggregate_id = :p ORDER BY id",
        p=str(production_id),
    )
    return [kind for row in rows if (kind := row.event_type.removeprefix("production.")) != "requested"]


def left_of(production_id: int) -> list[str]:
    """What GET says is left to do, by the steps that it belongs to."""
    said = get_production(CALLER, production_id).remaining_actions
    words = {"cancel": "begin", "record": "reserve", "delete": "copy", "notify": "notify"}
    return sorted(words[each.split()[0]] for each in said)


def given_out(world: World, prefix: str) -> int:
    """How many numbers of the prefix were given out."""
    rows = world.query("SELECT next_number - 1 FROM bates_sequences WHERE prefix = :p", p=prefix)
    return int(rows[0][0]) if rows else 0


def assert_confirmed(world: World, production_id: int, prefix: str = "ACME") -> None:
    """It is confirmed, and everything of that is there exactly once."""
    assert status_of(world, production_id) == "confirmed"
    assert set(steps_of(world, production_id).values()) == {"completed"}
    assert documents_of(world, production_id) == [(n, n, "produced") for n in (1, 2)]
    assert given_out(world, prefix) == len(NUMBERS)
    assert events_of(world, production_id).count("confirmed") == 1
    assert "cancelled" not in events_of(world, production_id)
    objects = objects_of(world, production_id)
    assert set(objects) == {"VOL001/" + name.format(prefix) for name in VOLUME} | MANIFESTS | {".manifest/0002.csv"}
    assert objects[f"VOL001/NATIVES/0002/{prefix}0000002.docx"] == b"native of DOC-2"
    assert is_closed(world, production_id)


def assert_cancelled(world: World, production_id: int, prefix: str = "ACME") -> None:
    """It is cancelled: none of its numbers is in use, all that were given out are void, and no object is left."""
    assert status_of(world, production_id) == "cancelled"
    documents = documents_of(world, production_id)
    assert documents in ([], [(n, n, "void") for n in (1, 2)])
    assert given_out(world, prefix) == len(documents)
    assert events_of(world, production_id).count("cancelled") == 1
    assert "confirmed" not in events_of(world, production_id)
    assert objects_of(world, production_id) == {}
    states = steps_of(world, production_id)
    assert {states[name] for name in ("begin", "reserve", "copy")} <= {"pending", "compensated"}
    assert is_closed(world, production_id)


def assert_needs_attention(world: World, production_id: int, left: Sequence[str]) -> None:
    """An operator has to see to exactly these steps: the event, GET and the result say the same."""
    assert status_of(world, production_id) == "needs_attention"
    assert events_of(world, production_id).count("needs_attention") == 1
    assert events_left(world, production_id) == sorted(left) == left_of(production_id)
    assert is_closed(world, production_id)


def events_left(world: World, production_id: int) -> list[str]:
    """What the event says is left."""
    rows = world.query(
        "SELECT payload FROM outbox_events WHERE event_type = 'production.needs_attention' AND aggregate_id = :p",
        p=str(production_id),
    )
    return sorted(json.loads(rows[0].payload)["unfinished"])


def is_closed(world: World, production_id: int) -> bool:
    """Whether no execution is expected any more."""
    return not world.query("SELECT is_open FROM productions WHERE id = :p", p=production_id)[0][0]


def nothing(_point: Point) -> None:
    """Nothing happens."""


def letters(number: int) -> str:
    """A prefix for each number, in letters."""
    return "P" + "".join(chr(65 + int(digit)) for digit in str(number)) + "X"


def both(first: Hook, second: Hook) -> Hook:
    """Two hooks as one."""

    def hook(point: Point) -> None:
        first(point)
        second(point)

    return hook


def cancelled_or_refused(production_id: int) -> bool:
    """Ask for the production to be undone; False if that is refused because it is too late."""
    try:
        cancel(production_id)
    except WrongStateError:
        return False
    return True
