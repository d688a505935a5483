r"""Find the file of a volume that a path of a load file means.

Guaranteed: a file is found by the first rule that matches, and no path leads out of the volume, because a path is only
ever compared with the paths of the volume's files. `%41` is never decoded, and dots and spaces at the end of a segment
are kept. Not guaranteed: that the file is the right one, if the load file names another one.

Rows are resolved together: `list_candidates` for every path of a chunk, one lookup of the volume's files by the hashes
of all candidates, then `resolve` for each path. `core.volumes.path_guesses` has the rules for paths that these leave
without a file.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

from core.codes import VolumeCode
from core.load_file.grammar import ASCII_WHITESPACE

# A path with more characters is not looked up: normalising takes quadratic time for some texts. A key of S3 has at
# most 1,024 bytes (Amazon S3 User Guide, "Naming Amazon S3 objects"); the rest may be a prefix that is stripped.
MAX_TEXT_CHARACTERS = 4_096
HASH_BYTES = 16
# Characters of a path in a message.
MAX_SHOWN = 200
# Of control characters, and of surrogates, which have no encoding.
UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SEPARATORS = re.compile(r"[\\/]+")


class PathRule(IntEnum):
    """How a path was understood; the numbers are stored, and docs/load-files.md lists them in the order of the rules.

    ADDED_PREFIX comes first. The last two are guesses, for paths that the others leave without a file.
    """

    STRIPPED_PREFIX = 2
    ROOT = 3
    VOLUME_NAME = 4
    LOAD_FILE_FOLDER = 5
    FOLDED = 6
    ADDED_PREFIX = 7
    VOLUME_COLUMN = 8
    FOLDER_BESIDE = 9


class Candidate(NamedTuple):
    """A path that may be the file's, the rule that it follows from, and the key by which files are looked up."""

    path: str
    rule: PathRule
    folded: str
    hash: bytes


class Elsewhere(NamedTuple):
    """A file that has the name of one that is missing, at another path; `others` more have it too."""

    path: str
    others: int = 0


class PathError(NamedTuple):
    """Why a path names no file: PATH_REFUSED or PATH_AMBIGUOUS, and a message without the path itself.

    `elsewhere` is a file of its name, if it is known that the volume has one.
    """

    code: VolumeCode
    message: str
    elsewhere: Elsewhere | None = None


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


class PathText(NamedTuple):
    """The segments of a path, without a beginning that an option names: `rule` is STRIPPED_PREFIX then, else ROOT."""

    segments: list[str]
    rule: PathRule


def read_path(text: str, strip_prefixes: Sequence[str] = ()) -> PathText | PathError:
    r"""Return the segments of a path of a load file, without the longest of the beginnings that it has.

    `strip_prefixes` are drives, shares or URLs that precede the volume's paths, such as `D:\export\`.

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
    if strip_prefixes and (length := _measure_prefix(segments, strip_prefixes)):
        segments, rule = segments[length:], PathRule.STRIPPED_PREFIX
    form = "share" if rule == PathRule.ROOT and _is_unc(trimmed) else _find_absolute_form(segments)
    if form:
        advice = "Set the option strip_prefix (--strip-prefix) to what precedes the volume's own folders."
        return _refuse(f"The path begins with a {form}. {advice}")
    return PathText(segments, rule)


def list_candidates(
    text: str,
    *,
    volume_name: str | None = None,
    load_file_folder: str = "",
    strip_prefixes: Sequence[str] = (),
    add_prefix: str | None = None,
    root: str = "",
) -> list[Candidate] | PathError:
    r"""Return what a path of a load file can mean, in the order of the rules; nothing for a blank one.

    `root` is the folder of the volume that its paths start from: its single top folder, or blank. `volume_name` and the
    name of that folder may be the first segment of a path. `load_file_folder` is the folder of the load file within the
    volume. `strip_prefixes` are those of `read_path`; `add_prefix` is the folder that the paths start from, below
    `root` or from the top of the volume.

    Returns a PathError with PATH_REFUSED for a path that cannot be one of the volume.
    """
    read = read_path(text, strip_prefixes)
    if isinstance(read, PathError):
        return read
    segments, rule = read
    base, folder = split_path(root), split_path(load_file_folder)
    names = {fold_path(name) for name in (volume_name, *base[-1:]) if name}
    below = segments[1:] if segments and fold_path(segments[0]) in names else []
    readings = [
        (base, segments, rule),
        (base, below, PathRule.VOLUME_NAME),
        (folder, segments, PathRule.LOAD_FILE_FOLDER),
    ]
    if add_prefix is None:
        return build_candidates(readings)
    added = split_path(add_prefix)
    starts = ([*base, *added], added)
    return build_candidates([*((start, segments, PathRule.ADDED_PREFIX) for start in starts), *readings])


def build_candidates(readings: Iterable[tuple[Sequence[str], Sequence[str], PathRule]]) -> list[Candidate]:
    """Return a candidate for each of the readings, which are a beginning, the segments after it, and the rule.

    A reading without segments is left out, and so is one whose path is that of a reading before it.
    """
    found: dict[str, Candidate] = {}
    for start, rest, rule in readings:
        path = "/".join((*start, *rest))
        if rest and path not in found:
            folded = fold_path(path)
            found[path] = Candidate(path, rule, folded, hash_path(folded))
    return list(found.values())


def resolve(
    candidates: Sequence[Candidate], files_by_hash: Mapping[bytes, Sequence[File]]
) -> Resolved[File] | PathError | None:
    """Return the file that a path means, None if the volume does not have it.

    `files_by_hash` are files of the volume by `hash_path(fold_path(path))`, all that have the hash of a candidate;
    others do no harm. Of two candidates the one of the first rule counts; a file with that very path comes before files
    whose paths are equal to one only when folded.

    Returns a PathError with PATH_AMBIGUOUS if several files have the folded path and none has the path itself, or if
    one rule finds two files.
    """
    for candidate in candidates:
        for file in files_by_hash.get(candidate.hash, ()):
            if file.path == candidate.path:
                return _resolve_exact(file, candidate.rule, candidates, files_by_hash)
    for candidate in candidates:
        similar = find_folded(candidate, files_by_hash)
        if len(similar) == 1:
            return Resolved(similar[0], PathRule.FOLDED)
        if similar:
            return _describe_ambiguity(len(similar))
    return None


def _resolve_exact(
    file: File, rule: PathRule, candidates: Sequence[Candidate], files_by_hash: Mapping[bytes, Sequence[File]]
) -> Resolved[File] | PathError:
    """Return the first file that a rule finds, unless it is the one that has two readings, and both are files."""
    if rule is PathRule.ADDED_PREFIX:
        found = find_exact([each for each in candidates if each.rule is rule], files_by_hash)
        if len(found) > 1:
            return describe_two_files(found)
    return Resolved(file, rule)


def find_exact(candidates: Iterable[Candidate], files_by_hash: Mapping[bytes, Sequence[File]]) -> list[File]:
    """Return the files whose paths are those of the candidates."""
    named = (file for each in candidates for file in files_by_hash.get(each.hash, ()) if file.path == each.path)
    return list({file.path: file for file in named}.values())


def find_folded(candidate: Candidate, files_by_hash: Mapping[bytes, Sequence[File]]) -> list[File]:
    """Return the files whose paths are equal to that of the candidate when folded."""
    return [file for file in files_by_hash.get(candidate.hash, ()) if fold_path(file.path) == candidate.folded]


def _measure_prefix(segments: Sequence[str], strip_prefixes: Iterable[str]) -> int:
    """Return the number of segments of the longest prefix that the path begins with; 0 without one."""
    folded = _fold_all(segments)
    prefixes = (_fold_all(split_path(each.strip(ASCII_WHITESPACE))) for each in strip_prefixes)
    return max((len(each) for each in prefixes if folded[: len(each)] == each), default=0)


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


def describe_two_files(files: Sequence[HasPath]) -> PathError:
    """Return the error of a path for which one rule finds several files."""
    paths = " and ".join(repr(path[:MAX_SHOWN]) for path in sorted(file.path for file in files)[:2])
    message = f"It can be {paths}. Set the option add_prefix (--add-prefix) to the folder that is meant."
    return PathError(VolumeCode.PATH_AMBIGUOUS, message)


def _describe_ambiguity(files: int) -> PathError:
    message = f"{files} files of the volume differ from the path in case or composition only. Correct the path."
    return PathError(VolumeCode.PATH_AMBIGUOUS, message)
