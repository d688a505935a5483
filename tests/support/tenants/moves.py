"""Move the tenant of two played stacks, and end the process in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tenants.two_schemas import Interrupted, Interruptions, Place
from tools.tenants.moving.connection import Connection
from tools.tenants.moving.export import export_tenant
from tools.tenants.moving.open_work import Waiting
from tools.tenants.moving.verify import verify_tenant

TENANT, OTHER = "tenant", "other"
AT_ONCE = Waiting(unaware_s=0, work_s=0)
KEY = f"imports/{TENANT}/Case/one/file \u00e9.csv"


def ignore(_line: str) -> None:
    """Where a test does not look at what is reported."""


def export_to(source: Place, folder: Path, *, is_clone: bool = False) -> Path:
    """The folder of an export."""
    export_tenant(source.stack, TENANT, folder, Waiting(is_clone=is_clone, unaware_s=0, work_s=0), ignore)
    return folder


def list_differences(source: Place, target: Place, folder: Path) -> list[str]:
    """What the comparison of a move reports."""
    lines = list[str]()
    verify_tenant(source.stack, target.stack, folder, lines.append)
    return lines


def get_statuses(*places: Place) -> list[str]:
    """The statuses of the tenant."""
    query = "SELECT status FROM tenants WHERE tenant_id = %s"
    return [(place.query(query, TENANT)[0][0] or b"").decode() for place in places]


def kill_at_each_statement(
    run: Callable[[], None], monkeypatch: pytest.MonkeyPatch, *, after: bool, step: int = 1
) -> None:
    """Run it again and again, each time killed `step` statements later, until it ends."""
    for at in range(1, 1_000, step):
        interruptions = Interruptions(at, after=after)
        with monkeypatch.context() as patch:
            for name in ("execute", "send"):
                patch.setattr(Connection, name, interruptions.wrap(getattr(Connection, name)))
            try:
                run()
            except Interrupted:
                continue
        return
    raise AssertionError("it does not end")
