"""Devices and their custody, recorded past the page by other users than the one of the window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from local.stack import LocalStack
from tests.support.console.matters import TENANT

OTHER = "ben"
MOST = 1_000


def request_as(
    stack: LocalStack, user: str, method: str, path: str, body: object = None, if_match: str | None = None
) -> Any:
    """Send a request as this user, and return its JSON; fails for a response without success."""
    status, answered = stack.request_api(TENANT, user, method, path, body, if_match)
    assert status < 300, (status, answered)
    return json.loads(answered)


def add_custodian(stack: LocalStack, case: str, name: str) -> int:
    """Return the id of a custodian that the case has from now on."""
    return int(request_as(stack, OTHER, "POST", "/custodians", {"case": case, "name": name})["id"])


def at(hours: float, begin: str = "2026-11-20T08:00:00") -> str:
    """Return a time, so many hours after the begin, as the API takes it."""
    found = datetime.fromisoformat(begin).replace(tzinfo=UTC) + timedelta(hours=hours)
    return found.isoformat().replace("+00:00", "Z")


def record(stack: LocalStack, device: int, *spans: tuple[float, float | None, int | None]) -> list[dict[str, Any]]:
    """Record periods of a device, each from one hour to another one, or open, with its custodian; return them."""
    bodies = [
        {"deviceId": device, "begin": at(begin), "end": None if end is None else at(end), "custodianId": custodian}
        for begin, end, custodian in spans
    ]
    parts = [bodies[first : first + MOST] for first in range(0, len(bodies), MOST)]
    return [each for part in parts for each in request_as(stack, OTHER, "POST", "/custody-periods", part)["items"]]


def list_periods(stack: LocalStack, device: int) -> Sequence[dict[str, Any]]:
    """Return the first periods of a device, in chronological order."""
    found: list[dict[str, Any]] = request_as(stack, OTHER, "GET", f"/custody-periods?deviceId={device}")["items"]
    return found
