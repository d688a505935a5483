"""Look at a folder or zip before it is sent: what no stack could import is refused before anything starts.

Guaranteed: every file of a folder can be read and has a name that a volume can have, and a folder has a file in the
place of a load file. Not guaranteed: that the API can import it: it chooses the load files, and reads what is in a zip.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from exhibit_ingest.errors import CommandError
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folders import Folder, list_folder
from exhibit_ingest.uploads.local_files import LocalFile, find_file
from exhibit_ingest.volumes.volume_folders import explain_missing_load_file, list_top_archives

LOAD_FILE_SETTINGS = {"loadFile", "imageLoadFile"}


class Source(NamedTuple):
    """A folder or zip to send, of `size` bytes; `archives` are the first archives at the top of a folder."""

    path: Path
    name: str
    content: Folder | LocalFile
    size: int
    archives: list[str]


def survey_volume(path: Path, settings: Mapping[str, str]) -> Source:
    """Return what is to be sent; `settings` are members of the request to import a volume.

    Raises CommandError with what is wrong and what to do, and OSError for a zip that cannot be read.
    """
    if not path.is_dir():
        return _survey_zip(path)
    folder = list_files(path)
    problem = None if settings.keys() & LOAD_FILE_SETTINGS else explain_missing_load_file(_list_paths(folder))
    if problem:
        raise CommandError(f"NO_LOAD_FILE: {problem}")
    return Source(path, path.resolve().name, folder, folder.size, list_top_archives(_list_paths(folder)))


def list_files(folder: Path) -> Folder:
    """Return the files of a folder. Raises CommandError that names those that cannot be sent."""
    try:
        return list_folder(folder)
    except UploadFault as fault:
        raise CommandError(f"{folder}: {fault}") from fault


def _survey_zip(path: Path) -> Source:
    # A download that was cut off has no directory at its end; what else is wrong with a zip, the API says.
    if not zipfile.is_zipfile(path):
        raise CommandError(
            f"{path} is not a complete zip: it has no directory of its files at its end. Make the zip again, or copy it"
            " again from where you got it."
        )
    try:
        file = find_file(path)
    except UploadFault as fault:
        raise CommandError(str(fault)) from fault
    return Source(path, path.stem, file, file.size, [])


def _list_paths(folder: Folder) -> list[str]:
    return [file.path for file in folder]
