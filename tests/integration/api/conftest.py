"""A tenant's case with exhibits, and a device with periods of custody, for callers of the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter, matter

__all__ = ["Held", "Matter"]

FIRST_HELD = datetime(2026, 11, 21, tzinfo=UTC)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over a module whose only test is slow and takes seconds to collect, where no slow test is to run."""
    return True if collection_path.name == "test_responses.py" and config.option.markexpr == "not slow" else None


@dataclass
class Held:
    """A device of the tenant that was held every other hundred hours, and a custodian who may hold it."""

    matter: Matter
    number: int
    custodian: int

    def period(self) -> tuple[int, int]:
        """Id and version of its newest period; of a new one where all are removed."""
        page = self.matter.client.get(f"/custody-periods?deviceId={self.number}&limit=500").json
        newest = max(page["items"] or self._held(), key=lambda each: each["id"])
        return newest["id"], newest["version"]

    def _held(self) -> list[dict[str, Any]]:
        spans = [{"begin": timestamp(hour), "end": timestamp(hour + 100)} for hour in (0, 200, 400, 600)]
        made = self.matter.client.post("/custody-periods", [{"deviceId": self.number, **each} for each in spans])
        return list(made.json["items"])


def timestamp(hours: float) -> str:
    """So many hours from when a device was held first, as a client writes it."""
    return (FIRST_HELD + timedelta(hours=hours)).isoformat()


@pytest.fixture
def acme(world: World) -> Matter:
    """A case with three exhibits."""
    return matter(world, 3)


@pytest.fixture
def held(acme: Matter) -> Held:
    """Its device 100, and a lab."""
    lab = acme.client.post("/custodians", {"case": acme.name, "name": "Lab"}).json["id"]
    device = Held(acme, 100, lab)
    device.period()
    return device
