"""Read a written volume back and compare it with what was reserved, before the production is confirmed.

Guaranteed: a production whose DAT, OPT, manifest or objects differ from its reserved rows in number, order, names,
pages, sizes or hashes is not confirmed. The comparison has its own statements and its own readers; it shares neither
with what copies and writes.
Not guaranteed: the bytes of copies, which are not read again: their SHA-256 is what S3 computed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, text

from core.errors import FileRefusedError
from core.productions.readback import (
    ListedFile,
    ReservedDocument,
    ReservedFile,
    VolumeContents,
    VolumeDiffersError,
    compare_volume,
    read_dat,
    read_manifest,
    read_opt,
)
from core.slices import slice_by_size
from shell.aws.s3 import find_current_version, list_objects
from shell.db.session import session
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

DOCUMENTS_AT_ONCE, PAGES_AT_ONCE = 2_000, 100_000
_PRODUCTION = text(
    "SELECT id, volume, prefix, digits, numbering, slip_sheets, properties, documents, sequence_id, first_number, "
    "last_number, manifest_sha256 FROM productions WHERE id = :id"
)
_DOCUMENTS = text(
    "SELECT position, first_number, last_number, files, page_set_id, page_count FROM production_documents "
    "WHERE production_id = :id AND sequence_id = :sequence AND first_number BETWEEN :next AND :last "
    "ORDER BY first_number LIMIT :most"
)
_FILES = text("SELECT id, size, sha256 FROM volume_files WHERE id IN :ids").bindparams(bindparam("ids", expanding=True))
_TEXTS = text("SELECT id, byte_len AS size, sha256 FROM texts WHERE id IN :ids").bindparams(
    bindparam("ids", expanding=True)
)
_PAGES = text(
    "SELECT page_set_id, size, sha256 FROM pages LEFT JOIN volume_files ON volume_files.id = pages.file_id "
    "WHERE page_set_id IN :ids ORDER BY page_set_id, page_no"
).bindparams(bindparam("ids", expanding=True))


def reconcile(production_id: int) -> None:
    """Compare the production's volume with its rows.

    Raises VolumeDiffersError at the first difference, StorageUnavailableError if it cannot be read.
    """
    production = _read_production(production_id)
    try:
        _Reconciliation(production).run()
    except UnicodeDecodeError as error:
        raise VolumeDiffersError("a file is not in UTF-8") from error
    except FileRefusedError as error:
        raise VolumeDiffersError("a load file or the manifest is missing") from error


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_production(production_id: int) -> Any:
    with session() as reading:
        return reading.execute(_PRODUCTION, {"id": production_id}).one()


class _Hashed:
    """The bytes of an object of the volume, with their count and SHA-256 once they are read."""

    def __init__(self, key: str) -> None:
        self._key, self._digest, self.size = key, hashlib.sha256(), 0

    def __iter__(self) -> Iterator[bytes]:
        version, size = find_current_version(settings().bucket, self._key)
        for block in version.read_blocks(size):
            self.size += len(block)
            self._digest.update(block)
            yield block

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


class _Reconciliation:
    """One comparison; `production` is its row."""

    def __init__(self, production: Any) -> None:
        self._production = production
        self._folder = f"productions/{production.id}/{production.volume}/"
        self._dat, self._opt, self._manifest = (
            _Hashed(self._folder + name)
            for name in (f"DATA/{production.volume}.dat", f"DATA/{production.volume}.opt", "MANIFEST.csv")
        )

    def run(self) -> None:
        """Compare everything."""
        objects = {kind: self._list_objects(kind) for kind in ("NATIVES", "TEXT", "IMAGES")}
        data = dict(self._list_objects("DATA"))
        opt = read_opt(self._opt) if f"DATA/{self._production.volume}.opt" in data else iter(())
        manifest = read_manifest(self._manifest)
        contents = VolumeContents(self._production.volume, read_dat(self._dat), opt, manifest, objects)
        compare_volume(self._iterate_reserved(), contents)
        if contents.documents != self._production.documents:
            raise VolumeDiffersError("the number of documents is not what was reserved")
        self._compare_rest(list(manifest), data, contents.lines > 0)

    def _compare_rest(self, listed: Sequence[ListedFile], data: Mapping[str, int], has_images: bool) -> None:
        """Compare the load files with the manifest's last lines, and the manifest with its stored hash."""
        read = {"dat": self._dat} | ({"opt": self._opt} if has_images else {})
        expected = [
            ListedFile(f"DATA/{self._production.volume}.{extension}", file.size, file.sha256)
            for extension, file in read.items()
        ]
        if list(listed) != expected or data != {file.path: file.size for file in expected}:
            raise VolumeDiffersError("the load files are not those that the manifest lists")
        stored = self._production.manifest_sha256
        sums = b"".join(_Hashed(f"{self._folder}MANIFEST.sha256")).decode("ascii").split()
        if stored is None or self._manifest.sha256 != stored.hex() or sums[:1] != [stored.hex()]:
            raise VolumeDiffersError("the manifest is not the one that was written")

    def _list_objects(self, kind: str) -> Iterator[tuple[str, int]]:
        for key, size in list_objects(settings().bucket, f"{self._folder}{kind}/"):
            yield key.removeprefix(self._folder), size

    def _iterate_reserved(self) -> Iterator[ReservedDocument]:
        number, position = self._production.first_number, None
        while number <= self._production.last_number:
            rows, files, pages = self._read_page(number)
            for row in rows:
                if row.first_number != number or position not in (None, row.position - 1):
                    raise VolumeDiffersError("the reserved numbers or positions are not consecutive")
                yield self._build(row, files, pages)
                number, position = row.last_number + 1, row.position
            if not rows:
                raise VolumeDiffersError("reserved numbers are missing")

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _read_page(self, number: int) -> tuple[Sequence[Any], dict[Any, Any], dict[int, list[Any]]]:
        """Return some documents from a number on, the files of volumes that they have, and the pages of their sets."""
        production = self._production
        given = {"id": production.id, "sequence": production.sequence_id, "next": number, "most": DOCUMENTS_AT_ONCE}
        pages: dict[int, list[Any]] = defaultdict(list)
        with session() as reading:
            found = reading.execute(_DOCUMENTS, given | {"last": production.last_number}).all()
            rows = next(slice_by_size(found, lambda row: row.page_count or 0, PAGES_AT_ONCE), [])
            stored = [file for row in rows for file in json.loads(row.files).values() if isinstance(file, dict)]
            ids = {file["file"] for file in stored if "file" in file}
            sets = {row.page_set_id for row in rows if row.page_set_id and "IMAGES" not in json.loads(row.files)}
            files = {row.id: row for row in reading.execute(_FILES, {"ids": sorted(ids)})} if ids else {}
            texts = {file["text"] for file in stored if "text" in file}
            found_texts = reading.execute(_TEXTS, {"ids": sorted(texts)}) if texts else ()
            files |= {("text", row.id): row for row in found_texts}
            for page in reading.execute(_PAGES, {"ids": sorted(sets)}) if sets else ():
                pages[page.page_set_id].append(page)
        return rows, files, pages

    def _build(self, row: Any, files: Mapping[Any, Any], pages: Mapping[int, Sequence[Any]]) -> ReservedDocument:
        begin, by_page = self._format(row.first_number), self._production.numbering == "page"
        stored = {
            kind: _describe_file(begin, _find_stored(file, files)) for kind, file in json.loads(row.files).items()
        }
        image = stored.pop("IMAGES", None)
        images = [image] if image else []
        if row.page_set_id and not image:
            images = [
                _describe_file(self._format(row.first_number + index), page)
                for index, page in enumerate(pages[row.page_set_id])
            ]
            if len(images) != row.page_count:
                raise VolumeDiffersError("the pages of a document are not as many as its reserved numbers")
        elif self._production.slip_sheets and not image:
            images = [ReservedFile(begin)]
        count = row.last_number - row.first_number + 1 if by_page else None
        if row.page_count is not None and row.page_count != count:
            raise VolumeDiffersError("the reserved numbers of a document are not as many as its pages")
        cells = self._list_cells(row, stored.get("NATIVES"))
        return ReservedDocument(begin, self._format(row.last_number), stored, images, count, cells)

    def _list_cells(self, row: Any, native: ReservedFile | None) -> dict[str, str]:
        """Return the cells that the DAT must have, unless the request names a column that takes their place."""
        requested = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in json.loads(self._production.properties)}
        cells = {}
        if row.page_count is not None and "pagecount" not in requested:
            cells["Page Count"] = str(row.page_count)
        if native and native.sha256 and "sha256hash" not in requested:
            cells["SHA-256 Hash"] = native.sha256
        return cells

    def _format(self, number: int) -> str:
        return str(self._production.prefix) + str(number).rjust(self._production.digits, "0")


def _find_stored(file: Any, files: Mapping[Any, Any]) -> Any | None:
    """Return the row of a file of a volume or of a text; None for any other file."""
    if not isinstance(file, dict):
        return None
    return files.get(("text", file["text"]) if "text" in file else file.get("file"))


def _describe_file(number: str, row: Any | None) -> ReservedFile:
    if row is None or row.size is None:
        return ReservedFile(number)
    return ReservedFile(number, row.size, row.sha256.hex() if row.sha256 else None)
