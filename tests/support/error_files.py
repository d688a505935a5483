"""What an error file must hold, from the source's bytes and Python's own codecs alone."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from itertools import starmap


def error_file_of(data: bytes, header_len: int, encoding: str, records: Iterable[tuple[int, int]]) -> bytes:
    """The error file for the records at these places (first byte, length) of a source."""
    encoding = encoding.removesuffix("-sig")

    def read(start: int, length: int) -> str:
        raw = data[start : start + length]
        if encoding.startswith("utf-16"):
            return raw.decode(encoding, "replace")
        # A sign for each byte that cannot be decoded; a mark of UTF-8 would be three characters of cp1252.
        raw = raw.removeprefix(codecs.BOM_UTF8) if encoding == "cp1252" else raw
        return re.sub("[\ud800-\udfff]", "\ufffd", raw.decode(encoding, "surrogateescape"))

    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    header = read(start, header_len - start)
    header = header if start else header.removeprefix("\ufeff")
    return ("\ufeff" + header + "".join(starmap(read, records))).encode()
