"""Send the files of a folder into a volume, one by one.

Guaranteed: a file is sent only as it was hashed: it is declared with its SHA-256, so that the storage accepts no other
bytes of one that is sent in one request, and the API refuses another file under the same path; the parts of larger ones
are compared as those of any object. Files are declared some hundred at a time, in the order of their paths, when those
before them are nearly sent, so that their URLs are new.
"""

from __future__ import annotations

import uuid

from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folders import Folder
from exhibit_ingest.uploads.local_files import FileSource, LocalFile, hash_file
from exhibit_ingest.uploads.object_upload import ObjectUpload
from exhibit_ingest.uploads.protocols import Api, Document
from exhibit_ingest.uploads.targets import make_file_target
from exhibit_ingest.uploads.tasks import Context, Task, do_nothing

_MOST_FILES = 250
# As the API divides files: from this size on in parts, of which a request may have a thousand.
_MIN_BYTES_IN_PARTS = 10_000_000
_MIN_PART_BYTES, _PART_BYTES, _FEW_PARTS, _MAX_PARTS = 16_000_000, 100_000_000, 256, 1_000


class FolderUpload:
    """Makes the tasks of one volume."""

    def __init__(self, api: Api, folder: Folder, volume_id: int) -> None:
        self._api, self._folder, self._volume_id = api, folder, volume_id

    def begin(self) -> Task:
        """Return what is to be done first; it adds the rest."""
        return self._make_batch(0)

    def _make_batch(self, start: int) -> Task:
        """Declare the files from `start` on, so many as a request may have."""
        key, declared = str(uuid.uuid4()), list[Document]()
        files = [self._folder[at] for at in range(start, start + count_batch(self._folder, start))]

        def run(context: Context) -> None:
            # What was sent with the key is the same when it is sent again.
            if not declared:
                declared.extend(_describe(file) for file in files)
            items = self._api.request("POST", f"/volumes/{self._volume_id}/files", declared, key)["items"]
            if not items:
                raise UploadFault("final", "UNEXPECTED", "The API declared none of the files that it was sent.")
            tasks = [self._make_file(file, item, context) for file, item in zip(files, items, strict=False)]
            # Long paths: the API has declared fewer.
            following = start + len(items)
            context.add([*tasks, *([self._make_batch(following)] if following < len(self._folder) else [])])

        return Task(files[0].path if len(files) == 1 else "", run)

    def _make_file(self, file: LocalFile, item: Document, context: Context) -> Task:
        if item["path"] != file.path:
            raise UploadFault("final", "UNEXPECTED", "The API declared other files than it was sent.")
        if item["stored"]:
            context.count_there()
            return Task(file.path, do_nothing, 1, file.size)
        target = make_file_target(self._api, self._volume_id, file.path, item["upload"])
        return ObjectUpload(FileSource(file), target).begin(context.clock())


def _describe(file: LocalFile) -> Document:
    is_in_parts = file.size >= _MIN_BYTES_IN_PARTS
    return {"path": file.path, "size": file.size, "sha256": hash_file(file), "inParts": is_in_parts}


def count_batch(folder: Folder, start: int) -> int:
    """Return how many files from `start` on a request declares: at most 250, and 1,000 URLs."""
    urls = 0
    for at in range(start, min(start + _MOST_FILES, len(folder))):
        urls += count_urls(folder[at].size)
        if urls > _MAX_PARTS and at > start:
            return at - start
    return min(_MOST_FILES, len(folder) - start)


def count_urls(size: int) -> int:
    """Return how many URLs the upload of a file of this size has."""
    if size < _MIN_BYTES_IN_PARTS:
        return 1
    small = min(max(_MIN_PART_BYTES, -(-size // _FEW_PARTS)), _PART_BYTES)
    return -(-size // max(small, -(-size // _MAX_PARTS)))
