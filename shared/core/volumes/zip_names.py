"""Decode the names of a zip's entries, and refuse those that are not paths within a volume.

Guaranteed: the path of an entry has neither `..` nor blank segments, drives or control characters, and slashes alone;
the raw name is kept by the entry. Windows programs that write backslashes are understood: they become slashes.
"""

from __future__ import annotations

import re
import zlib

from core.codes import VolumeFailure
from core.volumes.errors import VolumeRefusedError
from core.volumes.paths import DRIVE, UNSTORABLE, split_path
from core.volumes.zip_records import UTF8_FLAG, Header, find_extra, refuse_damaged

# Values of the option zipNames: the encoding of names that do not state theirs.
NAME_ENCODINGS = (
    *("utf-8", "cp437", "cp850", "cp852", "cp866", "cp932", "cp936", "cp949", "cp950", "gb18030"),
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256"),
)
# Bytes of UTF-8. The key of an object of S3 is not longer, and has the volume's prefix before the path.
MAX_PATH_BYTES, MAX_RAW_BYTES = 1_024, 4_096
MAC_FOLDER, FOLDERS = "__MACOSX/", "folders"
_SYSTEM_FILES = {".ds_store": ".DS_Store", "thumbs.db": "Thumbs.db", "desktop.ini": "desktop.ini"}
# Of Info-ZIP (APPNOTE.TXT 4.6.9): version 1, CRC-32 of the raw name, the name in UTF-8.
_UNICODE_PATH_FIELD = 0x7075
_PLAIN = re.compile(r"[^\\\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class NameNotUtf8Error(Exception):
    """A name that does not state its encoding is not valid UTF-8; read all of them as cp437."""


def decode_name(header: Header, encoding: str | None) -> str:
    """Return the name of an entry.

    `encoding` is that of names which neither have the UTF-8 flag nor a Unicode path field; None to try UTF-8, which
    raises NameNotUtf8Error if it is another one. Raises VolumeRefusedError: ZIP_DAMAGED for a name that is not in the
    encoding that was stated, ZIP_PATH for one of over 4,096 bytes.
    """
    raw = header.raw_name
    if len(raw) > MAX_RAW_BYTES:
        raise _refuse(header.display_name, f"the name is longer than {MAX_RAW_BYTES:,} bytes.")
    # Also beside a name in ASCII, which may be a stand-in such as `__.msg` for one that an old program cannot write.
    unicode_path = None if header.flags & UTF8_FLAG else _read_unicode_path(header)
    if unicode_path is not None:
        return unicode_path
    if raw.isascii():
        return raw.decode("ascii")
    stated = "utf-8" if header.flags & UTF8_FLAG else encoding
    try:
        return raw.decode(stated or "utf-8")
    except UnicodeDecodeError:
        if stated is None:
            raise NameNotUtf8Error from None
        message = f"its name is not valid {stated}. Make the zip again, or set zipNames to the encoding of the names."
        raise refuse_damaged(message, header.display_name) from None


def _read_unicode_path(header: Header) -> str | None:
    """Return the name in UTF-8 that the entry has beside the raw one; None if there is none, or one of another name."""
    try:
        data = find_extra(header.extra, _UNICODE_PATH_FIELD) or b""
        valid = data[:1] == b"\x01" and int.from_bytes(data[1:5], "little") == zlib.crc32(header.raw_name)
        return data[5:].decode("utf-8") if valid else None
    except ValueError:
        return None


def build_path(name: str) -> str:
    """Return the path within the volume; a folder's ends with a slash.

    Raises VolumeRefusedError (ZIP_PATH) for a name that is blank or has a blank part, is absolute, has a drive, `..` or
    control characters, or is over 1,024 bytes long.
    """
    if not _PLAIN.fullmatch(name) and UNSTORABLE.search(name):
        raise _refuse(name, "the name has a control character.")
    text = name.replace("\\", "/")
    if text.startswith("/") or DRIVE.match(text):
        raise _refuse(name, "the name is an absolute path.")
    segments = split_path(text)
    if ".." in segments:
        raise _refuse(name, "the name has the segment '..', which leads out of the volume.")
    path = "/".join(segments)
    if any(not segment.strip() for segment in segments) or not text:
        raise _refuse(name, "the name, or a part of it between slashes, is blank.")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise _refuse(name, f"the name is longer than {MAX_PATH_BYTES:,} bytes.")
    return path + "/" if text.endswith("/") or not segments else path


def find_ignored_kind(path: str) -> str | None:
    """Return what an entry is that is not expanded: `folders`, or the name of the system file; None for other files."""
    if path.startswith(MAC_FOLDER):
        return MAC_FOLDER
    if path.endswith("/"):
        return FOLDERS
    return _SYSTEM_FILES.get(path.rpartition("/")[2].lower())


def _refuse(name: str, what: str) -> VolumeRefusedError:
    return VolumeRefusedError(VolumeFailure.ZIP_PATH, f"{what} Make the zip again from the volume's folder.", name)
