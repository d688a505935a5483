"""Where a volume's objects are in the bucket, and what identifies its imports.

Guaranteed: no two volumes share a prefix, of their files or of their zips; an import of a volume has the same key in
every attempt to create it, and no other import has it.
"""

from __future__ import annotations

import hashlib

from core.errors import InvalidInputError
from core.volumes.errors import VolumeRefusedError
from core.volumes.zip_names import build_path

FILES, ARCHIVES = "volumes", "archives"
# Amazon S3 User Guide, "Naming Amazon S3 objects".
MAX_KEY_BYTES = 1_024


def build_files_prefix(tenant_id: str, case_name: str, volume_id: int) -> str:
    """Return what the keys of a volume's files begin with; the path of a file follows."""
    return f"{FILES}/{tenant_id}/{case_name}/{volume_id}/"


def build_archive_prefix(tenant_id: str, case_name: str, volume_id: int) -> str:
    """Return what the key of a volume's zip begins with; its name follows."""
    return f"{ARCHIVES}/{tenant_id}/{case_name}/{volume_id}/"


def check_key(prefix: str, path: str) -> None:
    """Raise InvalidInputError if a path is not one within a volume, in the form that volumes use, or is too long."""
    try:
        if build_path(path) != path or path.endswith("/"):
            raise InvalidInputError("Write the path from the root of the volume: slashes alone, no './' or blank part.")
    except VolumeRefusedError as refused:
        raise InvalidInputError(str(refused)) from refused
    if len((prefix + path).encode()) > MAX_KEY_BYTES:
        longest = MAX_KEY_BYTES - len(prefix.encode())
        raise InvalidInputError(f"A path of this volume has at most {longest} bytes of UTF-8; shorten it.")


def build_import_key(volume_id: int, role: str, run: int, position: int = 0) -> bytes:
    """Return the 32 bytes that identify the import of a volume's load file.

    `role` is an ImportKind, `position` that of the file among several of one kind.
    """
    further = f"\0{position}" if position else ""
    return hashlib.sha256(f"volume\0{volume_id}\0{role}\0{run}{further}".encode()).digest()
