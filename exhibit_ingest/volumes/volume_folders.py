"""Find the volumes in a folder that holds several, and tell a folder that cannot be a volume, by the paths of files.

Guaranteed: what is found here is what the API finds: a test compares the rules. Not guaranteed: that a folder with a
load file is a volume; the API decides, once it has the files. Memory does not grow with the files of the volumes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_DATA_FOLDER = "data"
# A folder with one of these names holds a part of a volume.
_PART_FOLDERS = {_DATA_FOLDER, "natives", "native", "text", "texts", "ocr", "images", "image", "img"}
_LOAD_FILES, _TABLES = {"dat", "csv", "opt", "lfp"}, {"dat", "csv", "txt"}
# It lists files.
_FILE_LIST = "manifest.csv"
_ARCHIVES = {"zip", "zipx", "rar", "7z", "tar", "gz", "tgz", "bz2", "xz"}
_MOST_NAMED = 5
_NUMBERS = re.compile("([0-9]+)")


class VolumeFolders(NamedTuple):
    """The names of the folders and zips that are volumes, and of all other entries; none if the folder is a volume.

    They are in the order of their names, numbers in these by value: VOL2 comes before VOL10.
    """

    volumes: list[str]
    others: list[str]


def find_volume_folders(paths: Iterable[str]) -> VolumeFolders:
    """Return the volumes among the entries of a folder; `paths` are those of all of its files."""
    volumes, entries, is_volume = set[str](), set[str](), False
    for path in paths:
        name, _, rest = path.partition("/")
        entries.add(name)
        if not rest and name.lower().endswith(".zip"):
            volumes.add(name)
        elif (rest and name.lower() in _PART_FOLDERS) or (_is_load_file(path) and _count_folders(path) == 0):
            is_volume = True
        elif _is_load_file(rest) and _count_folders(rest) <= 1:
            volumes.add(name)
    if is_volume or len(volumes) < 2:
        return VolumeFolders([], [])
    return VolumeFolders(sorted(volumes, key=_split_numbers), sorted(entries - volumes, key=_split_numbers))


def explain_missing_load_file(paths: Iterable[str]) -> str | None:
    """Return why a folder without any file in the place of a load file is not a volume, and what to do; else None."""
    others, archives = list[str](), list[str]()
    for path in paths:
        if _get_extension(path) in _TABLES and _count_folders(path) <= 1:
            return None
        if _is_load_file(path):
            others.append(path)
        archives += list_top_archives([path])
    elsewhere = f" Other places have: {_list(others)}." if others else ""
    inside = f" Archives inside it are not unpacked: {_list(archives)}. If one has the production, unpack it."
    return (
        "The folder has no DAT, CSV or TXT file in its root, in DATA/ or there below a single top folder."
        f"{elsewhere}{inside if archives else ''} Use --load-file with the path of the load file, or --image-load-file"
        " to import an OPT or LFP file alone."
    )


def list_top_archives(paths: Iterable[str]) -> list[str]:
    """Return the first archives of a volume that no or one folder holds: those farther down are rather documents."""
    found = sorted(path for path in paths if path.count("/") <= 1 and _get_extension(path) in _ARCHIVES)
    return found[:_MOST_NAMED]


def _is_load_file(path: str) -> bool:
    """Return whether a name is that of a load file, and neither of a list of files nor of a note."""
    return _get_extension(path) in _LOAD_FILES and path.rpartition("/")[2].lower() != _FILE_LIST


def _get_extension(path: str) -> str:
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    return extension.lower() if stem else ""


def _count_folders(path: str) -> int:
    """Return how many folders a file is below, without its own if that is DATA."""
    *folders, _ = path.split("/")
    return len(folders) - (bool(folders) and folders[-1].lower() == _DATA_FOLDER)


def _list(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(sorted(paths)[:_MOST_NAMED]) + more


def _split_numbers(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return what puts names in order: texts and numbers by turns."""
    parts = _NUMBERS.split(name.lower())
    pairs = zip(parts[::2], [*parts[1::2], "0"], strict=True)
    return [(text, int(number)) for text, number in pairs], name
