"""A session with an API, a storage and a machine that are played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import httpx

from exhibit_ingest.session.following import Clock
from exhibit_ingest.session.machine import RunningMachine
from exhibit_ingest.session.session import Session
from tests.unit.exhibit_ingest.import_states import PlayedApi


def open_session(
    answer: Callable[[str, str, Any], Any], folder: Path, *, machine: RunningMachine | None = None, objects: str = ""
) -> tuple[Session, PlayedApi]:
    """A session whose API answers what the function says; each object of the storage has the text `objects`."""
    api = PlayedApi(answer)
    session = Session(cast(Any, api), "acme", {"tenantId": "local"}, folder, machine)
    storage = httpx.MockTransport(lambda _: httpx.Response(200, content=iter([objects.encode()])))
    session.__dict__["storage"] = httpx.Client(transport=storage)
    return session, api


class PlayedClock(Clock):
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.time = 0.0
        super().__init__(lambda: self.time, self._sleep)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _sleep(self, seconds: float) -> None:
        self.time += seconds
