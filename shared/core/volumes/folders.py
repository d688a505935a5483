"""The folders at the top of a volume, in which paths can start that name no folder above themselves.

Guaranteed: the result does not depend on the order of the files, and memory does not grow with their number: of a
folder with more than MAX_FOLDERS folders, these are not kept, and neither is anything below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.volumes.paths import fold_path, split_path

MAX_FOLDERS, MAX_DEPTH = 32, 3
_DATA_FOLDER = "data"

# The names of the folders in a folder, by its path within the volume.
Folders = Mapping[str, Sequence[str]]


class FolderSurvey:
    """Collects the folders of the first MAX_DEPTH levels from the paths of files."""

    def __init__(self) -> None:
        self._found: dict[str, set[str] | None] = {}
        self._last = ""

    def watch(self, files: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        """Yield the files, which are path and size, and add each."""
        for file in files:
            self.add(file[0])
            yield file

    def add(self, path: str) -> None:
        """Add the folders of a file."""
        folder = path.rpartition("/")[0]
        if folder in ("", self._last):
            return
        self._last, parent = folder, ""
        for name in folder.split("/")[:MAX_DEPTH]:
            names = self._found.setdefault(parent, set())
            if names is None:
                return
            names.add(name)
            if len(names) > MAX_FOLDERS:
                self._drop(parent)
                return
            parent = f"{parent}/{name}" if parent else name

    def _drop(self, parent: str) -> None:
        below = f"{parent}/" if parent else ""
        for folder in [each for each in self._found if each.startswith(below)]:
            del self._found[folder]
        self._found[parent] = None

    def select_near(self, load_files: Iterable[str | None]) -> dict[str, list[str]]:
        """Return the folders in the folders that the load files are in, by the path of these."""
        places = {place for path in load_files if path for place in _list_above(path)}
        return {place: sorted(names) for place in sorted(places) if (names := self._found.get(place))}


def list_beside(folders: Folders, load_file: str) -> tuple[str, ...]:
    """Return the paths of the folders beside a load file, and beside the folder DATA if it is in one."""
    above = _list_above(load_file)
    in_data = bool(above[0]) and fold_path(split_path(above[0])[-1]) == _DATA_FOLDER
    places = above[: 2 if in_data else 1]
    return tuple(f"{place}/{name}" if place else name for place in places for name in folders.get(place, ()))


def _list_above(path: str) -> list[str]:
    """Return the folders that a file is in, from the nearest to the top, which is blank."""
    folders = split_path(path)[:-1]
    return ["/".join(folders[:count]) for count in range(len(folders), -1, -1)]
