"""What the clients ask for: a few periods at a time, of devices that hardly anybody else or that everybody asks for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import TypeAdapter

from core.contracts.custody import NewPeriod
from core.moments import written

ELEMENTS = 3
# Of requests under high contention, so many reach back into the period that somebody else asks for just then.
OVERLAPPING = 0.1
_HOURS = 10_000
_BEGIN = datetime(2026, 11, 21)
_PERIODS = TypeAdapter(list[NewPeriod])


class Contention(StrEnum):
    """Whether clients meet: each request names ELEMENTS devices of a thousand, or of four."""

    LOW = "low"
    HIGH = "high"

    @property
    def devices(self) -> int:
        """How many devices there are, numbered from 1."""
        return 1_000 if self is Contention.LOW else 4


def requests(contention: Contention, client: int, clients: int, seed: str) -> Iterator[list[NewPeriod]]:
    """One client's requests, without end; the same ones for the same seed.

    Under low contention an hour is taken at random and mostly free. Under high contention the clients take turns: each
    asks for the hour after its neighbour's, on devices that they share.
    """
    random_one = random.Random(f"{seed} {client}")
    for turn in itertools.count():
        devices = random_one.sample(range(1, contention.devices + 1), ELEMENTS)
        if contention is Contention.LOW:
            hour = float(random_one.randrange(_HOURS))
        else:
            hour = turn * clients + client - (0.5 if random_one.random() < OVERLAPPING else 0.0)
        yield periods_of(devices, hour)


def periods_of(devices: Sequence[int], hour: float) -> list[NewPeriod]:
    """An hour of each of the devices."""
    begin = _BEGIN + timedelta(hours=hour)
    times = {"begin": written(begin), "end": written(begin + timedelta(hours=1))}
    return _PERIODS.validate_python([{"deviceId": device, **times} for device in devices])
