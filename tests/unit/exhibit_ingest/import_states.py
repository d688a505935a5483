"""What the tests of the command share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exhibit_ingest.importing.state import ImportState

READING = {"encoding": "utf-8", "delimiter": "\x14", "qualifier": "þ"}


def state(**changes: Any) -> ImportState:
    """An import that runs, with changes; `details` are added to how the file was read."""
    details = {"reading": READING, **changes.pop("details", {})}
    values: dict[str, Any] = {"id": 7, "status": "running", "details": details}
    return ImportState(**(values | changes))


def column(name: str, field: str | None = None, why: str = "synonym", looks_like: str | None = None) -> dict[str, Any]:
    """A column of a file, as the API describes it."""
    others = ("dateOrder", "timeZone", "timeZoneVersion", "timeColumn", "dateFormat", "separator")
    return {"name": name, "field": field, "why": why, "looksLike": looks_like, **dict.fromkeys(others)}


class PlayedApi:
    """An API whose answers are those of a function of method, path and body; `requests` are what it got."""

    url, host = "http://127.0.0.1:1", "127.0.0.1:1"

    def __init__(self, answer: Callable[[str, str, Any], Any]) -> None:
        self._answer = answer
        self.requests: list[tuple[str, str, Any]] = []

    def request(self, method: str, path: str, json: Any = None, key: str | None = None, **_: Any) -> Any:
        """Return what the function says; raise it if it is an exception."""
        self.requests.append((method, path, json))
        answer = self._answer(method, path, json)
        if isinstance(answer, Exception):
            raise answer
        return answer
