"""What one seed does: its files, its callers, its faults and when they strike. Drawn from the seed and nothing else.

Guarantees: the same seed draws the same plan. Not that it goes the same way: when processes meet is the machine's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from tests.torture.faulty_proxy import OF_COMMITS, Injection
from tests.torture.file_plans import FilePlan, draw_checked_files, draw_file
from tests.torture.points import CALLS, LABELS, Action

T = TypeVar("T")
AT_WORK = (
    *("ImportChunkFunction",) * 4,
    *("PublishOutboxFunction",) * 3,
    *("StartImportFunction",) * 2,
    *("ProduceFunction",) * 2,
    *("WriteImportReportFunction", "StartProductionFunction", "ExhibitsApiFunction", "CustodyApiFunction"),
    *("ImportsApiFunction", "ProductionsApiFunction", "CustodiansApiFunction", "SettleFailedChunkFunction"),
    *("SettleFailedImportFunction", "ResumeProductionsFunction", "PurgeExpiredFunction"),
)

# How many statements of a kind there are at least in most seeds.
STORM = {"write": 500, "lock": 200, "savepoint": 15, "change": 250}
# Those who are asked most under keys: an owner is late behind its claim, and the key may be another's by then.
KEYED = ("ImportsApiFunction", "ProductionsApiFunction", "ExhibitsApiFunction", "CustodyApiFunction")
CHECKING = ("ImportChecksApiFunction", "ProfilesApiFunction")
# Who adds the first row of something that others may be adding at once; at which times it may be late, and how often it
# is. Of two at once one alone is: where both are, a deadlock ends what a unique key would have.
MINTING = {
    "ProduceFunction": ((1, 2), 1),
    "CustodyApiFunction": (range(1, 6), 2),
    "CustodiansApiFunction": (range(1, 7), 1),
    "ImportChunkFunction": (range(1, 9), 1),
}


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
class PointFault:
    """At the n-th time, from 1, that a worker of the function comes to the point.

    A worker that is stopped continues after so many seconds, or as soon as any worker has passed the point `until`.
    """

    function: str
    label: str
    is_after: bool
    nth: int
    action: Action
    seconds: float = 0.0
    until: str = ""


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
    points = tuple(_point(draw) for _ in range(draw.randint(6, 12)))
    statements = tuple(_statement(draw, kind) for kind in _in_turn(draw, list(Injection), seed, draw.randint(2, 4)))
    troubles = tuple(
        TroubleFault(draw.randint(2, 60), kind) for kind in _in_turn(draw, list(Trouble), seed, draw.randint(1, 2))
    )
    copies = draw.choice((1, 2, 3))
    aimed = _aimed(random.Random(f"{seed} aimed"), is_cancelled=any(file.is_cancelled for file in files))
    more = _storm(random.Random(f"{seed} storm"), storm)
    at_ends = _at_completions(random.Random(f"{seed} completions"))
    checked = tuple(draw_checked_files(random.Random(f"{seed} checked")))
    has_copy = copies > 1 and not checked[0].is_twice
    at_checks = _at_checks(random.Random(f"{seed} checks"), has_copy=has_copy)
    points = (*points, *aimed, *at_ends, *at_checks)
    made = Plan(seed, (*files, *checked), points, (*statements, *more), troubles, copies)
    return made if with_faults else replace(made, points=(), statements=(), troubles=(), copies=1)


def _storm(draw: random.Random, count: int) -> Iterator[StatementFault]:
    """Deadlocks within SAVEPOINTs and outside, and lost COMMITs of what was written, executed or not."""
    for _ in range(count):
        kind = draw.choice(("write", "write", "lock", "savepoint"))
        yield StatementFault(kind, draw.randint(1, STORM[kind]), Injection.DEADLOCK)
        lost = draw.choice((Injection.LOSE_COMMIT_ANSWER, Injection.LOSE_COMMIT_REQUEST))
        yield StatementFault("change", draw.randint(1, STORM["change"]), lost)


def _aimed(draw: random.Random, *, is_cancelled: bool) -> Iterator[PointFault]:
    """Where chance alone seldom strikes.

    Who saw that something is not there yet adds it late; a step or a chunk is done and not noted down; the answer of a
    request's COMMIT is lost; who numbers, owns a key or splits a file is outrun; an event is with a publisher that
    died, or that has not said which it takes, when the next one of its aggregate comes. Chunks that are under way when
    a user cancels their import go on soon enough to be seen. A worker dies after it registers chunks and before it
    sends their messages, and after it changes an exhibit and before it writes the history of that.
    """
    for function in KEYED:
        yield PointFault(function, "owned", True, draw.randint(1, 8), Action.STOP, 3.0)
    for nth in draw.sample(range(1, 25), 5 if is_cancelled else 0):
        yield PointFault("ImportChunkFunction", "claim", True, nth, Action.STOP, 0.7)
    yield PointFault("ProduceFunction", "number", False, draw.randint(1, 3), Action.STOP, 3.0)
    for _ in range(2):
        yield PointFault("ProduceFunction", "note", False, draw.randint(1, 40), Action.DIE)
        function = draw.choice([name for name in AT_WORK if "Api" in name])
        yield PointFault(function, "write", False, draw.randint(1, 12), Action.STOP, 3.0)
        yield PointFault("PublishOutboxFunction", "publish", False, draw.randint(1, 20), Action.DIE)
    for function, (times, late) in MINTING.items():
        for nth in draw.sample(times, late):
            yield PointFault(function, "mint", False, nth, Action.STOP, 1.5)
    for nth in draw.sample(range(1, 9), 2):
        yield PointFault("StartImportFunction", "fetch", True, nth, Action.STOP, 1.0)
    for nth in draw.sample(range(1, 40), 3):
        yield PointFault("PublishOutboxFunction", "claim", True, nth, Action.STOP, 1.5)
    yield PointFault("ImportChunkFunction", "commit", draw.random() < 0.5, draw.randint(1, 20), Action.DIE)
    yield PointFault("ProduceFunction", "numbered", True, draw.randint(1, 4), Action.DIE)
    yield PointFault("ProduceFunction", "told", True, draw.randint(1, 4), Action.DIE)
    for function in KEYED:
        yield PointFault(function, "answered", False, draw.randint(1, 8), Action.LOSE)
    # Either at its first time: a worker that is late is missing where two have to meet.
    yield PointFault("ProduceFunction", draw.choice(("place", "number")), False, 1, Action.STOP, 3.0)
    yield PointFault("StartImportFunction", "publish", False, draw.randint(1, 3), Action.DIE)
    yield PointFault("ExhibitsApiFunction", "record", False, draw.randint(1, 12), Action.DIE)


def _at_completions(draw: random.Random) -> Iterator[PointFault]:
    """Any fault at the completions of imports; and a chunk is counted down by a worker that dies, or has died before.

    Between two transactions a completion is late: a user may cancel its import meanwhile.
    """
    for _ in range(3):
        yield replace(_point(draw), function="CompleteImportFunction", nth=draw.randint(1, 12))
    for nth in draw.sample(range(1, 5), 2):
        yield PointFault("CompleteImportFunction", "commit", True, nth, Action.STOP, 1.0)
    for nth in draw.sample(range(1, 15), 3):
        yield PointFault("ImportChunkFunction", "counted", draw.random() < 0.7, nth, Action.DIE)


def _at_checks(draw: random.Random, *, has_copy: bool) -> Iterator[PointFault]:
    """Draw any faults at the functions of checks and profiles, and some where their protections act.

    A worker that checks a chunk, or ends a check, dies beside the commit of what it found. One that has read a chunk
    to check it continues once the file's import was requested; another one has to have a copy of its message. The owner
    of a key is late, and the answer of a request is lost.
    """
    for function in CHECKING:
        yield replace(_point(draw), function=function, nth=draw.randint(1, 6))
        yield PointFault(function, "owned", True, draw.randint(1, 4), Action.STOP, 3.0)
        yield PointFault(function, "answered", False, draw.randint(1, 4), Action.LOSE)
    yield PointFault("ProfilesApiFunction", "mint", False, 1, Action.STOP, 1.5)
    yield PointFault("ImportChunkFunction", "found", draw.random() < 0.5, draw.randint(1, 6), Action.DIE)
    yield PointFault("CompleteImportFunction", "found", True, draw.randint(1, 2), Action.DIE)
    if has_copy:
        yield PointFault("ImportChunkFunction", "examine", True, 1, Action.STOP, 5.0, until="ran")


def _in_turn(draw: random.Random, kinds: Sequence[T], seed: int, count: int) -> list[T]:
    return [kinds[seed % len(kinds)], *(draw.choice(kinds) for _ in range(count - 1))]


def _point(draw: random.Random) -> PointFault:
    label, function = draw.choice(LABELS), draw.choice(AT_WORK)
    of_all = [*[Action.DIE] * 4, *[Action.STOP] * 4, Action.HANG]
    calls = [Action.FAIL, Action.THROTTLE, Action.LOSE] if label in CALLS else []
    calls += [Action.PART] if label == "publish" else []
    action = draw.choice([*of_all, *calls * 3])
    # Behind its answer a worker has no time-out: it would hang until the next invocation's.
    is_before = label == "begin" or action in calls or (label, action) == ("acknowledge", Action.HANG)
    is_after = draw.random() < 0.5 and not is_before
    # Past the leases, or a moment.
    seconds = draw.choice((0.2, 1.0, 3.0)) if action is Action.STOP else 0.0
    return PointFault(function, label, is_after, draw.randint(1, 8), action, seconds)


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
