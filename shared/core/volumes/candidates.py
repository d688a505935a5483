"""List the files of a volume that can be its load files, for a user who has to choose.

Guaranteed: the list does not depend on the order of the files, and memory does not grow with the volume. Those in fewer
folders come first. TXT files, which are mostly texts of documents, are listed from the root and one folder below it.
Not guaranteed: that they are load files, nor that one with another extension is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import NamedTuple

from core.volumes.zip_names import find_ignored_kind

MAX_CANDIDATES = 100
_DATA, _IMAGES = "data", "images"
_KINDS = {"dat": _DATA, "csv": _DATA, "txt": _DATA, "opt": _IMAGES, "lfp": _IMAGES}


class PossibleLoadFile(NamedTuple):
    """A file that can be a load file; in the order of a list."""

    folders: int
    path: str
    size: int
    kind: str

    def describe(self) -> dict[str, str | int]:
        """Return the file as it is stored with the volume."""
        return {"path": self.path, "size": self.size, "kind": self.kind}


class CandidateList:
    """The first candidates of the files that passed."""

    def __init__(self) -> None:
        self._first: list[PossibleLoadFile] = []

    def watch(self, files: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        """Yield paths and sizes as they come, and keep the candidates among them."""
        for path, size in files:
            self._add(path, size)
            yield path, size

    def list_first(self) -> list[PossibleLoadFile]:
        """Return at most MAX_CANDIDATES of those that passed."""
        return nsmallest(MAX_CANDIDATES, self._first)

    def _add(self, path: str, size: int) -> None:
        *folders, name = path.split("/")
        stem, _, extension = name.rpartition(".")
        kind = _KINDS.get(extension.lower()) if stem else None
        is_text = extension.lower() == "txt" and len(folders) > 1
        if kind is None or is_text or name.startswith("._") or find_ignored_kind(path) is not None:
            return
        self._first.append(PossibleLoadFile(len(folders), path, size, kind))
        if len(self._first) > 2 * MAX_CANDIDATES:
            self._first = self.list_first()
