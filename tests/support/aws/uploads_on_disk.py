"""Have moto keep what is uploaded in parts as the files of its parts, and never as a whole in memory.

moto joins the parts of an upload three times when it is completed: 3 GB took 11 GB. Its parts above 5 MB are files on
disk already, which live as long as the object. Ranges of the object are read from them; a request for the whole object
has no answer, and the object has no checksum.
"""

from __future__ import annotations

import gc
import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import pytest
from moto.s3 import models as s3
from moto.s3.exceptions import InvalidPart

_set_part = s3.FakeMultipart.set_part


class JoinedParts:
    """The bytes of parts, one after another; each is read when a slice needs it."""

    def __init__(self, parts: Sequence[s3.FakeKey]) -> None:
        self._parts = parts
        self._ends = list(accumulate(part.contentsize for part in parts))

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, chosen: slice) -> bytes:
        start, stop, _ = chosen.indices(len(self))
        return b"".join(self._read(start, stop))

    def _read(self, start: int, stop: int) -> Iterator[bytes]:
        while start < stop:
            place = bisect_right(self._ends, start)
            part, end = self._parts[place], self._ends[place]
            begin = end - part.contentsize
            with part.lock:
                part._value_buffer.seek(start - begin)
                yield part._value_buffer.read(min(stop, end) - start)
            start = end


def _take_part(upload: s3.FakeMultipart, number: int, content: bytes) -> s3.FakeKey:
    # Requests that have ended hold their bodies in cycles; the run of all tests seldom looks for these.
    gc.collect()
    return _set_part(upload, number, content)


def _complete(upload: s3.FakeMultipart, listed: Iterator[tuple[int, str]]) -> tuple[JoinedParts, str, None]:
    parts, tags = [], hashlib.md5(usedforsecurity=False)
    for number, tag in listed:
        part = upload.parts.get(number)
        if part is None or part.etag.strip('"') != tag.strip('"'):
            raise InvalidPart
        parts.append(part)
        tags.update(bytes.fromhex(part.etag.strip('"')))
        # moto closes the parts of an upload with the first copy of its object; these close once nothing reads them.
        part.disposed = True
    upload.parts = {}
    return JoinedParts(parts), f"{tags.hexdigest()}-{len(parts)}", None


def _keep_joined(content: Any) -> property:
    """Return the property `value` of objects, which keeps parts as they are and leaves other values to `content`."""

    def read(key: Any) -> Any:
        return vars(key).get("joined") or content.__get__(key)

    def write(key: Any, value: Any) -> None:
        if isinstance(value, JoinedParts):
            key.joined, key.contentsize = value, len(value)
        else:
            content.__set__(key, value)

    return property(read, write)


@contextmanager
def uploads_on_disk() -> Iterator[None]:
    """For the block, the moto server of this process does so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3.FakeMultipart, "complete", _complete)
        patch.setattr(s3.FakeMultipart, "set_part", _take_part)
        patch.setattr(s3.FakeKey, "value", _keep_joined(s3.FakeKey.__dict__["value"]))
        yield
