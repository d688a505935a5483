"""List the files of an exhibit: its native, its text, and the image of each page.

Guaranteed: a file of a volume is the version that was listed when the volume was sealed, of a volume of the exhibit's
own case; which file a path means is decided as for a production. Nothing is signed of a volume whose deletion was
requested, nor of an object that has the texts of several exhibits. A page of the list takes the same few statements.
Not guaranteed: that a path that came without a volume has a file, which is not looked up; or that a URL that was signed
before a deletion fails before it expires, while the object is still there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibit_lists import ExhibitFile, ExhibitFileList
from core.contracts.queries import FilesQuery
from core.errors import InvalidInputError
from core.pagination import decode_cursor, paginate
from core.productions.volume import resolve_source_key
from core.statuses import VolumeStatus
from shell.db.session import session
from shell.exhibit_files.downloads import Download, find_media_type, sign_download
from shell.exhibits.queries import load_exhibit
from shell.tables.exhibits import Exhibits
from shell.tables.imports import Imports
from shell.tables.pages import Pages, PageSets
from shell.tables.texts import Texts
from shell.tables.volumes import NO_FILE, ExhibitFiles, VolumeFiles, Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_GONE = (VolumeStatus.DELETING, VolumeStatus.DELETED)
_FILE = (
    *(VolumeFiles.path.label("file"), VolumeFiles.size, VolumeFiles.sha256, VolumeFiles.version_id),
    *(Volumes.prefix, Volumes.status, Volumes.tenant_id, Volumes.case_id),
)


class _Place(NamedTuple):
    """Whose files are listed: of which tenant, case and exhibit; and whether browsers save them."""

    tenant_id: str
    case: str
    exhibit: Exhibits
    is_saved: bool


class _Entry(NamedTuple):
    """A file before its URL is signed. `position` orders the list: 0 the native, 1 the text, from 2 the pages.

    `found` has the columns of _FILE; None: the path came without a volume.
    """

    position: int
    kind: str
    path: str | None
    volume_id: int | None = None
    found: Any = None
    page_in_file: int = 0
    text: Texts | None = None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_files(caller: Caller, exhibit_id: int, query: FilesQuery) -> ExhibitFileList:
    """Return a page of the exhibit's files.

    Raises NotFoundError, InvalidInputError for a cursor that this API did not issue, and StorageUnavailableError if no
    URL can be signed.
    """
    last = _find_last(query)
    with session() as reading:
        exhibit, case = load_exhibit(reading, caller, exhibit_id)
        entries = [each for each in _list_paths(reading, exhibit) if each.position > last]
        entries += _list_pages(reading, exhibit, max(0, last - 1), query.limit + 1)
        page, following = paginate(entries, query.limit, lambda each: (each.position,))
        place = _Place(caller.tenant_id, case, exhibit, query.download)
        items = [_describe(place, each) for each in page]
    return ExhibitFileList(items=items, next=following)


def _find_last(query: FilesQuery) -> int:
    """Return the position before the first that is listed."""
    if query.from_page is not None:
        return query.from_page
    return -1 if query.after is None else int(decode_cursor(query.after, (int,))[0])


def _list_paths(reading: Session, exhibit: Exhibits) -> Iterator[_Entry]:
    """Yield the native, and the text: its file, or without a path the one in cells."""
    links = _find_links(reading, exhibit)
    for position, kind in enumerate(("native", "text")):
        path = exhibit.native_path if kind == "native" else exhibit.text_path
        if path:
            link = links.get(kind)
            yield _Entry(position, kind, path, link.volume_id if link else None, link)
        elif kind == "text" and exhibit.text_id is not None:
            yield _Entry(position, kind, None, text=reading.get(Texts, exhibit.text_id))


def _find_links(reading: Session, exhibit: Exhibits) -> dict[str, Any]:
    """Return what the present paths mean, by kind: of the imports with this path the last one that found a file."""
    link = ExhibitFiles
    statement = select(link.kind, link.text_hash, link.file_id, Imports.volume_id, *_FILE)
    statement = statement.outerjoin(Imports, Imports.id == link.import_id)
    statement = statement.outerjoin(VolumeFiles, VolumeFiles.id == link.file_id)
    statement = statement.outerjoin(Volumes, Volumes.id == VolumeFiles.volume_id)
    ordered = statement.where(link.exhibit_id == exhibit.id).order_by(link.file_id > NO_FILE, link.import_id)
    hashes = {"native": _hash_path(exhibit.native_path), "text": _hash_path(exhibit.text_path)}
    return {row.kind: row for row in reading.execute(ordered) if bytes(row.text_hash) == hashes.get(row.kind)}


def _hash_path(path: str | None) -> bytes:
    return hashlib.sha256((path or "").encode()).digest()[:16]


def _list_pages(reading: Session, exhibit: Exhibits, after: int, most: int) -> list[_Entry]:
    if exhibit.page_set_id is None:
        return []
    statement = select(Pages.page_no, Pages.path, Pages.page_in_file, PageSets.volume_id.label("volume"), *_FILE)
    statement = statement.join(PageSets, PageSets.id == Pages.page_set_id)
    statement = statement.outerjoin(VolumeFiles, VolumeFiles.id == Pages.file_id)
    statement = statement.outerjoin(Volumes, Volumes.id == VolumeFiles.volume_id)
    statement = statement.where(Pages.page_set_id == exhibit.page_set_id, Pages.page_no > after)
    return [
        _Entry(
            position=row.page_no + 1,
            kind="page" if row.page_in_file else "image",
            path=row.path,
            volume_id=row.volume,
            found=None if row.volume is None else row,
            page_in_file=row.page_in_file,
        )
        for row in reading.execute(statement.order_by(Pages.page_no).limit(most))
    ]


def _describe(place: _Place, entry: _Entry) -> ExhibitFile:
    if entry.text is not None:
        size, sha256 = entry.text.byte_len, entry.text.sha256.hex()
        return _build(entry, "stored", size=size, sha256=sha256, media_type="text/plain; charset=utf-8")
    if entry.found is None:
        return _build(entry, "path_only", _sign_loose(place, entry.path or ""))
    found = entry.found
    is_own = (found.tenant_id, found.case_id) == (place.tenant_id, place.exhibit.case_id)
    if not is_own or found.version_id is None or found.status in _GONE:
        return _build(entry, "missing")
    key = f"{found.prefix.rstrip('/')}/{found.file}"
    signed = sign_download(key, found.version_id, found.file, is_saved=place.is_saved)
    known = {"size": found.size, "sha256": found.sha256.hex() if found.sha256 else None}
    return _build(entry, "stored", signed, path=found.file, **known)


def _sign_loose(place: _Place, path: str) -> Download | None:
    """Return the URL of a path of the case's loose files; None for one that leads out of them."""
    try:
        key = resolve_source_key(place.tenant_id, place.case, path)
    except InvalidInputError:
        return None
    return sign_download(key, None, path, is_saved=place.is_saved)


def _build(entry: _Entry, state: str, signed: Download | None = None, **known: Any) -> ExhibitFile:
    path = known.get("path", entry.path)
    values = {
        "kind": entry.kind,
        "page": entry.position - 1 if entry.position > 1 else None,
        "page_in_file": entry.page_in_file or None,
        "path": path,
        "volume_id": entry.volume_id,
        "size": None,
        "sha256": None,
        "media_type": find_media_type(path) if path else None,
        "state": state,
        "url": signed.url if signed else None,
        "expires_in_seconds": signed.expires_s if signed else None,
    }
    return ExhibitFile(**{**values, **known})
