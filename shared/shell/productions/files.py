"""List the files of a completed production, with URLs to download them.

Guaranteed: the list is that of the volume's manifest, which was read back and compared with what was reserved before
the production was confirmed; a page takes three requests to S3 at most, however long the manifest is; data of another
tenant is not found. A URL names a key of this production and no other.
Not guaranteed: that an object is still there. The bucket's rules decide how long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.caller import Caller
from core.contracts.productions import ProducedFile, ProducedFilePage
from core.errors import FileRefusedError, NotFoundError, WrongStateError
from core.pagination import build_cursor_error, decode_cursor, encode_cursor
from core.productions.readback import ListedFile, read_manifest
from core.productions.volume import LINE_END, MANIFEST, MANIFEST_HASH, MANIFEST_HEADER, build_volume_folder
from core.statuses import ProductionStatus
from shell.aws.presigned_urls import presign_get
from shell.aws.s3 import ObjectVersion, find_current_version
from shell.db.session import session
from shell.productions.queries import load_production
from shell.settings import settings
from shell.tables.productions import Productions
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# No line is longer: a Bates number of 80 characters in a path, a size and a hash.
LINE_BYTES = 512
# The lines of DAT and OPT are the last ones.
_LOAD_FILES, _MOST_LOAD_FILES = "DATA/", 2
_END = LINE_END.encode()


class _Manifest(NamedTuple):
    """The manifest of a volume, its size, and its last lines, which list the load files."""

    object: ObjectVersion
    size: int
    load_files: bytes

    @property
    def end(self) -> int:
        """Where the lines of the documents' files end."""
        return self.size - len(self.load_files)


def list_files(caller: Caller, production_id: int, limit: int, after: str | None) -> ProducedFilePage:
    """Return a page of the volume's files: manifest and load files on the first one, then those of the documents.

    Raises NotFoundError, WrongStateError unless the production is confirmed, InvalidInputError for a cursor that this
    API did not issue, and StorageUnavailableError.
    """
    production = _load_confirmed(caller, production_id)
    folder = build_volume_folder(production.id, production.volume)
    manifest = _open_manifest(folder)
    first = list(_list_first(production, manifest))
    start = 0 if after is None else _decode(manifest, len(first), after)
    page = first[start : start + limit]
    end = start + len(page)
    if end >= len(first):
        lines, end = _read_lines(manifest, max(end, len(MANIFEST_HEADER)), limit - len(page))
        page += _parse(lines)
    return ProducedFilePage(
        items=[_describe(folder, each) for each in page],
        expires_in_seconds=settings().upload_url_seconds,
        next=encode_cursor(end) if end < manifest.end else None,
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_confirmed(caller: Caller, production_id: int) -> Productions:
    with session() as reading:
        production, _ = load_production(reading, caller, production_id)
    if production.status != ProductionStatus.CONFIRMED:
        raise WrongStateError(
            f"The production has the status {production.status}; its files can be downloaded once it is confirmed."
        )
    return production


def _open_manifest(folder: str) -> _Manifest:
    try:
        version, size = find_current_version(settings().bucket, folder + MANIFEST)
    except FileRefusedError as exc:
        raise NotFoundError(
            "The manifest of the volume is not in the bucket any more; restore it from a copy."
        ) from exc
    # By its ETag: a version would need a permission of its own.
    current = version._replace(version_id=None)
    tail = current.read(max(size - _MOST_LOAD_FILES * LINE_BYTES, len(MANIFEST_HEADER)), size)
    lines = tail.split(_END)[:-1]
    listed = [line for line in lines[-_MOST_LOAD_FILES:] if line.startswith(_LOAD_FILES.encode())]
    return _Manifest(current, size, b"".join(line + _END for line in listed))


def _list_first(production: Productions, manifest: _Manifest) -> Iterator[ListedFile]:
    """Yield the manifest, its hash, and the load files."""
    digest = (production.manifest_sha256 or b"").hex()
    sums = f"{digest}  {MANIFEST}\n".encode()
    yield ListedFile(MANIFEST, manifest.size, digest)
    yield ListedFile(MANIFEST_HASH, len(sums), hashlib.sha256(sums).hexdigest())
    yield from _parse(manifest.load_files)


def _decode(manifest: _Manifest, first: int, after: str) -> int:
    """Return where the page begins: at one of the first files, or at a byte of the manifest.

    Raises InvalidInputError if no file begins there.
    """
    (start,) = decode_cursor(after, (int,))
    if start < first:
        return int(start)
    if not len(MANIFEST_HEADER) <= start < manifest.end:
        raise build_cursor_error()
    if manifest.object.read(start - len(_END), start) != _END:
        raise build_cursor_error()
    return int(start)


def _read_lines(manifest: _Manifest, start: int, most: int) -> tuple[bytes, int]:
    """Return at most so many whole lines from a position on, and where the next one begins."""
    window = manifest.object.read(start, min(manifest.end, start + most * LINE_BYTES))
    lines = window.split(_END)[:-1][:most]
    found = b"".join(line + _END for line in lines)
    return found, start + len(found)


def _parse(lines: bytes) -> Sequence[ListedFile]:
    return list(read_manifest([MANIFEST_HEADER, lines]))


def _describe(folder: str, file: ListedFile) -> ProducedFile:
    url = presign_get(settings().bucket, folder + file.path, file.path.rpartition("/")[2])
    return ProducedFile(path=file.path, size=file.size, sha256=file.sha256, url=url)
