"""The objects of a production's volume: copied, and deleted again.

Guaranteed: a file is copied by S3 itself, of one version of it, whole or not at all; copying again is harmless; nothing
is left of a production's objects, in any version, once they were deleted. Which exhibits' files cannot be copied is
said for all of a part at once.
Not guaranteed: that a file is what its load file said of it, for nobody has looked into it; nor that a copy which S3
was still making when its function was killed does not appear after the deletion.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from core.errors import FilesMissingError, InvalidInputError, StorageUnavailableError
from core.volume import file_path, production_prefix, source_key
from shell.invocation import seconds_left
from shell.produced_ops import Produced
from shell.settings import settings
from shell.utils.aws import S3_AT_ONCE
from shell.utils.object_store import copy_object, delete_all

NAMED = 20
_MISSING, _BAD_PATH = "not in the bucket", "with a path that leads out of the case's files"
_WORDS = {"404": _MISSING, "NoSuchKey": _MISSING, "BadPath": _BAD_PATH}


class Copy(NamedTuple):
    """A file that is to be copied; `source` is None where its path leads out of the case's files."""

    exhibit_id: int
    source: str | None
    target: str


def copy_files(tenant_id: str, case: str, folder: str, documents: Sequence[Produced]) -> int:
    """Copy the documents' files into the folder, but for those that are there already; returns how many there are.

    Raises FilesMissingError, naming up to 20 exhibits, once all others were copied; StorageUnavailableError, also when
    the invocation's time is over: what was copied is not copied again.
    """
    copies = [copy for document in documents for copy in _copies(tenant_id, case, folder, document)]
    # Contexts are a thread's own: in the pool's threads there would be time without end.
    ends_at = time.monotonic() + seconds_left()
    with ThreadPoolExecutor(S3_AT_ONCE) as pool:
        refusals = list(pool.map(partial(_refusal, ends_at), copies))
    refused = [(copy.exhibit_id, why) for copy, why in zip(copies, refusals, strict=True) if why]
    if refused:
        raise FilesMissingError(_said_of(refused))
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
        yield Copy(document.exhibit.id, source, target)


def _refusal(ends_at: float, copy: Copy) -> str | None:
    if time.monotonic() > ends_at:
        raise StorageUnavailableError("the invocation's time is over")
    return "BadPath" if copy.source is None else copy_object(settings().bucket, copy.source, copy.target)


def _said_of(refused: Sequence[tuple[int, str]]) -> str:
    """By ids and S3's words: names of files and documents are for those who may read the case."""
    exhibits = list(dict.fromkeys(exhibit_id for exhibit_id, _ in refused))
    why = ", ".join(f"{count} {_WORDS.get(code, code)}" for code, count in Counter(code for _, code in refused).items())
    more = f" and {len(exhibits) - NAMED} more" if len(exhibits) > NAMED else ""
    return f"files cannot be copied ({why}) of the exhibits {', '.join(map(str, exhibits[:NAMED]))}{more}"
