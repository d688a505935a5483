"""What several tests of exhibits, custodians and taggings need: a caller, requests, and how the server runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import event

from core.caller import Caller
from core.contracts.taggings import TaggingRequest
from shell.db.session import engine
from tests.support.exhibits.stored_cases import Cases

CALLER = Caller(tenant_id="tenant", user_id="reviewer")


def tagging(exhibit_ids: list[int], *tags: str) -> TaggingRequest:
    """A request as a client sends it."""
    return TaggingRequest.model_validate({"exhibitIds": exhibit_ids, "tags": list(tags)})


def sent_by(work: Callable[[], object]) -> list[tuple[str, Any]]:
    """Return the statements that the application sends for the work, with their values."""
    sent: list[tuple[str, Any]] = []
    listen = (engine(), "before_cursor_execute", lambda _c, _k, sql, values, _x, _m: sent.append((sql, values)))
    event.listen(*listen)
    work()
    event.remove(*listen)
    return sent


def plan_of(cases: Cases, statement: str, values: Any = None) -> str:
    """Return the server's plan for a statement, as JSON in lower case."""
    with cases.database.admin.connect() as connection:
        return str(connection.exec_driver_sql(f"EXPLAIN FORMAT=JSON {statement}", values).scalar()).lower()


def sorts(plan: str) -> bool:
    """Whether rows are sorted by that plan."""
    return "filesort" in plan.replace('"using_filesort": false', "") or '"access_type": "sort"' in plan
