"""Write the texts of cells into a production's volume, from the objects that hold the texts of many rows.

Guaranteed: the bytes of an object are read once for the documents of a part; each text is compared with its stored
SHA-256, and S3 compares it again when it is written; a text that is there already is the one of an earlier call.
Not guaranteed: that other texts of the object are not read; none of them leaves this module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from core.errors import FileRefusedError, StorageRefusedError
from shell.aws.new_objects import find_object, put_new
from shell.aws.s3 import ObjectVersion
from shell.aws.s3_copies import CopiedObject
from shell.productions.sources import SourceFile

MAX_READ_BYTES = 16_000_000
GONE, CHANGED = "NoSuchVersion", "Changed"


class PackedText(NamedTuple):
    """A text and the key of its file in the volume."""

    source: SourceFile
    target: str

    @property
    def start(self) -> int:
        """The first byte in the object."""
        return self.source.offset or 0

    @property
    def end(self) -> int:
        """The byte after the last one."""
        return self.start + (self.source.size or 0)


def group_texts(texts: Sequence[PackedText]) -> Iterator[list[PackedText]]:
    """Yield the texts of one object that are read together: up to 16 MB from the first to the last, or a single one."""
    ordered = sorted(texts, key=lambda each: (each.source.key or "", each.source.version_id or "", each.start))
    for _, group in groupby(ordered, key=lambda each: (each.source.key, each.source.version_id)):
        window: list[PackedText] = []
        for each in group:
            if window and each.end - window[0].start > MAX_READ_BYTES:
                yield window
                window = []
            window.append(each)
        yield window


def read_window(bucket: str, window: Sequence[PackedText]) -> Mapping[str, bytes] | str:
    """Return the texts of a window by their targets; an error code if their object cannot be read any more.

    Raises StorageUnavailableError for a failure that a retry may resolve.
    """
    source, start = window[0].source, window[0].start
    try:
        whole = ObjectVersion(bucket, source.key or "", source.version_id, None)
        data = whole.read(start, max(each.end for each in window))
    except (FileRefusedError, StorageRefusedError):
        return GONE
    return {each.target: data[each.start - start : each.end - start] for each in window}


def write_text(bucket: str, text: PackedText, data: bytes) -> CopiedObject | str:
    """Write one text to its target; return what is written, also by an earlier call, or `Changed`.

    Raises StorageUnavailableError for a failure that a retry may resolve.
    """
    digest = hashlib.sha256(data).digest()
    if digest != text.source.sha256:
        return CHANGED
    stored = put_new(bucket, text.target, data, digest) or find_object(bucket, text.target)
    if stored is None or (stored.size, stored.sha256) != (len(data), digest):
        return CHANGED
    return CopiedObject(len(data), digest)
