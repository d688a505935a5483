"""Announce an import or volume, or find the one that an earlier command announced."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from exhibit_ingest.uploads.journal import Record
from exhibit_ingest.uploads.protocols import Api, Document, Refusal

_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
_LOST = ("failed", "deleting", "deleted")


@dataclass(frozen=True)
class Announced:
    """The number of an import or volume, the URLs of its upload if it is new, and whether it takes files."""

    number: int
    urls: Document | None
    is_taking: bool


@dataclass(frozen=True)
class Place:
    """Where imports or volumes are announced: `body` is sent to `route`."""

    api: Api
    route: str
    body: Document

    def announce(self, record: Record) -> Announced:
        """Return the upload of the record; if it takes nothing any more and never got all, begin another one."""
        if (number := record.entry.number) is not None:
            if (is_taking := self._read_taking(number)) is not None:
                return Announced(number, None, is_taking)
            record.renew()
        record.begin()
        created = self.api.request("POST", self.route, self.body, record.entry.key)
        record.name_number(created["id"])
        return Announced(created["id"], created.get("upload"), True)

    def _read_taking(self, number: int) -> bool | None:
        """Return whether the upload takes files, False if it has them all; None if it is lost."""
        try:
            if self.route == "/volumes" and "archive" not in self.body:
                status = self.api.request("GET", f"/volumes/{number}")["status"]
                return None if status in _LOST else bool(status == "open")
            state = self.api.request("GET", f"{self.route}/{number}/upload")["state"]
            return None if state == "expired" else True
        except Exception as error:
            if isinstance(error, Refusal) and error.status in _GONE:
                return None
            raise
