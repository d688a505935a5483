"""Find the volumes in a folder that holds several, each in a folder or zip of its own.

Guaranteed: a folder that is a volume itself, by the rules of `core.volumes.discovery`, does not hold several; the order
of the files does not matter. Memory grows with the entries of the folder itself, not with the files in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from core.volumes.discovery import find_place, is_part_of_volume
from core.volumes.zip_names import find_ignored_kind

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
        if find_ignored_kind(path):
            continue
        name, _, rest = path.partition("/")
        entries.add(name)
        if not rest and name.lower().endswith(".zip"):
            volumes.add(name)
        elif (rest and is_part_of_volume(name)) or find_place(path) == 0:
            is_volume = True
        elif rest and (place := find_place(rest)) is not None and place <= 1:
            volumes.add(name)
    if is_volume or len(volumes) < 2:
        return VolumeFolders([], [])
    return VolumeFolders(sorted(volumes, key=_split_numbers), sorted(entries - volumes, key=_split_numbers))


def _split_numbers(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return what puts names in order: texts and numbers by turns."""
    parts = _NUMBERS.split(name.lower())
    pairs = zip(parts[::2], [*parts[1::2], "0"], strict=True)
    return [(text, int(number)) for text, number in pairs], name
