r"""Find the file of a volume that a path of a load file means.

Guaranteed: a file is found by the first rule of PathRule that matches, and no path leads out of the volume, because a
path is only ever compared with the paths of the volume's files. `%41` is never decoded, and dots and spaces at the end
of a segment are kept. Not guaranteed: that the file is the right one, if the load file names another one.

Rows are resolved together: `list_candidates` for every path of a chunk, one lookup of the volume's files by the hashes
of all candidates, then `resolve` for each path.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

from core.codes import VolumeCode
from core.load_file.grammar import ASCII_WHITESPACE

# A path with more characters is not looked up: normalising takes quadratic time for some texts. A key of S3 has at
# most 1,024 bytes (Amazon S3 User Guide, "Naming Amazon S3 objects"); the rest may be a prefix that is stripped.
MAX_TEXT_CHARACTERS = 4_096
HASH_BYTES = 16
# Of control characters, and of surrogates, which have no encoding.
UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SEPARATORS = re.compile(r"[\\/]+")


class PathRule(IntEnum):
    """How a path was understood, in the order in which the rules are tried; docs/load-files.md numbers them alike."""

    STRIPPED_PREFIX = 2
    ROOT = 3
    VOLUME_NAME = 4
    LOAD_FILE_FOLDER = 5
    FOLDED = 6


class Candidate(NamedTuple):
    """A path that may be the file's, the rule that it follows from, and the key by which files are looked up."""

    path: str
    rule: PathRule
    folded: str
    hash: bytes


class PathError(NamedTuple):
    """Why a path names no file: PATH_REFUSED or PATH_AMBIGUOUS, and a message without the path itself."""

    code: VolumeCode
    message: str


class HasPath(Protocol):
    """A file of the volume."""

    @property
    def path(self) -> str:
        """The path within the volume, with slashes."""


File = TypeVar("File", bound=HasPath)


class Resolved(NamedTuple, Generic[File]):
    """The file that a path names, and the rule that matched."""

    file: File
    rule: PathRule


def fold_path(path: str) -> str:
    """Return the form in which paths are equal without case and composition: NFC(casefold(NFC(path))).

    macOS writes names decomposed (Unicode Standard Annex 15, "Unicode Normalization Forms").
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def hash_path(folded: str) -> bytes:
    """Return the key of a folded path: the first 16 bytes of its SHA-256."""
    return hashlib.sha256(folded.encode()).digest()[:HASH_BYTES]


def split_path(text: str) -> list[str]:
    r"""Return the segments of a path with `/` or `\`, without blank ones and `.`."""
    return [segment for segment in text.replace("\\", "/").split("/") if segment not in ("", ".")]


def list_candidates(
    text: str,
    *,
    volume_name: str | None = None,
    load_file_folder: str = "",
    strip_prefix: str | None = None,
    root: str = "",
) -> list[Candidate] | PathError:
    r"""Return what a path of a load file can mean, in the order of the rules; nothing for a blank one.

    `root` is the folder of the volume that its paths start from: its single top folder, or blank. `volume_name` and the
    name of that folder may be the first segment of a path. `load_file_folder` is the folder of the load file within the
    volume. `strip_prefix` is a drive, share or URL that precedes the volume's paths, such as `D:\export\`.

    Returns a PathError with PATH_REFUSED for a path that cannot be one of the volume.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        return _refuse(f"The path has more than {MAX_TEXT_CHARACTERS:,} characters. Check the column's mapping.")
    trimmed = text.strip(ASCII_WHITESPACE)
    segments, rule = split_path(trimmed), PathRule.ROOT
    if UNSTORABLE.search(trimmed):
        return _refuse("The path has a control character. Correct it.")
    if ".." in segments:
        return _refuse("The path has the segment '..'. Write it from the root of the volume.")
    prefix = split_path((strip_prefix or "").strip(ASCII_WHITESPACE))
    if prefix and _fold_all(segments[: len(prefix)]) == _fold_all(prefix):
        segments, rule = segments[len(prefix) :], PathRule.STRIPPED_PREFIX
    form = "share" if rule == PathRule.ROOT and _is_unc(trimmed) else _find_absolute_form(segments)
    if form:
        advice = "Set the option strip_prefix (--strip-prefix) to what precedes the volume's own folders."
        return _refuse(f"The path begins with a {form}. {advice}")
    return list(_build_candidates(segments, rule, volume_name, load_file_folder, root))


def resolve(
    candidates: Sequence[Candidate], files_by_hash: Mapping[bytes, Sequence[File]]
) -> Resolved[File] | PathError | None:
    """Return the file that a path means, None if the volume does not have it.

    `files_by_hash` are files of the volume by `hash_path(fold_path(path))`, all that have the hash of a candidate;
    others do no harm. Of two candidates the one of the first rule counts; a file with that very path comes before files
    whose paths are equal to one only when folded.

    Returns a PathError with PATH_AMBIGUOUS if several files have the folded path and none has the path itself.
    """
    for candidate in candidates:
        for file in files_by_hash.get(candidate.hash, ()):
            if file.path == candidate.path:
                return Resolved(file, candidate.rule)
    for candidate in candidates:
        similar = [file for file in files_by_hash.get(candidate.hash, ()) if fold_path(file.path) == candidate.folded]
        if len(similar) == 1:
            return Resolved(similar[0], PathRule.FOLDED)
        if similar:
            return _describe_ambiguity(len(similar))
    return None


def _build_candidates(
    segments: Sequence[str], rule: PathRule, volume_name: str | None, load_file_folder: str, root: str
) -> Iterator[Candidate]:
    base, folder = split_path(root), split_path(load_file_folder)
    names = {fold_path(name) for name in (volume_name, *base[-1:]) if name}
    below = segments[1:] if segments and fold_path(segments[0]) in names else []
    tried: set[str] = set()
    for start, rest, of_rule in (
        (base, segments, rule),
        (base, below, PathRule.VOLUME_NAME),
        (folder, segments, PathRule.LOAD_FILE_FOLDER),
    ):
        path = "/".join((*start, *rest))
        if rest and path not in tried:
            tried.add(path)
            folded = fold_path(path)
            yield Candidate(path, of_rule, folded, hash_path(folded))


def _is_unc(trimmed: str) -> bool:
    r"""Return whether the path names a share: `\\server\share`, unless every separator is doubled by escaping."""
    runs = _SEPARATORS.findall(trimmed)
    return bool(runs) and len(runs[0]) > 1 and trimmed.startswith(runs[0]) and any(len(run) != 2 for run in runs)


def _find_absolute_form(segments: Sequence[str]) -> str | None:
    if segments and DRIVE.match(segments[0]):
        return "drive"
    return "URL" if len(segments) > 1 and _SCHEME.fullmatch(segments[0]) else None


def _fold_all(segments: Iterable[str]) -> list[str]:
    return [fold_path(segment) for segment in segments]


def _refuse(message: str) -> PathError:
    return PathError(VolumeCode.PATH_REFUSED, message)


def _describe_ambiguity(files: int) -> PathError:
    message = f"{files} files of the volume differ from the path in case or composition only. Correct the path."
    return PathError(VolumeCode.PATH_AMBIGUOUS, message)
