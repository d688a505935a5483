"""Which volumes a command is for: the folders and zips that were given, or those within a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.volumes.volume_folders import find_volume_folders
from exhibit_ingest.volumes.inventory import list_files


class Volumes(NamedTuple):
    """The folders and zips to send, in order, and the files and folders beside them that belong to none."""

    paths: list[Path]
    others: list[Path]


def list_volumes(given: Sequence[Path], settings: Mapping[str, str]) -> Volumes:
    """Return the volumes; a folder with several volumes stands for these.

    A folder is one volume if `settings`, members of the request to import a volume, choose a load file. Raises
    LocalError for a link or a device in a folder, or a folder without files, and OSError for one that cannot be read.
    """
    paths, others = list[Path](), list[Path]()
    for path in given:
        is_one = not path.is_dir() or settings.keys() & {"loadFile", "imageLoadFile"}
        found = None if is_one else find_volume_folders(file.path for file in list_files(path))
        if found and found.volumes:
            paths += [path / name for name in found.volumes]
            others += [path / name for name in found.others]
        else:
            paths.append(path)
    return Volumes(paths, others)
