"""What one seed does: its files, its callers, its faults and when they strike. Drawn from the seed and nothing else.

Guarantees: the same seed draws the same plan. Not that it goes the same way: when processes meet is the machine's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from tests.torture.faults.faulty_proxy import OF_COMMITS, Injection
from tests.torture.faults.planned_faults import PointFault, draw_aimed, draw_point
from tests.torture.plans.cases import CaseStep, draw_case_steps
from tests.torture.plans.corrections import CorrectionCasePlan, draw_corrections
from tests.torture.plans.held import HeldPlan, draw_held
from tests.torture.plans.load_files import FilePlan, draw_checked_files, draw_file
from tests.torture.plans.moves import MoveStep, draw_move
from tests.torture.plans.overlays import Step, draw_steps
from tests.torture.plans.purges import PurgePlan, draw_purges
from tests.torture.plans.repeats import RepeatStep, draw_repeats
from tests.torture.plans.suspensions import SuspensionPlan, draw_suspensions
from tests.torture.plans.volumes import VolumeCasePlan, draw_volume_cases

T = TypeVar("T")

# Who is at work in a seed: "base" on the documents of one case, "contention" for names that several need at once.
CLIENTS = frozenset(
    {
        *("files", "base", "custody", "contention", "profiles", "volumes"),
        *("corrections", "held", "overlays", "cases", "purges", "suspensions", "repeats", "moves"),
    }
)

# How many statements of a kind there are at least in most seeds.
STORM = {"write": 500, "lock": 200, "savepoint": 15, "change": 250}


class Trouble(Enum):
    """What happens to the servers."""

    RESTART = "MySQL is restarted"
    CRASH = "MySQL is killed and started"
    READ_ONLY = "MySQL turns read-only, and back"
    FAILOVER = "MySQL fails over: who is connected keeps the old server, which can only be read"
    CONNECTIONS = "connections are killed"
    TOO_MANY = "logins hear that there are too many"
    OUTAGE = "no database for half an hour, in scaled time"
    REDIS_KILLED = "Redis is killed and started, empty"
    REDIS_FLUSHED = "Redis forgets everything"
    REDIS_PAUSED = "Redis answers nothing for a while"


@dataclass(frozen=True)
class StatementFault:
    """At the n-th statement, from 1, of the kind: write, bulk, lock, read, commit, savepoint, or change.

    A change is a COMMIT of what was written.
    """

    kind: str
    nth: int
    injection: Injection


@dataclass(frozen=True)
class TroubleFault:
    """After the n-th commit of all workers."""

    nth: int
    trouble: Trouble


@dataclass(frozen=True)
class Plan:
    """All of one seed."""

    seed: int
    files: tuple[FilePlan, ...]
    points: tuple[PointFault, ...]
    statements: tuple[StatementFault, ...]
    troubles: tuple[TroubleFault, ...]
    copies: int
    steps: tuple[Step, ...] = ()
    volumes: tuple[VolumeCasePlan, ...] = ()
    corrections: tuple[CorrectionCasePlan, ...] = ()
    held: HeldPlan | None = None
    cases: tuple[CaseStep, ...] = ()
    purges: tuple[PurgePlan, ...] = ()
    suspensions: tuple[SuspensionPlan, ...] = ()
    repeats: tuple[RepeatStep, ...] = ()
    moves: tuple[MoveStep, ...] = ()
    clients: frozenset[str] = CLIENTS

    @property
    def tenant(self) -> str:
        """Whose all of it is."""
        return f"seed-{self.seed}"


def plan_of(seed: int, *, with_faults: bool = True, storm: int = 0) -> Plan:
    """The seed's plan; each kind of trouble and of injection comes in turn, and others beside it by chance.

    With a storm there are so many more deadlocks and as many more lost COMMITs.
    """
    draw = random.Random(seed)
    files = tuple(draw_file(draw, number) for number in range(draw.randint(2, 3)))
    points = tuple(draw_point(draw) for _ in range(draw.randint(6, 12)))
    statements = tuple(_statement(draw, kind) for kind in _in_turn(draw, list(Injection), seed, draw.randint(2, 4)))
    troubles = tuple(
        TroubleFault(draw.randint(2, 60), kind) for kind in _in_turn(draw, list(Trouble), seed, draw.randint(1, 2))
    )
    copies = draw.choice((1, 2, 3))
    more = _storm(random.Random(f"{seed} storm"), storm)
    checked = tuple(draw_checked_files(random.Random(f"{seed} checked")))
    has_copy = copies > 1 and not checked[0].is_twice
    is_cancelled = any(file.is_cancelled for file in files)
    points = (*points, *draw_aimed(seed, is_cancelled=is_cancelled, has_copy=has_copy, copies=copies))
    steps = tuple(draw_steps(random.Random(f"{seed} overlays")))
    volumes = tuple(draw_volume_cases(random.Random(f"{seed} volumes"), random.Random(f"{seed} held volumes")))
    made = Plan(seed, (*files, *checked), points, (*statements, *more), troubles, copies, steps, volumes)
    corrections = tuple(draw_corrections(random.Random(f"{seed} corrections")))
    made = replace(made, corrections=corrections, held=draw_held(random.Random(f"{seed} held")))
    made = replace(
        made,
        cases=tuple(draw_case_steps(random.Random(f"{seed} cases"))),
        purges=tuple(draw_purges(random.Random(f"{seed} purges"))),
        suspensions=tuple(draw_suspensions(random.Random(f"{seed} suspensions"))),
        repeats=tuple(draw_repeats(random.Random(f"{seed} repeats"))),
        moves=tuple(draw_move(random.Random(f"{seed} moves"))),
    )
    return made if with_faults else replace(made, points=(), statements=(), troubles=(), copies=1)


def _storm(draw: random.Random, count: int) -> Iterator[StatementFault]:
    """Deadlocks within SAVEPOINTs and outside, and lost COMMITs of what was written, executed or not."""
    for _ in range(count):
        kind = draw.choice(("write", "write", "lock", "savepoint"))
        yield StatementFault(kind, draw.randint(1, STORM[kind]), Injection.DEADLOCK)
        lost = draw.choice((Injection.LOSE_COMMIT_ANSWER, Injection.LOSE_COMMIT_REQUEST))
        yield StatementFault("change", draw.randint(1, STORM["change"]), lost)


def _in_turn(draw: random.Random, kinds: Sequence[T], seed: int, count: int) -> list[T]:
    return [kinds[seed % len(kinds)], *(draw.choice(kinds) for _ in range(count - 1))]


def _statement(draw: random.Random, injection: Injection) -> StatementFault:
    kind = (
        "commit" if injection in OF_COMMITS else draw.choice(("write", "write", "lock", "read", "commit", "savepoint"))
    )
    if injection in (Injection.DISK_FULL, Injection.TABLE_FULL, Injection.LOCK_WAIT, Injection.DEADLOCK):
        kind = draw.choice(("write", "write", "lock", "savepoint")) if kind == "commit" else kind
    if injection is Injection.PACKET_TOO_LARGE:
        # Of the statements that are sent, those alone grow with what they carry.
        kind = "bulk"
    return StatementFault(kind, draw.randint(1, 40), injection)
