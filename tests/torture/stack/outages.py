"""What befalls the servers while a seed runs, in threads of its own: each trouble is over before the seed is."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Sequence

from tests.support.servers.redis_server import RedisServer
from tests.torture.faults.faulty_proxy import Injection
from tests.torture.plans.seed import StatementFault, Trouble, TroubleFault
from tests.torture.stack.database_server import TorturedDatabase

OUTAGE_S = 1800
LARGE_BYTES = 3_000
_KINDS = {
    "write": re.compile(rb"\s*(?:INSERT|UPDATE|DELETE)\b", re.IGNORECASE),
    "lock": re.compile(rb".*\bFOR UPDATE\b", re.IGNORECASE | re.DOTALL),
    "read": re.compile(rb"\s*SELECT\b", re.IGNORECASE),
    "commit": re.compile(rb"COMMIT$"),
    "bulk": re.compile(rb"\s*INSERT (?:IGNORE )?INTO (?:exhibits|custodian_exhibits|taggings|import_)", re.IGNORECASE),
}


class Statements:
    """Which statement gets which injection; a statement in a SAVEPOINT is any that follows one before its release."""

    def __init__(self, faults: Sequence[StatementFault]) -> None:
        self._left = list(faults)
        self._lock = threading.Lock()
        self._visits: Counter[str] = Counter()
        self._of_connection = threading.local()

    def decide(self, statement: bytes) -> Injection | None:
        """Called in the thread of the statement's connection."""
        kinds = [kind for kind, pattern in _KINDS.items() if pattern.match(statement)]
        if self._is_nested(statement):
            kinds.append("savepoint")
        if self._ends_a_change(statement):
            kinds.append("change")
        with self._lock:
            self._visits.update(kinds)
            for fault in self._left:
                due = fault.kind in kinds and self._visits[fault.kind] >= fault.nth
                if due and _can_befall(fault.injection, statement):
                    self._left.remove(fault)
                    return fault.injection
        return None

    def _is_nested(self, statement: bytes) -> bool:
        word = statement.split(None, 1)[0].upper() if statement.strip() else b""
        was = getattr(self._of_connection, "inside", False)
        self._of_connection.inside = word == b"SAVEPOINT" or (was and word not in (b"RELEASE", b"ROLLBACK", b"COMMIT"))
        return was and self._of_connection.inside

    def _ends_a_change(self, statement: bytes) -> bool:
        wrote = getattr(self._of_connection, "wrote", False)
        writes = wrote or bool(_KINDS["write"].match(statement))
        self._of_connection.wrote = writes and statement not in (b"COMMIT", b"ROLLBACK")
        return wrote and statement == b"COMMIT"


def _can_befall(injection: Injection, statement: bytes) -> bool:
    """No server says of a short statement that it is too large."""
    return injection is not Injection.PACKET_TOO_LARGE or len(statement) >= LARGE_BYTES


class Troubles:
    """Begins each when its commit comes; `wait_until_over` waits until all are over and everything is as it was."""

    def __init__(
        self, database: TorturedDatabase, redis: RedisServer, faults: Sequence[TroubleFault], scale: float, seed: int
    ) -> None:
        self._database, self._redis, self._scale = database, redis, scale
        self._left = sorted(faults, key=lambda each: each.nth)
        self._draw = random.Random(seed)
        self._lock, self._one_at_a_time = threading.Lock(), threading.Lock()
        self._threads: list[threading.Thread] = []
        self.begun: list[Trouble] = []
        self.broken: list[Exception] = []

    def on_commit(self, count: int) -> None:
        """Called by the controller."""
        with self._lock:
            due = [each for each in self._left if each.nth <= count]
            self._left = [each for each in self._left if each not in due]
            for fault in due:
                thread = threading.Thread(target=self._run, args=(fault.trouble,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def wait_until_over(self) -> None:
        """Nothing begins any more; raises what went wrong with a trouble itself."""
        with self._lock:
            self._left, threads = [], list(self._threads)
        for thread in threads:
            thread.join()
        if self.broken:
            raise self.broken[0]

    def _run(self, trouble: Trouble) -> None:
        with self._one_at_a_time:
            self.begun.append(trouble)
            try:
                self._befall(trouble)
            except Exception as error:
                self.broken.append(error)

    def _befall(self, trouble: Trouble) -> None:
        database, proxy, pause = self._database, self._database.proxy, threading.Event()
        match trouble:
            case Trouble.RESTART | Trouble.CRASH:
                database.restart(kill=trouble is Trouble.CRASH)
            case Trouble.READ_ONLY:
                database.read_only(True)
                pause.wait(1.0)
                database.read_only(False)
            case Trouble.FAILOVER:
                proxy.fail_over()
            case Trouble.CONNECTIONS:
                database.kill_connections(0.5, self._draw)
            case Trouble.TOO_MANY:
                proxy.cut_all()
                proxy.too_many_connections(10)
            case Trouble.OUTAGE:
                proxy.outage(True)
                pause.wait(OUTAGE_S * self._scale)
                proxy.outage(False)
            case Trouble.REDIS_FLUSHED:
                self._redis.client.flushall()
            case Trouble.REDIS_KILLED:
                self._redis.kill()
                pause.wait(0.5)
                self._redis.restart()
            case Trouble.REDIS_PAUSED:
                with self._redis.paused():
                    pause.wait(1.0)
