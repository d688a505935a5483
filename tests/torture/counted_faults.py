"""Deadlocks and lost COMMITs in counted numbers, on statements and COMMITs that a seed chooses.

A deadlock only strikes what takes locks, inside of SAVEPOINTs and outside; only a COMMIT of what was written is lost.
"""

from __future__ import annotations

import random
import re
import threading

from tests.torture.faulty_proxy import Injection

_LOCKS = re.compile(rb"\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b|.*\b(?:FOR UPDATE|LOCK IN SHARE MODE)\b", re.I | re.S)
_WRITES = re.compile(rb"\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b", re.I)
# SAVEPOINTs are rare, and so is what is done in them; one lost request for two lost answers.
INSIDE, OUTSIDE, COMMIT, REQUEST = 0.08, 0.05, 0.25, 0.33


class Counted:
    """Decides for a proxy until all that was asked for is done; statements of one connection come in one thread."""

    def __init__(self, seed: int, *, deadlocks: int, lost: int) -> None:
        self._draw = random.Random(f"counted faults {seed}")
        self._lock = threading.Lock()
        self._of_connection = threading.local()
        self._deadlocks, self._lost = deadlocks, lost
        self.inside = self.outside = self.answers = self.requests = 0

    @property
    def deadlocks(self) -> int:
        """How many so far."""
        return self.inside + self.outside

    @property
    def lost(self) -> int:
        """COMMITs so far that were lost, or whose answer was."""
        return self.answers + self.requests

    @property
    def done(self) -> bool:
        """Whether all that was asked for has happened."""
        return self.deadlocks >= self._deadlocks and self.lost >= self._lost

    def decide(self, statement: bytes) -> Injection | None:
        """What becomes of the statement."""
        at = self._of_connection
        depth, wrote = getattr(at, "depth", 0), getattr(at, "wrote", False)
        chosen = self._chosen(statement, depth, wrote)
        if chosen is Injection.DEADLOCK or statement in (b"COMMIT", b"ROLLBACK"):
            at.depth, at.wrote = 0, False
        else:
            at.depth = max(0, depth + _step(statement))
            at.wrote = wrote or bool(_WRITES.match(statement))
        return chosen

    def _chosen(self, statement: bytes, depth: int, wrote: bool) -> Injection | None:
        with self._lock:
            if statement == b"COMMIT":
                return self._lose() if wrote else None
            return self._break(depth) if _LOCKS.match(statement) else None

    def _lose(self) -> Injection | None:
        if self.lost >= self._lost or self._draw.random() > COMMIT:
            return None
        if self._draw.random() < REQUEST:
            self.requests += 1
            return Injection.LOSE_COMMIT_REQUEST
        self.answers += 1
        return Injection.LOSE_COMMIT_ANSWER

    def _break(self, depth: int) -> Injection | None:
        if self.deadlocks >= self._deadlocks or self._draw.random() > (INSIDE if depth else OUTSIDE):
            return None
        self.inside += bool(depth)
        self.outside += not depth
        return Injection.DEADLOCK


def _step(statement: bytes) -> int:
    if statement.startswith(b"SAVEPOINT"):
        return 1
    return -1 if statement.startswith((b"RELEASE SAVEPOINT", b"ROLLBACK TO SAVEPOINT")) else 0
