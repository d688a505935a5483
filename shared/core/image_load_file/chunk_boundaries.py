"""The lines of a chunk that begin documents, where boundary commands of its file decide that.

A chunk is read again without the rest of its file, which may have the commands. They are therefore stored beside the
chunk, and its hash covers them: an earlier version, which does not read them, fails instead of reading other documents.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping

from core.image_load_file.boundaries import BOUNDARY_COMMANDS, FLAGS, PAGE, read_level
from core.image_load_file.limits import LIMITS
from core.image_load_file.lines import split_texts
from core.image_load_file.page_lines import WHITESPACE
from core.load_file import encoding as enc

_VERSION = b"\x01"
_LEVEL_BITS = 3


def pack_boundaries(first_line: int, starts: Iterable[tuple[int, int]]) -> bytes:
    """Return (line, level) of the lines that begin documents, for `unpack_boundaries`."""
    packed = array("I", [(line - first_line) << _LEVEL_BITS | level for line, level in starts])
    return _VERSION + _order_bytes(packed).tobytes()


def unpack_boundaries(raw: bytes, first_line: int) -> dict[int, int]:
    """Return the level of each line that begins a document. Raises ValueError for another version."""
    if not raw.startswith(_VERSION):
        raise ValueError("The boundaries of the chunk were stored by a later version.")
    packed = array("I")
    packed.frombytes(raw[len(_VERSION) :])
    mask = (1 << _LEVEL_BITS) - 1
    return {first_line + (each >> _LEVEL_BITS): each & mask for each in _order_bytes(packed)}


def hash_chunk(raw: Iterable[bytes], boundaries: bytes | None) -> bytes:
    """Return the SHA-256 of the bytes of a chunk, and of its boundaries if it has some."""
    digest = hashlib.sha256()
    for part in raw:
        digest.update(part)
    digest.update(boundaries or b"")
    return digest.digest()


def write_flags(parts: Iterable[bytes], encoding: str, first_line: int, starts: Mapping[int, int]) -> Iterator[bytes]:
    """Yield lines of a file with the flags that pages have in the end, and without its boundary commands.

    `starts` is what `unpack_boundaries` returns. The lines are given in parts of any size; other lines stay as they
    are, and so are lines over the limit, which are not read. Read alone, they are the same documents.
    """
    pending, is_long, line_no = b"", False, first_line
    for part in parts:
        pending += part
        end = enc.find_last_line_end(pending, encoding, cr_ends=True)
        complete, pending = pending[:end], pending[end:]
        texts, sizes, _ = split_texts(complete, encoding) if complete else ([], [], [])
        at = 0
        for text, size in zip(texts, sizes, strict=True):
            raw, at = complete[at : at + size], at + size
            is_long = is_long or size > LIMITS.line_bytes
            yield raw if is_long else _write_flag(raw, text, encoding, starts.get(line_no, PAGE))
            line_no, is_long = line_no + 1, False
        undecided = enc.count_undecided_bytes(pending, encoding, cr_ends=True)
        if len(pending) > 2 * LIMITS.line_bytes:
            is_long = True
            cut = len(pending) - undecided
            yield pending[:cut]
            pending = pending[cut:]
    for text in split_texts(pending, encoding)[0]:
        yield pending if is_long else _write_flag(pending, text, encoding, starts.get(line_no, PAGE))


def _write_flag(raw: bytes, text: str, encoding: str, level: int) -> bytes:
    """Return a line with its flag, none for a boundary command; a flag that cannot be read stays as it is."""
    command = text.partition(",")[0].strip(WHITESPACE).upper()
    if command in BOUNDARY_COMMANDS:
        return b""
    comma = ",".encode(encoding)
    columns = _split_columns(raw, comma)
    if command != "IM" or len(columns) < 4 or read_level(enc.decode(columns[2], encoding)) is None:
        return raw
    columns[2] = FLAGS[level].encode(encoding)
    return comma.join(columns)


def _split_columns(raw: bytes, comma: bytes) -> list[bytes]:
    """Return the first three columns of a line, and its rest."""
    columns, start, at = list[bytes](), 0, raw.find(comma)
    while at >= 0 and len(columns) < 3:
        if at % len(comma):
            at = raw.find(comma, at + 1)
            continue
        columns.append(raw[start:at])
        start = at + len(comma)
        at = raw.find(comma, start)
    return [*columns, raw[start:]]


def _order_bytes(packed: array[int]) -> array[int]:
    if sys.byteorder == "big":
        packed.byteswap()
    return packed
