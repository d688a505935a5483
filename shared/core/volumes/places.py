"""Where the paths of a load file can start from, in its volume and by its options.

Guaranteed: a place lists the same readings of a path for every row, in a check as in the import after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.file_options import FileOptions
from core.load_file.grammar import ASCII_WHITESPACE
from core.volumes.folders import Folders, list_beside
from core.volumes.path_guesses import NamedPath, choose_elsewhere, list_guesses
from core.volumes.paths import (
    MAX_TEXT_CHARACTERS,
    UNSTORABLE,
    Candidate,
    Elsewhere,
    PathError,
    list_candidates,
    read_path,
    split_path,
)

DATA_FOLDER = "data"


class VolumePlace(NamedTuple):
    """Where the paths of a load file start from: the volume's name, the folder of its files, that of the load file.

    `folders_beside` are the folders beside the load file. `options` say what precedes the paths.
    """

    name: str
    root: str
    load_file_folder: str
    folders_beside: tuple[str, ...] = ()
    options: FileOptions = FileOptions()

    @classmethod
    def of_load_file(
        cls, name: str, path: str, top_folder: str | None, folders: Folders, options: FileOptions
    ) -> VolumePlace:
        """Return the place of the load file with this path; `top_folder` is the one that all files are in, if any.

        A folder DATA of load files stands beside the files.
        """
        above = split_path(path)[:-1]
        beside = list_beside(folders, path)
        if above and above[-1].lower() == DATA_FOLDER:
            return cls(name, "/".join(above[:-1]), "/".join(above), beside, options)
        return cls(name, top_folder or "", "/".join(above), beside, options)

    def list_candidates(self, named: NamedPath) -> list[Candidate] | PathError:
        """Return what a path of the load file means by the rules that are stated."""
        return list_candidates(
            named.text,
            volume_name=self.name,
            load_file_folder=self.load_file_folder,
            strip_prefixes=self.options.strip_prefixes,
            add_prefix=self.options.add_prefix,
            root=self.root,
        )

    def list_guesses(self, named: NamedPath) -> list[Candidate]:
        """Return what a path can mean that no stated rule finds."""
        return list_guesses(
            self._read(named),
            named.volume,
            root=self.root,
            load_file_folder=self.load_file_folder,
            folders_beside=self.folders_beside,
        )

    def get_file_name(self, named: NamedPath) -> str:
        """Return the name of the file that a path names; blank if it names none."""
        return "".join(self._read(named)[-1:])

    def choose_elsewhere(self, named: NamedPath, paths: Sequence[str]) -> Elsewhere | None:
        """Return which of the files that have the name of a missing one is most like its path."""
        return choose_elsewhere(self._read(named), paths)

    def _read(self, named: NamedPath) -> list[str]:
        """Return the segments of a path; of a refused one with a drive, share or URL all of them, else none."""
        read = read_path(named.text, self.options.strip_prefixes)
        if not isinstance(read, PathError):
            return read.segments
        segments = split_path(named.text.strip(ASCII_WHITESPACE)) if len(named.text) <= MAX_TEXT_CHARACTERS else []
        return [] if ".." in segments or UNSTORABLE.search(named.text) else segments
