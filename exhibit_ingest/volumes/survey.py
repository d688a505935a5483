"""Look at a folder or zip before it is sent: what would be refused is refused before anything starts.

Guaranteed: the rules are those of the functions, which check again what they have received.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from core.errors import InvalidInputError
from core.volumes.archives import list_top_archives
from core.volumes.discovery import discover_files
from core.volumes.errors import VolumeRefusedError, shorten_name
from core.volumes.keys import MAX_KEY_BYTES, build_files_prefix, check_key
from core.volumes.zip_directory import read_directory
from exhibit_ingest.volumes.arguments import name_arguments
from exhibit_ingest.volumes.inventory import LocalFile, list_files
from local.errors import LocalError

# The keys of a volume with fewer digits are shorter.
_LONGEST_ID = 10**12


class Source(NamedTuple):
    """A folder or zip of `size` bytes to send; `files` are those of the folder, none for a zip.

    `archives` are the first archives at its top, which are not unpacked.
    """

    path: Path
    name: str
    files: list[LocalFile]
    size: int
    archives: list[str]


def survey_volume(path: Path, tenant: str, case: str, settings: Mapping[str, str]) -> Source:
    """Return what is to be sent; `settings` are members of the request to import a volume.

    Raises LocalError with what is wrong and what to do, and OSError for a file that cannot be read.
    """
    files = list_files(path) if path.is_dir() else []
    try:
        if files:
            entries = _check_names(files, build_files_prefix(tenant, case, _LONGEST_ID))
        else:
            entries = _list_entries(path, settings.get("zipNames"))
        discover_files(entries, load_file=settings.get("loadFile"), image_load_file=settings.get("imageLoadFile"))
    except VolumeRefusedError as refused:
        raise LocalError(name_arguments(f"{refused.code}: {refused}")) from refused
    except InvalidInputError as invalid:
        raise LocalError(name_arguments(str(invalid))) from invalid
    archives = list_top_archives(name for name, _ in entries)
    if files:
        return Source(path, path.resolve().name, files, sum(file.size for file in files), archives)
    return Source(path, path.stem, [], path.stat().st_size, archives)


def _check_names(files: list[LocalFile], prefix: str) -> list[tuple[str, int]]:
    """Return path and size of each file. Raises LocalError for a name that a volume cannot have."""
    for file in files:
        try:
            check_key(prefix, file.path)
        except InvalidInputError as exc:
            most = MAX_KEY_BYTES - len(prefix.encode())
            raise LocalError(
                f"{shorten_name(str(file.file))} cannot be sent: a path in a volume has no backslash, no blank name,"
                f" no character that cannot be displayed, and at most {most} bytes; rename it"
            ) from exc
    return [(file.path, file.size) for file in files]


def _list_entries(path: Path, zip_names: str | None) -> list[tuple[str, int]]:
    with path.open("rb") as archive:
        size = archive.seek(0, os.SEEK_END)
        directory = read_directory(lambda start, end: os.pread(archive.fileno(), end - start, start), size, zip_names)
        return [(entry.path, entry.size) for entry in directory.list_entries()]
