"""The limits of a tenant, and the JSON that stores them.

Guaranteed: what `format_limits` writes is read as the same limits. A limit that a later version stored is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from core.errors import InvalidInputError

MOST = 2**53 - 1


@dataclass(frozen=True)
class Limits:
    """The limits of a tenant; None: no limit.

    `requests_per_second` is approximate (`shell.tenants.request_rate`). `running_imports` counts imports that are
    split, checked or running. `rows_per_day` counts the rows of files by the day, in UTC, on which their imports began.
    """

    requests_per_second: int | None = None
    running_imports: int | None = None
    rows_per_day: int | None = None


NO_LIMITS = Limits()
NAMES = tuple(each.name for each in fields(Limits))


def parse_limits(stored: str | None) -> Limits:
    """Return the limits that a row stores. Raises InvalidInputError for one that is not a number from 1 to MOST."""
    document: Mapping[str, Any] = json.loads(stored or "{}")
    return Limits(**{name: _check(name, document[name]) for name in NAMES if document.get(name) is not None})


def format_limits(limits: Limits) -> str | None:
    """Return the JSON to store, None without limits. Raises InvalidInputError as `parse_limits` does."""
    values = {name: _check(name, value) for name in NAMES if (value := getattr(limits, name)) is not None}
    return json.dumps(values) if values else None


def _check(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise InvalidInputError(f"The limit {name} must be a whole number from 1 to {MOST}.")
    return value
