"""Read the records at the end of a zip: where its central directory is, and one header after the other.

Guaranteed: a header is returned as it is, after Zip64 fields were put in; memory does not grow with the directory. An
archive that two readers could understand differently is refused: records that contradict each other, several ends, a
directory that does not fill the place before its end. Not checked here: names and what they lead to, see
`zip_directory`. Records: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.12 to 4.3.16, 4.5.3.

Supported: data before the archive, which moves all offsets; or up to 65,535 bytes after it, which are not read, as in
Info-ZIP and Python's zipfile; more than 65,535 entries without Zip64: the count is modulo 65,536, as macOS writes it,
or 65,535, as others do. Refused: archives in several parts; data before and after the archive, because that is also
what remains of a zip that is cut off after an archive inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

from core.codes import VolumeFailure
from core.volumes.archives import HEAD_BYTES, find_archive_kind
from core.volumes.errors import VolumeRefusedError

# Returns the bytes [start, end) of the archive, all of them.
Read = Callable[[int, int], bytes]

# At most this many bytes of the directory are read at once.
BLOCK_BYTES = 4_000_000
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF
UTF8_FLAG = 0x800
_ZIP64_FIELD = 0x0001
# Signature; disk, disk of the directory, entries on this disk, entries; size, offset; length of the comment.
_END = Struct("<4s4H2LH")
# Signature; disk; offset; disks.
_LOCATOR64 = Struct("<4sLQL")
# Signature; size of the rest; versions; disk, disk of the directory; entries on this disk, entries, size, offset.
_END64 = Struct("<4sQ2H2L4Q")
# Signature; versions, flags, method, time, date; CRC-32, compressed size, size; lengths of name, extra fields and
# comment, disk, internal attributes; external attributes, offset.
_HEADER = Struct("<4s6H3L5H2L")
_PART = "The zip is one part of several. Join the parts, or make one zip."
_LONGEST_HEADER = _HEADER.size + 3 * _MAX16
_LONGEST_TAIL = _LOCATOR64.size + _END.size + _MAX16


class DirectoryPlace(NamedTuple):
    """Where the central directory is: bytes [start, end), with this many entries.

    `shift` is what is added to the offsets in it: the bytes before the archive. Without `is_zip64`, the entries are
    counted modulo 65,536, or at most 65,535 of them.
    """

    start: int
    end: int
    entries: int
    shift: int
    is_zip64: bool


class Header(NamedTuple):
    """An entry of the central directory. `offset` is that of its local header, from the beginning of the bytes."""

    raw_name: bytes
    extra: bytes
    flags: int
    method: int
    crc32: int
    compressed_size: int
    size: int
    attributes: int
    offset: int

    @property
    def display_name(self) -> str:
        """The name for a message."""
        return self.raw_name.decode("utf-8" if self.flags & UTF8_FLAG else "cp437", "backslashreplace")


def refuse_damaged(message: str, entry: str | None = None) -> VolumeRefusedError:
    """Return the error of an archive that cannot be read; without an entry, the message is about the whole zip."""
    return VolumeRefusedError(VolumeFailure.ZIP_DAMAGED, message, entry)


def find_directory(read: Read, size: int) -> DirectoryPlace:
    """Return the place of the central directory of an archive of this many bytes.

    Raises VolumeRefusedError (ZIP_DAMAGED) if there is no end record or the records contradict each other.
    """
    tail_start = max(0, size - _LONGEST_TAIL)
    tail = read_all(read, tail_start, size)
    at = _find_end(tail, is_whole=tail_start == 0)
    if at is None:
        raise _refuse_other(read_all(read, 0, min(size, HEAD_BYTES)))
    record = _END.unpack_from(tail, at)
    fields, end = record[1:7], tail_start + at
    locator_at = at - _LOCATOR64.size
    is_zip64 = locator_at >= 0 and tail.startswith(b"PK\x06\x07", locator_at)
    if is_zip64:
        end, fields64 = _read_end64(read, _LOCATOR64.unpack_from(tail, locator_at), tail_start + locator_at)
        fields = _merge(fields, fields64)
    disk, directory_disk, entries_here, entries, directory_size, offset = fields
    if disk or directory_disk or entries_here != entries:
        raise refuse_damaged(_PART)
    start = end - directory_size
    is_followed = tail_start + at + _END.size + record[-1] < size
    if start < offset or (is_followed and start != offset):
        raise refuse_damaged("The zip is cut off, or its directory is not where its end says. Make the zip again.")
    return DirectoryPlace(start, end, entries, start - offset, is_zip64)


def read_headers(read: Read, place: DirectoryPlace) -> Iterator[Header]:
    """Yield the entries of the directory, in its order.

    Raises VolumeRefusedError (ZIP_DAMAGED) if the directory has other bytes than entries, or another number of them.
    """
    buffer, used, position, count = b"", 0, place.start, 0
    while position < place.end or used < len(buffer):
        if len(buffer) - used < _LONGEST_HEADER and position < place.end:
            block_end = min(position + BLOCK_BYTES, place.end)
            buffer, used, position = buffer[used:] + read_all(read, position, block_end), 0, block_end
        header, used = _parse_header(buffer, used, place.shift)
        count += 1
        yield header
    if place.entries not in ((count,) if place.is_zip64 else (count & _MAX16, min(count, _MAX16))):
        raise refuse_damaged(f"The zip has {count:,} entries, and its end says {place.entries:,}. Make the zip again.")


def find_extra(extra: bytes, expected: int) -> bytes | None:
    """Return the data of an extra field; None if the entry does not have it. Raises ValueError for malformed ones."""
    at, found = 0, None
    while at + 4 <= len(extra):
        kind, length = int.from_bytes(extra[at : at + 2], "little"), int.from_bytes(extra[at + 2 : at + 4], "little")
        at += 4 + length
        if at > len(extra) or (kind == expected and found is not None):
            raise ValueError
        if kind == expected:
            found = extra[at - length : at]
    return found


def read_all(read: Read, start: int, end: int) -> bytes:
    """Return the bytes [start, end). Raises VolumeRefusedError (ZIP_DAMAGED) if there are fewer."""
    raw = read(start, end)
    if len(raw) != end - start:
        raise refuse_damaged("The zip has fewer bytes than it should. Upload it again.")
    return raw


def _find_end(tail: bytes, *, is_whole: bool) -> int | None:
    """Return where the end record begins: the one whose comment ends with the file, else the last one.

    Return None without one. `is_whole`: the tail is the whole file, so that nothing precedes it.
    """
    found, at = [], tail.rfind(b"PK\x05\x06")
    while at >= 0:
        # The locator of Zip64 would be just before it.
        if at + _END.size <= len(tail) and (is_whole or at >= _LOCATOR64.size):
            found.append((at, at + _END.size + _END.unpack_from(tail, at)[-1]))
        at = tail.rfind(b"PK\x05\x06", 0, at + 3)
    exact = [start for start, end in found if end == len(tail)]
    fitting = [(start, end) for start, end in found if end <= len(tail)]
    # Where bytes follow the last record, it must not be in the comment of another one.
    if len(exact) > 1 or (not exact and any(end > fitting[0][0] for _, end in fitting[1:])):
        raise refuse_damaged("The zip has several ends. Make the zip again, without a comment.")
    return exact[0] if exact else fitting[0][0] if fitting else None


def _refuse_other(head: bytes) -> VolumeRefusedError:
    """Return the error about a file without an end record, which may be an archive of another kind."""
    if kind := find_archive_kind(head):
        return refuse_damaged(f"The file is {kind}, not a zip. Unpack it and send the folder, or make a zip of it.")
    return refuse_damaged("The file is not a zip, or is cut off. Make the zip again.")


def _read_end64(read: Read, locator: tuple[int, ...], locator_at: int) -> tuple[int, tuple[int, ...]]:
    """Return where the Zip64 end record begins, and its fields."""
    if locator[1] or locator[3] > 1:
        raise refuse_damaged(_PART)
    # Usually just before its locator, whose offset does not count data before the archive.
    for at in (locator_at - _END64.size, locator[2]):
        if 0 <= at <= locator_at - _END64.size:
            record = _END64.unpack(read_all(read, at, at + _END64.size))
            if record[0] == b"PK\x06\x06" and at + 12 + record[1] == locator_at:
                return at, record[4:]
    raise refuse_damaged("The zip's Zip64 record is missing. Make the zip again.")


def _merge(fields: tuple[int, ...], fields64: tuple[int, ...]) -> tuple[int, ...]:
    limits = (*(_MAX16,) * 4, *(_MAX32,) * 2)
    for value, value64, limit in zip(fields, fields64, limits, strict=True):
        if value not in (limit, value64):
            raise refuse_damaged("The zip's two end records contradict each other. Make the zip again.")
    return fields64


def _parse_header(buffer: bytes, at: int, shift: int) -> tuple[Header, int]:
    """Return the entry at this place of the buffer, and where the next one begins."""
    if at + _HEADER.size > len(buffer) or not buffer.startswith(b"PK\x01\x02", at):
        raise refuse_damaged("The zip's directory is damaged. Make the zip again.")
    (
        _,
        _,
        _,
        flags,
        method,
        _,
        _,
        crc,
        compressed,
        size,
        name_size,
        extra_size,
        comment_size,
        disk,
        _,
        attributes,
        offset,
    ) = _HEADER.unpack_from(buffer, at)
    name_end = at + _HEADER.size + name_size
    extra_end = name_end + extra_size
    if extra_end + comment_size > len(buffer):
        raise refuse_damaged("The zip's directory is cut off. Make the zip again.")
    extra = buffer[name_end:extra_end]
    header = Header(
        buffer[name_end - name_size : name_end], extra, flags, method, crc, compressed, size, attributes, offset + shift
    )
    if _MAX32 in (compressed, size, offset) or disk:
        header = _apply_zip64(header, offset, disk, shift)
    return header, extra_end + comment_size


def _apply_zip64(header: Header, offset: int, disk: int, shift: int) -> Header:
    """Return the header with the values that its Zip64 field has, in this order, for each field at its maximum."""
    try:
        rest = find_extra(header.extra, _ZIP64_FIELD)
        values = []
        for value, limit, width in (
            (header.size, _MAX32, 8),
            (header.compressed_size, _MAX32, 8),
            (offset, _MAX32, 8),
            (disk, _MAX16, 4),
        ):
            if value == limit and rest is not None:
                value, rest = _take(rest, width)
            values.append(value)
    except ValueError:
        raise refuse_damaged("its Zip64 field is malformed. Make the zip again.", header.display_name) from None
    if values[3]:
        raise refuse_damaged("it is in another part of the zip. Join the parts, or make one zip.", header.display_name)
    return header._replace(size=values[0], compressed_size=values[1], offset=values[2] + shift)


def _take(rest: bytes, width: int) -> tuple[int, bytes]:
    if len(rest) < width:
        raise ValueError
    return int.from_bytes(rest[:width], "little"), rest[width:]
