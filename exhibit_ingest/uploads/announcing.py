"""Announce an import or volume, or find the one that an earlier command announced."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from exhibit_ingest.uploads.journal import Record
from exhibit_ingest.uploads.protocols import Api, Document, Refusal

_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
_LOST = ("failed", "deleting", "deleted")
# Failures that another choice of load files corrects: the files need not be sent again.
_CORRECTED_BY_CHOICE = ("NO_LOAD_FILE", "SEVERAL_LOAD_FILES")
# Another import of the file is what a user means who gives the command again.
_NOT_IMPORTED = ("failed", "cancelled", "undoing", "undone", "undone_with_conflicts", "undo_failed")


@dataclass(frozen=True)
class Announced:
    """The number of an import or volume, the URLs of its upload if it is new, and whether it takes files.

    `is_earlier` says that an earlier command has announced it.
    """

    number: int
    urls: Document | None
    is_taking: bool
    is_earlier: bool = False


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
                return Announced(number, None, is_taking, is_earlier=True)
            record.renew()
        record.begin()
        made = self.api.request("POST", self.route, self.body, record.entry.key)
        number = made["id"]
        record.name_number(number, made.get("startedAt") or self._read_created(number))
        return Announced(number, made.get("upload"), True)

    def _read_created(self, number: int) -> str:
        return self._read_time(self.api.request("GET", f"{self.route}/{number}"))

    def _read_time(self, found: Document) -> str:
        """Return when a volume was created, or an import that awaits its file was announced."""
        return str(found["createdAt" if self.route == "/volumes" else "startedAt"])

    def _is_own(self, found: Document, created: str) -> bool:
        """Return whether it is the upload of the record, and not one of another database, as after a reset."""
        if self.route == "/imports" and found["status"] != "awaiting_upload":
            # The case can have been named in other letters than it has.
            is_same = str(found["case"]).casefold().split() == str(self.body["case"]).casefold().split()
            return is_same and all(found[name] == self.body[name] for name in ("fileName", "size"))
        return self._read_time(found) == created

    def _read_taking(self, number: int, created: str) -> bool | None:
        """Return whether the upload takes files, False if it has them all; None if it is lost."""
        try:
            found = self.api.request("GET", f"{self.route}/{number}")
            if not self._is_own(found, created):
                return None
            if found["status"] not in ("open", "awaiting_upload"):
                return None if self._is_lost(found) else False
            if self.route == "/volumes" and "archive" not in self.body:
                return True
            state = self.api.request("GET", f"{self.route}/{number}/upload")["state"]
            return None if state == "expired" else True
        except Exception as error:
            if isinstance(error, Refusal) and error.status in _GONE:
                return None
            raise

    def _is_lost(self, found: Document) -> bool:
        """Return whether an upload that takes nothing any more is of no use: the files are sent again."""
        if self.route == "/imports":
            return found["status"] in _NOT_IMPORTED
        return found["status"] in _LOST and found["failureCode"] not in _CORRECTED_BY_CHOICE
