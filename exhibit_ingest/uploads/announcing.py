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
            if (is_taking := self._read_taking(number, record.entry.created)) is not None:
                return Announced(number, None, is_taking)
            record.renew()
        record.begin()
        made = self.api.request("POST", self.route, self.body, record.entry.key)
        number = made["id"]
        record.name_number(number, self._read_time(self.api.request("GET", f"{self.route}/{number}")))
        return Announced(number, made.get("upload"), True)

    def _read_time(self, found: Document) -> str:
        """Return when a volume was created, or an import that awaits its file was announced."""
        return str(found["createdAt" if self.route == "/volumes" else "startedAt"])

    def _is_own(self, found: Document, created: str) -> bool:
        """Return whether it is the upload of the record, and not one of another database, as after a reset."""
        if self.route == "/imports" and found["status"] != "awaiting_upload":
            return all(found[name] == self.body[name] for name in ("case", "fileName", "size"))
        return self._read_time(found) == created

    def _read_taking(self, number: int, created: str) -> bool | None:
        """Return whether the upload takes files, False if it has them all; None if it is lost."""
        try:
            found = self.api.request("GET", f"{self.route}/{number}")
            if not self._is_own(found, created):
                return None
            if self.route == "/volumes" and "archive" not in self.body:
                return None if found["status"] in _LOST else bool(found["status"] == "open")
            state = self.api.request("GET", f"{self.route}/{number}/upload")["state"]
            return None if state == "expired" else True
        except Exception as error:
            if isinstance(error, Refusal) and error.status in _GONE:
                return None
            raise
