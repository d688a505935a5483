"""The objects of a production's volume: copied, and deleted again.

Guaranteed: a file is copied by S3 itself, of one version of it, whole or not at all; copying again is harmless; nothing
is left of a production's objects, in any version, once they were deleted. Which documents' files are missing is said
for all of a part at once.
Not guaranteed: that a file is what its load file said of it: nobody has looked into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from core.errors import FilesMissingError, InvalidInputError
from core.volume import file_path, production_prefix, source_key
from shell.produced_ops import Produced
from shell.settings import settings
from shell.utils.object_store import copy_object, delete_all

AT_ONCE = 16
NAMED = 20


class Copy(NamedTuple):
    """A file that is to be copied; `source` is None where its path leads out of the case's files."""

    control_number: str
    source: str | None
    target: str


def copy_files(tenant_id: str, case: str, folder: str, documents: Sequence[Produced]) -> int:
    """Copy the documents' files into the folder; returns how many.

    Raises FilesMissingError, naming up to 20 documents, when all that are there were copied; StorageUnavailableError.
    """
    copies = [copy for document in documents for copy in _copies(tenant_id, case, folder, document)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        there = list(pool.map(_copied, copies))
    missing = [copy.control_number for copy, copied in zip(copies, there, strict=True) if not copied]
    if missing:
        named = list(dict.fromkeys(missing))
        more = f" and {len(named) - NAMED} more documents" if len(named) > NAMED else ""
        raise FilesMissingError(f"{len(missing)} files are not in the bucket, of {', '.join(named[:NAMED])}{more}")
    return len(copies)


def delete_files(production_id: int) -> int:
    """Delete all that lies under the production's prefix; returns how many versions of objects that were."""
    return delete_all(settings().bucket, production_prefix(production_id))


def _copies(tenant_id: str, case: str, folder: str, document: Produced) -> Iterator[Copy]:
    for kind, path in document.files.items():
        target = folder + file_path(kind, document.part, document.bates_begin, path)
        try:
            source = source_key(tenant_id, case, path)
        except InvalidInputError:
            source = None
        yield Copy(document.exhibit.control_number, source, target)


def _copied(copy: Copy) -> bool:
    return copy.source is not None and copy_object(settings().bucket, copy.source, copy.target)
