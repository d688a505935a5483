"""Find the file of a path that no stated rule finds: below the folder of the volume column, or a folder beside.

Load files are often sent beside the folder of the volume that their paths start from, and Opticon and IPRO files name
that folder in their volume column.

Guaranteed: a guess is made only for a path that `core.volumes.paths.resolve` leaves without a file, so that it changes
no file that is found otherwise; it depends on the path, the volume column and the volume's files alone. A rule that
would find two files finds none: the path is PATH_AMBIGUOUS. Not guaranteed: that the file is the right one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from core.load_file.grammar import ASCII_WHITESPACE
from core.volumes.paths import (
    DRIVE,
    UNSTORABLE,
    Candidate,
    Elsewhere,
    File,
    PathError,
    PathRule,
    Resolved,
    build_candidates,
    describe_two_files,
    find_exact,
    find_folded,
    fold_path,
    split_path,
)


class NamedPath(NamedTuple):
    """A path as the load file has it, and what the volume column of its line says; blank in a data file."""

    text: str
    volume: str = ""


def list_guesses(
    segments: Sequence[str], volume_column: str, *, root: str, load_file_folder: str, folders_beside: Sequence[str]
) -> list[Candidate]:
    """Return what the segments of a path can mean by a guess, in the order of the rules.

    `folders_beside` are the folders beside the load file, as paths within the volume.
    """
    base, folder = split_path(root), split_path(load_file_folder)
    column = _read_column(volume_column)
    starts = ([*base, *column], [*folder, *column], column) if column else ()
    count = len(column)
    has_column = bool(column) and [*map(fold_path, segments[:count])] == [*map(fold_path, column)]
    return build_candidates(
        [
            *((start, segments, PathRule.VOLUME_COLUMN) for start in starts),
            *([(base, segments[count:], PathRule.VOLUME_COLUMN)] if has_column else []),
            *((split_path(beside), segments, PathRule.FOLDER_BESIDE) for beside in folders_beside),
        ]
    )


def resolve_guesses(
    candidates: Sequence[Candidate], files_by_hash: Mapping[bytes, Sequence[File]]
) -> Resolved[File] | PathError | None:
    """Return the file that a path means by the first rule that finds one; None if the volume does not have it.

    A file with the very path of a candidate comes before those whose paths are equal to one only when folded. Returns a
    PathError with PATH_AMBIGUOUS if the rule finds two files.
    """
    for rule, group in groupby(candidates, key=lambda candidate: candidate.rule):
        readings = list(group)
        found = find_exact(readings, files_by_hash)
        found = found or [file for each in readings for file in find_folded(each, files_by_hash)]
        if found:
            different = {file.path: file for file in found}
            return Resolved(found[0], rule) if len(different) == 1 else describe_two_files(list(different.values()))
    return None


def choose_elsewhere(segments: Sequence[str], paths: Sequence[str]) -> Elsewhere | None:
    """Return which of the paths, all with the name of a file that is missing, is most like the path that names it."""
    if not paths:
        return None
    best = min(paths, key=lambda path: (-count_shared(segments, split_path(path)), path))
    return Elsewhere(best, len(paths) - 1)


def count_shared(segments: Sequence[str], others: Sequence[str]) -> int:
    """Return how many segments at the end of two paths are equal when folded."""
    shared = 0
    for one, other in zip(reversed(segments), reversed(others), strict=False):
        if fold_path(one) != fold_path(other):
            break
        shared += 1
    return shared


def _read_column(volume_column: str) -> list[str]:
    """Return the folders that a volume column names; none if it cannot name a folder of the volume."""
    text = volume_column.strip(ASCII_WHITESPACE).removeprefix("@")
    segments = split_path(text)
    is_outside = UNSTORABLE.search(text) or ".." in segments or (segments and DRIVE.match(segments[0]))
    return [] if is_outside else segments
