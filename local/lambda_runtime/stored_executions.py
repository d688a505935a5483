"""Durable executions on disk: one that has not ended goes on after a restart, from its last checkpoint.

Guaranteed: a checkpoint is committed before the function has its answer; a step that has ended is not run again. The
name of an execution is known after a restart, too, for as long as Lambda retains it. What is left of a wait or of a
pause before a retry is left of it after a restart.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from aws_durable_execution_sdk_python_testing.execution import Execution
from aws_durable_execution_sdk_python_testing.stores.memory import InMemoryExecutionStore

from local.storage.index import Index

_TIMES = ("ScheduledEndTimestamp", "NextAttemptTimestamp")
Clock = Callable[[], datetime]


class StoredExecutions(InMemoryExecutionStore):
    """The engine's store in an index; executions that run are in memory, those that have ended are read when needed."""

    def __init__(self, index: Index, clock: Clock) -> None:
        super().__init__()
        self._index, self._now = index, clock

    def save(self, execution: Execution) -> None:
        """Save an execution."""
        super().save(execution)
        self._write(execution)

    def update(self, execution: Execution) -> None:
        """Save a changed execution."""
        super().update(execution)
        self._write(execution)

    def load(self, execution_arn: str) -> Execution:
        """Return an execution. Raises KeyError where there is none."""
        with self._lock:
            found = self._store.get(execution_arn)
        return found or self._read("WHERE arn = ?", execution_arn)[execution_arn]

    def list_all(self) -> list[Execution]:
        """Return all executions."""
        with self._lock:
            running = dict(self._store)
        return list((self._read("") | running).values())

    def load_unfinished(self) -> list[Execution]:
        """Read the executions that had not ended, with their waits as long as they were, and keep them in memory."""
        found = list(self._read("WHERE NOT is_complete ORDER BY saved").values())
        for execution in found:
            super().save(execution)
        return found

    def list_names(self) -> list[tuple[str, str, str, str, bool]]:
        """Return function, name, ARN and payload of each execution, and whether it has ended."""
        rows = self._index.read("SELECT function, name, arn, payload, is_complete FROM executions ORDER BY saved")
        return [(function, name, arn, payload, bool(ended)) for function, name, arn, payload, ended in rows]

    def trim(self, most: int) -> list[str]:
        """Delete ended executions that Lambda would not retain any more, at most so many; return their ARNs."""
        now, expired = datetime.now(UTC), list[str]()
        # The retention is one of a few, and the text of an execution is large: only short columns are compared.
        for (days,) in self._index.read("SELECT DISTINCT retention_days FROM executions WHERE is_complete"):
            query = "SELECT arn FROM executions WHERE is_complete AND retention_days = ? AND saved < ? LIMIT ?"
            before = (now - timedelta(days=days)).isoformat()
            expired += [arn for (arn,) in self._index.read(query, days, before, most - len(expired))]
        with self._index.transaction():
            for arn in expired:
                self._index.write("DELETE FROM executions WHERE arn = ?", arn)
        return expired

    def _write(self, execution: Execution) -> None:
        given = execution.start_input
        values = (
            execution.durable_execution_arn,
            given.function_name,
            given.execution_name,
            given.input,
            given.execution_retention_period_days,
            execution.is_complete,
            self._now().timestamp(),
            json.dumps(execution.to_json_dict()),
            datetime.now(UTC).isoformat(),
        )
        with self._index.transaction():
            self._index.write("INSERT OR REPLACE INTO executions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)
        if execution.is_complete:
            with self._lock:
                self._store.pop(execution.durable_execution_arn, None)

    def _read(self, which: str, *values: str) -> dict[str, Execution]:
        rows = self._index.read(f"SELECT arn, clock, execution FROM executions {which}", *values)  # noqa: S608
        now = self._now().timestamp()
        return {
            arn: Execution.from_json_dict(_delay(json.loads(text), round(1000 * (now - clock))))
            for arn, clock, text in rows
        }


def _delay(value: Any, milliseconds: int) -> Any:
    """Return the JSON of an execution with the times for which it waits moved: the clock that they are of has ended."""
    if isinstance(value, list):
        return [_delay(each, milliseconds) for each in value]
    if not isinstance(value, dict):
        return value
    moved = {name: _delay(each, milliseconds) for name, each in value.items()}
    return moved | {name: value[name] + milliseconds for name in _TIMES if isinstance(value.get(name), int)}
