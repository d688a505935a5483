"""Decide which files of a volume a row names, and what is wrong with them.

Guaranteed: what is decided depends on the row and the volume's files alone, so that chunks and their repetitions agree.
A native or text file that is not found is an error of the row only where rows without a file are to be rejected; an
empty file and another hash than the row states are warnings: e-mail hashes often cover fields.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.codes import VolumeCode
from core.file_options import FileOptions, MissingFiles
from core.load_file.layout import Layout
from core.load_file.rows import RowError, ValueChange
from core.volumes.hashes import (
    FileHashes,
    StatedHash,
    find_mismatches,
    find_uncompared,
    name_uncompared,
    read_stated_hashes,
)
from core.volumes.path_guesses import NamedPath
from core.volumes.path_messages import describe_file, describe_path_error
from core.volumes.paths import HASH_BYTES, Elsewhere, PathError, PathRule, Resolved


class FileKind(StrEnum):
    """A file of a document that its row names by a path."""

    NATIVE = "native"
    TEXT = "text"


PATH_FIELDS = {FileKind.NATIVE: "native_path", FileKind.TEXT: "text_path"}
_MISSING = {FileKind.NATIVE: VolumeCode.NATIVE_MISSING, FileKind.TEXT: VolumeCode.TEXT_MISSING}


class VolumeFile(NamedTuple):
    """A file of the volume; `size` in bytes."""

    id: int
    file_no: int
    path: str
    size: int
    hashes: FileHashes


# By path: the file, why there is none, where the volume has one of that name, or None.
Named = Resolved[VolumeFile] | PathError | Elsewhere | None
NamedFiles = Mapping[NamedPath, Named]


class FileLink(NamedTuple):
    """The file that a path names: `text_hash` are the first 16 bytes of the SHA-256 of the path as it is stored."""

    kind: FileKind
    text_hash: bytes
    file: VolumeFile
    rule: PathRule


@dataclass
class RowFiles:
    """The files of a row, what is wrong with them, and what is counted of them.

    `missing` are the kinds, and the hashes of the paths as of a link, of what the volume lacks. `named` are the paths
    of all kinds with what was found.
    """

    links: list[FileLink] = field(default_factory=list)
    missing: list[tuple[FileKind, bytes]] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)
    warnings: list[ValueChange] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    named: list[tuple[FileKind, str, Named]] = field(default_factory=list)


class RowLinker:
    """Links rows of one load file to files of its volume."""

    def __init__(self, layout: Layout) -> None:
        self._options: FileOptions = layout.files
        self._hash_columns, self._names, self._titles = layout.hash_columns, layout.names, layout.titles

    def link(self, paths: Mapping[FileKind, str], cells: Sequence[str], named: NamedFiles) -> RowFiles:
        """Return the files of a row with these paths, which are not blank; `named` are the files of all paths."""
        found = RowFiles()
        for kind, text in paths.items():
            resolved = named[NamedPath(text)]
            found.named.append((kind, text, resolved))
            if isinstance(resolved, Resolved):
                found.links.append(FileLink(kind, hash_text(text), resolved.file, resolved.rule))
                found.counts[f"{kind.value}s_linked"] += 1
                self._check(found, kind, text, resolved.file, cells)
            else:
                found.missing.append((kind, hash_text(text)))
                self._add_missing(found, kind, text, resolved)
        return found

    def _add_missing(self, found: RowFiles, kind: FileKind, text: str, reason: PathError | Elsewhere | None) -> None:
        code, message = describe_path_error(text, reason, _MISSING[kind], "file")
        column = self._titles[PATH_FIELDS[kind]]
        found.counts[f"{kind.value}s_missing"] += 1
        if self._options.missing_files is MissingFiles.REJECT:
            found.errors.append(RowError(code, column, message))
        else:
            found.warnings.append(ValueChange(code, column, message, text))

    def _check(self, found: RowFiles, kind: FileKind, text: str, file: VolumeFile, cells: Sequence[str]) -> None:
        if file.size == 0:
            message = describe_file(text, "The file is empty. Ask the sender whether it should be.")
            found.warnings.append(ValueChange(VolumeCode.FILE_EMPTY, self._titles[PATH_FIELDS[kind]], message, text))
        if kind is FileKind.NATIVE:
            self._compare_hashes(found, text, file, read_stated_hashes(cells, self._hash_columns))

    def _compare_hashes(self, found: RowFiles, text: str, file: VolumeFile, stated: Sequence[StatedHash]) -> None:
        uncompared, mismatches = find_uncompared(stated, file.hashes), find_mismatches(stated, file.hashes)
        found.counts["hashes_compared"] += len(stated) - len(uncompared)
        found.counts.update(name_uncompared(each.column) for each in uncompared)
        found.counts["hash_mismatches"] += len(mismatches)
        for algorithm, column in ((each.algorithm.upper(), self._names[each.column]) for each in mismatches):
            what = f"The {algorithm} of the native file is not this one. Ask the sender which is right."
            message = describe_file(text, what)
            found.warnings.append(ValueChange(VolumeCode.HASH_MISMATCH, column, message, None))


def hash_text(path: str) -> bytes:
    """Return the first 16 bytes of the SHA-256 of a path as it is stored."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES]
