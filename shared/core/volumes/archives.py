"""Archives that are not unpacked: other formats than zip, and archives in a volume. They are named, so that users can.

Not guaranteed: that a file with such a name is an archive, or that one without it is none.
"""

from __future__ import annotations

HEAD_BYTES = 262
_TAR_AT = 257
# Signatures: RARLAB "RAR 5.0 archive format", 7-Zip "7zFormat.txt", RFC 1952, bzip2 and xz formats.
_SIGNATURES = (
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
)
_EXTENSIONS = ("zip", "zipx", "rar", "7z", "tar", "gz", "tgz", "bz2", "xz")


def find_archive_kind(head: bytes) -> str | None:
    """Return what kind of archive other than a zip begins with these bytes, None if it is not known."""
    if head[_TAR_AT:].startswith(b"ustar"):
        return "a tar archive"
    return next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)


def is_archive_name(path: str) -> bool:
    """Return whether the name of a file is that of an archive."""
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    return bool(stem) and extension.lower() in _EXTENSIONS
