"""The requests of the clients: a few periods each, of many devices (low contention) or of few (high contention)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import TypeAdapter

from core.contracts.custody import NewPeriod
from core.timestamps import format_timestamp

ELEMENTS = 3
# The share of requests under high contention that overlap the period of another client's current request.
OVERLAPPING = 0.1
_HOURS = 10_000
_BEGIN = datetime(2026, 11, 21)
_PERIODS = TypeAdapter(list[NewPeriod])


class Contention(StrEnum):
    """The contention between clients: each request uses ELEMENTS devices of a thousand, or of four."""

    LOW = "low"
    HIGH = "high"

    @property
    def devices(self) -> int:
        """Return the number of devices, which are numbered from 1."""
        return 1_000 if self is Contention.LOW else 4


def requests(contention: Contention, client: int, clients: int, seed: str) -> Iterator[list[NewPeriod]]:
    """Generate one client's requests without end; the same requests for the same seed.

    Under low contention the hour is random and mostly free. Under high contention each client requests the hour after
    that of the client before it, on shared devices.
    """
    generator = random.Random(f"{seed} {client}")
    for turn in itertools.count():
        devices = generator.sample(range(1, contention.devices + 1), ELEMENTS)
        if contention is Contention.LOW:
            hour = float(generator.randrange(_HOURS))
        else:
            hour = turn * clients + client - (0.5 if generator.random() < OVERLAPPING else 0.0)
        yield build_periods(devices, hour)


def build_periods(devices: Sequence[int], hour: float) -> list[NewPeriod]:
    """Return a period of one hour for each of the devices."""
    begin = _BEGIN + timedelta(hours=hour)
    times = {"begin": format_timestamp(begin), "end": format_timestamp(begin + timedelta(hours=1))}
    return _PERIODS.validate_python([{"deviceId": device, **times} for device in devices])
