"""What one seed does: its files, its callers, its faults and when they strike. Drawn from the seed and nothing else.

Guarantees: the same seed draws the same plan. Not that it goes the same way: when processes meet is the machine's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from samples.dialects import DIALECTS, ENCODINGS
from samples.spec import STRUCTURAL, Fault, FaultKind, Spec, SpecError, check, supports
from samples.strategies import quotings
from samples.words import Alphabet
from tests.torture.faulty_proxy import OF_COMMITS, Injection
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
    """At the n-th time, from 1, that a worker of the function comes to the point."""

    function: str
    label: str
    is_after: bool
    nth: int
    action: Action
    seconds: float = 0.0


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
class FilePlan:
    """A load file: how it comes in, and what its uploader does meanwhile."""

    case: str
    spec: Spec
    is_announced: bool
    is_twice: bool
    is_cancelled: bool


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
    files = tuple(_file(draw, number) for number in range(draw.randint(2, 3)))
    points = tuple(_point(draw) for _ in range(draw.randint(6, 12)))
    statements = tuple(_statement(draw, kind) for kind in _in_turn(draw, list(Injection), seed, draw.randint(2, 4)))
    troubles = tuple(
        TroubleFault(draw.randint(2, 60), kind) for kind in _in_turn(draw, list(Trouble), seed, draw.randint(1, 2))
    )
    copies = draw.choice((1, 2, 3))
    aimed = _aimed(random.Random(f"{seed} aimed"), is_cancelled=any(file.is_cancelled for file in files))
    more = _storm(random.Random(f"{seed} storm"), storm)
    at_ends = _at_completions(random.Random(f"{seed} completions"))
    made = Plan(seed, files, (*points, *aimed, *at_ends), (*statements, *more), troubles, copies)
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


def _file(draw: random.Random, number: int) -> FilePlan:
    is_twice = draw.random() < 0.25
    return FilePlan(
        case=f"Case {number}",
        spec=_spec(draw),
        is_announced=draw.random() < 0.5,
        is_twice=is_twice,
        is_cancelled=not is_twice and draw.random() < 0.25,
    )


def _spec(draw: random.Random) -> Spec:
    """A file of any dialect and encoding, clean or damaged; drawn again where there can be no such file."""
    while True:
        made = _any_spec(draw)
        try:
            check(made)
        except SpecError:
            continue
        return made


def _any_spec(draw: random.Random) -> Spec:
    dialect = draw.choice(DIALECTS)
    bare = Spec(
        rows=draw.randint(8, 40),
        seed=draw.randrange(2**32),
        dialect=dialect,
        quoting=draw.choice(quotings(dialect)),
        encoding=draw.choice(ENCODINGS),
        newline=draw.choice(("\r\n", "\n")),
        header=draw.random() < 0.8,
        alphabets=frozenset(draw.sample(list(Alphabet), draw.randint(0, 3))),
        embedded_newlines=draw.random() < 0.5,
        custodians=draw.randint(1, 6),
        hot_custodian=draw.choice((None, "Hot, Harriet")),
    )
    kinds = [kind for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY and supports(bare, kind)]
    faults = draw.choices(kinds, k=draw.randint(0, 4)) if kinds else []
    return replace(bare, faults=tuple(Fault(kind) for kind in faults if bare.header or kind not in STRUCTURAL))
