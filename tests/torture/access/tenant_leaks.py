"""Statements of the application with one condition on the tenant, or on a tenant's case, made true for every tenant.

What is sent to the database is rewritten, not the application: `tenant_id = %(t)s` to `(tenant_id = %(t)s OR 1=1)`.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Engine, event

from local.stack.options import REPOSITORY

_CONDITION = re.compile(r"(?:\b(\w+)\.)?\b(tenant_id|case_id) = %\((\w+)\)s")
_SHELL = str(REPOSITORY / "shared" / "shell")
# What a statement passes through on its way; who asks for it is further out.
_IN_BETWEEN = ("/db/session.py", "/db/retry.py", "/utils/db_helpers.py")


class Condition(NamedTuple):
    """A condition, by who sends it, and on which table and column."""

    module: str
    function: str
    table: str
    column: str


IsNeutralized = Callable[[Condition], bool]


@dataclass
class Seen:
    """The conditions that were met since `conditions` was emptied."""

    conditions: set[Condition]


@contextmanager
def watched(engine: Engine, neutral: IsNeutralized = lambda _: False) -> Iterator[Seen]:
    """For the block: note all conditions, and make those true for every tenant for which `neutral` is true."""
    seen = Seen(set())

    def rewrite(_c: Any, _cursor: Any, statement: str, parameters: Any, _x: Any, _many: bool) -> tuple[str, Any]:
        if not _CONDITION.search(statement):
            return statement, parameters
        sender = _sender()
        if sender is None:
            return statement, parameters
        met = [Condition(*sender, _table(statement, each[1]), each[2]) for each in _CONDITION.finditer(statement)]
        seen.conditions.update(met)
        left = iter(met)
        changed = _CONDITION.sub(lambda found: f"({found[0]} OR 1=1)" if neutral(next(left)) else found[0], statement)
        return changed, parameters

    event.listen(engine, "before_cursor_execute", rewrite, retval=True)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", rewrite)


def modules_with_conditions() -> set[str]:
    """The modules whose source has a condition on the tenant."""
    named = re.compile(r"tenant_id == |tenant_id = :")
    return {_name(str(path)) for path in Path(_SHELL).rglob("*.py") if named.search(path.read_text("utf-8"))}


def _sender() -> tuple[str, str] | None:
    for frame, _line in traceback.walk_stack(None):
        name = frame.f_code.co_filename
        if name.startswith(_SHELL) and not name.endswith(_IN_BETWEEN):
            return _name(name), frame.f_code.co_name
    return None


def _name(path: str) -> str:
    """Return a module's name below `shell`: imports.commands."""
    return path.removeprefix(f"{_SHELL}/").removesuffix(".py").replace("/", ".")


def _table(statement: str, alias: str | None) -> str:
    if alias is None:
        named = re.search(r"(?:FROM|UPDATE|INTO)\s+(\w+)", statement)
        return named[1] if named else ""
    named = re.search(rf"\b(\w+) AS {alias}\b", statement)
    return named[1] if named else alias
