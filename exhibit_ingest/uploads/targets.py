"""The routes of the API that uploads need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol
from urllib.parse import quote

from exhibit_ingest.uploads.protocols import Api, Document


class Source(Protocol):
    """Bytes to send: a file, or an archive that is made while it is sent. `files` is how many files it has."""

    path: str
    size: int
    files: int

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a range. Raises FileChangedFault, and OSError."""

    def count_ends(self, start: int, end: int) -> int:
        """Return how many files end in a range."""

    def check(self) -> None:
        """Raise FileChangedFault if a file is not the listed one any more."""


class Target(NamedTuple):
    """Where one object goes. `urls` are those of the announcement; None when an upload is continued.

    `get_state` says what is left, and renews URLs that have expired.
    """

    urls: Document | None
    get_state: Callable[[], Document]


def make_import_target(api: Api, import_id: int, urls: Document | None) -> Target:
    """Return where the file of an import goes."""
    return Target(urls, lambda: api.request("GET", f"/imports/{import_id}/upload"))


def make_archive_target(api: Api, volume_id: int, urls: Document | None) -> Target:
    """Return where the zip of a volume goes."""
    return Target(urls, lambda: api.request("GET", f"/volumes/{volume_id}/upload"))


def make_file_target(api: Api, volume_id: int, path: str, urls: Document | None) -> Target:
    """Return where a file of a volume goes."""
    return Target(urls, lambda: api.request("GET", f"/volumes/{volume_id}/upload?path={quote(path, safe='')}"))
