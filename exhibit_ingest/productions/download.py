"""Download the volume of a confirmed production.

Guaranteed: a file has its name only with the bytes whose SHA-256 the manifest has; one that is there with them is not
downloaded again, one with others is replaced. The manifest is the one whose hash the production has. An interrupted
download goes on when the command is run again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exhibit_ingest.client.api import Api
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.productions.following import format_show
from exhibit_ingest.productions.volume_paths import Places, resolve_path
from exhibit_ingest.session.downloads import DownloadError, download
from exhibit_ingest.session.pages import MOST_ITEMS, build_query
from exhibit_ingest.session.session import Session

if TYPE_CHECKING:
    import httpx

PARALLEL = 8
_BLOCK = 1024 * 1024
_MANIFEST = "MANIFEST.csv"
# A file is requested again with a new URL, or because other bytes arrived.
_ATTEMPTS = 3


@dataclass
class Downloaded:
    """What a download did; `folder` is that of the volume."""

    folder: Path
    files: int = 0
    bytes: int = 0
    downloaded: int = 0
    downloaded_bytes: int = 0

    @property
    def already_there(self) -> int:
        """How many files were there with the same bytes."""
        return self.files - self.downloaded


class _Stopped(Exception):
    """The command ends: a file that is under way is given up."""


def download_volume(
    session: Session, production: dict[str, Any], folder: Path, show: Callable[[str], None]
) -> Downloaded:
    """Write the files of a production to `folder`/<volume>, 8 at once. Raises CommandError.

    `show` gets a line about how far it is.
    """
    if production["status"] != "confirmed":
        status = shorten_printable(str(production["status"]), 40)
        raise CommandError(
            f"Production {production['id']} has the status {status}. Only a confirmed production has a complete"
            f" volume. To see what is left: {format_show(session, production['id'])}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = Downloaded(resolve_path(folder, production["volume"]))
        done.folder.mkdir(exist_ok=True)
        places = Places(done.folder)
        for page in _iterate_pages(session.api, production):
            _download_page(session, page, {each["path"]: places.add(each["path"]) for each in page.items}, done, show)
    except OSError as exc:
        raise CommandError(
            f"{exc.filename or folder} cannot be written ({exc.strerror}). Choose another folder."
        ) from exc
    return done


@dataclass(frozen=True)
class _Page:
    """A page of the files, and how to request it again: its URLs end."""

    items: list[dict[str, Any]]
    renew: Callable[[], list[dict[str, Any]]]


def _iterate_pages(api: Api, production: dict[str, Any]) -> Iterator[_Page]:
    after = None
    for number in count():
        query = build_query({"limit": MOST_ITEMS, "after": after})
        path = f"/productions/{production['id']}/files{query}"
        page = api.request("GET", path)
        if number == 0:
            _check_manifest(production, page["items"])
        yield _Page(page["items"], partial(_request_items, api, path))
        after = page.get("next")
        if after is None:
            return


def _request_items(api: Api, path: str) -> list[dict[str, Any]]:
    return list(api.request("GET", path)["items"])


def _check_manifest(production: dict[str, Any], items: list[dict[str, Any]]) -> None:
    """Raise CommandError unless the list begins with the manifest of the production."""
    first = items[0] if items else {}
    if (first.get("path"), first.get("sha256")) != (_MANIFEST, production["manifestSha256"]):
        raise CommandError(
            f"The files of production {production['id']} do not begin with its {_MANIFEST}, whose SHA-256 the"
            " production has: the volume was changed. Ask the operator of the stack."
        )


def _download_page(
    session: Session, page: _Page, places: dict[str, Path], done: Downloaded, show: Callable[[str], None]
) -> None:
    """Download the files of a page that are not there; raise the error of the first that did not arrive."""
    # The client is built here: threads would each build one of their own.
    items, receiver = page.items, _Receiver(session.storage, done, show)
    for attempt in range(_ATTEMPTS):
        failed: dict[str, DownloadError] = {}
        with ThreadPoolExecutor(PARALLEL) as pool:
            running = {pool.submit(receiver.get, each, places[each["path"]]): each["path"] for each in items}
            try:
                for future in as_completed(running):
                    if error := future.result():
                        failed[running[future]] = error
            except BaseException:
                receiver.stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
        if not failed:
            return
        if attempt == _ATTEMPTS - 1:
            raise next(iter(failed.values()))
        items = [each for each in page.renew() if each["path"] in failed]


class _Receiver:
    """Gets files in threads, counts them, and shows how far it is."""

    def __init__(self, http: httpx.Client, done: Downloaded, show: Callable[[str], None]) -> None:
        self.stopped = threading.Event()
        self._http, self._done, self._show = http, done, show
        self._lock = threading.Lock()

    def get(self, file: dict[str, Any], place: Path) -> DownloadError | None:
        """Download a file unless it is there with the same bytes; return why it did not arrive, if it did not."""
        size, received = file["size"], 0

        def count(length: int) -> None:
            nonlocal received
            received += length
            if received > size:
                raise DownloadError(
                    f"{place.name} is longer than the {size:,} bytes that it should have. Run the command again."
                )
            self._count_bytes(length)

        is_new = not self._has_bytes(place, size, file["sha256"])
        if is_new:
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                download(self._http, file["url"], place, sha256=file["sha256"], on_bytes=count)
            except DownloadError as exc:
                self._count_bytes(-received)
                return exc
        self._count_file(size, is_new=is_new)
        return None

    def _has_bytes(self, place: Path, size: int, sha256: str) -> bool:
        if not place.is_file() or place.stat().st_size != size:
            return False
        digest = hashlib.sha256()
        with place.open("rb") as file:
            while block := file.read(_BLOCK):
                self._count_bytes(0)
                digest.update(block)
        return digest.hexdigest() == sha256

    def _count_bytes(self, length: int) -> None:
        if self.stopped.is_set():
            raise _Stopped
        with self._lock:
            self._done.downloaded_bytes += length
            self._show_state()

    def _count_file(self, size: int, *, is_new: bool) -> None:
        with self._lock:
            self._done.files += 1
            self._done.bytes += size
            self._done.downloaded += is_new
            self._show_state()

    def _show_state(self) -> None:
        done = self._done
        self._show(f"{done.files:,} files, {done.downloaded:,} downloaded ({done.downloaded_bytes / 1e6:,.1f} MB)")
