"""Find the load file and the image load files of a volume among the paths of its files.

Guaranteed: one DAT, CSV or TXT file is found, and either OPT files or LFP files, up to 100 and in the order of their
paths, or the error lists what there is and how to choose; memory does not grow with the volume, and the order of the
files does not matter. They are looked for in the root and in `DATA/`, and in the same places below the volume's top
folder: a single one that most files are in. TXT files, which may be notes, and MANIFEST.csv, which lists files, count
where there is no DAT and no other CSV. Not guaranteed: that they are load files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from core.codes import VolumeFailure
from core.volumes.archives import is_archive_name
from core.volumes.errors import VolumeRefusedError, shorten_name
from core.volumes.paths import fold_path, split_path
from core.volumes.zip_names import find_ignored_kind

MAX_LISTED, MAX_IMAGE_LOAD_FILES = 20, 100
_DATA_FOLDER = "data"
# A folder with one of these names holds a part of a volume, and is not the volume's top folder.
_PART_FOLDERS = {_DATA_FOLDER, "natives", "native", "text", "texts", "ocr", "images", "image", "img"}
_TABLE, _NOTE, _IMAGES = "table", "note", "images"
_KINDS = {"dat": _TABLE, "csv": _TABLE, "txt": _NOTE, "opt": _IMAGES, "lfp": _IMAGES}
# What the volumes of our productions have, and many of others.
_FILE_LIST = "manifest.csv"
_MORE = "more_image_load_files"
_TWO_FORMATS = (
    "They often list the same pages twice. If each has pages of its own, import the volume with one and then, with "
    "the mode append_overlay, with the other. "
)
_JOIN = f"At most {MAX_IMAGE_LOAD_FILES} are imported with one load file: join those of one format. "


class DiscoveredFiles(NamedTuple):
    """The paths of the load file and of the first image load file; None if the volume has none.

    `top_folder` is the single top folder that these are in: the root of the volume and its name, None for the root.
    """

    load_file: str | None
    image_load_file: str | None
    top_folder: str | None
    more_image_load_files: Sequence[str] = ()

    def list_image_load_files(self) -> list[str]:
        """Return the paths of all image load files, in the order in which they are imported."""
        return [*filter(None, [self.image_load_file]), *self.more_image_load_files]

    def list_paths(self) -> list[str]:
        """Return the paths of all load files."""
        return [*filter(None, [self.load_file]), *self.list_image_load_files()]

    def build_document(self) -> dict[str, Any]:
        """Return the members as a volume stores them; an earlier version knows the first three."""
        return {name: value for name, value in self._asdict().items() if name != _MORE or value}


def discover_files(
    files: Iterable[tuple[str, int]], *, load_file: str | None = None, image_load_file: str | None = None
) -> DiscoveredFiles:
    """Return the load files of a volume; `files` are the path and size in bytes of every file, in any order.

    `load_file` and `image_load_file` are the paths that the caller chose. A volume without a load file is accepted if
    the caller chose the image load file.

    Raises VolumeRefusedError with NO_LOAD_FILE if there is none or the chosen one is not there, and with
    SEVERAL_LOAD_FILES if there are several load files, or image load files of both formats or more than 100.
    """
    survey = _Survey(load_file, image_load_file)
    for path, size in files:
        survey.add(_File(path, size))
    chosen = survey.find_chosen(image_load_file, "imageLoadFile")
    table = survey.find_chosen(load_file, "loadFile") or survey.find_table(is_required=chosen is None)
    images = [chosen] if chosen else survey.find_images()
    top = survey.get_top_folder()
    found = DiscoveredFiles(table, images[0] if images else None, top, images[1:])
    is_in_top = any(path.startswith(f"{top}/") for path in found.list_paths())
    return found if is_in_top else found._replace(top_folder=None)


class _File(NamedTuple):
    path: str
    size: int

    def __str__(self) -> str:
        return f"{self.path} ({self.size:,} bytes)"


class _Found:
    """The first MAX_IMAGE_LOAD_FILES of some files by path, and how many there are."""

    def __init__(self, *others: _Found) -> None:
        self.count: int = sum(other.count for other in others)
        self.first: list[_File] = [file for other in others for file in other.first]

    def add(self, file: _File) -> None:
        self.count += 1
        self.first.append(file)
        if len(self.first) > 2 * MAX_IMAGE_LOAD_FILES:
            self.first = nsmallest(MAX_IMAGE_LOAD_FILES, self.first)

    def __str__(self) -> str:
        listed = nsmallest(MAX_LISTED, self.first)
        more = f" and {self.count - len(listed):,} more" if self.count > len(listed) else ""
        return ", ".join(map(str, listed)) + more


class _Survey:
    """What one pass over the files keeps of them."""

    def __init__(self, *choices: str | None) -> None:
        self._root = {kind: _Found() for kind in (_TABLE, _NOTE, _IMAGES)}
        self._below_top = {kind: _Found() for kind in self._root}
        self._elsewhere, self._archives = _Found(), _Found()
        self._top: str | None = None
        self._has_one_top = True
        self._root_files = self._other_files = 0
        self._similar = {fold_path(_normalise(choice)): _Found() for choice in choices if choice}
        self._exact = {_normalise(choice): _Found() for choice in choices if choice}

    def add(self, file: _File) -> None:
        *folders, name = file.path.split("/")
        if find_ignored_kind(file.path) or name.startswith("._"):
            return
        self._count(folders)
        self._compare_with_choices(file)
        kind = _find_kind(name)
        if is_archive_name(name):
            self._archives.add(file)
        if kind:
            self._place(file, folders, kind)

    def _count(self, folders: list[str]) -> None:
        if not folders:
            self._root_files += 1
            return
        self._other_files += 1
        self._top = folders[0] if self._top is None else self._top
        self._has_one_top &= folders[0] == self._top

    def _compare_with_choices(self, file: _File) -> None:
        if file.path in self._exact:
            self._exact[file.path].add(file)
        if self._similar and (similar := self._similar.get(fold_path(file.path))):
            similar.add(file)

    def _place(self, file: _File, folders: list[str], kind: str) -> None:
        depth = len(folders) - (bool(folders) and folders[-1].lower() == _DATA_FOLDER)
        if depth == 0:
            self._root[kind].add(file)
        elif depth == 1:
            self._below_top[kind].add(file)
        elif kind != _NOTE:
            self._elsewhere.add(file)

    def get_top_folder(self) -> str | None:
        """Return the only folder of the root, if it may be the volume's and not a part of it."""
        is_part = self._top is None or self._top.lower() in _PART_FOLDERS
        return None if is_part or not self._has_one_top or self._root_files > self._other_files else self._top

    def find_chosen(self, choice: str | None, option: str) -> str | None:
        """Return the path that the caller chose, as it is in the volume."""
        if not choice:
            return None
        path = _normalise(choice)
        found = self._exact[path] if self._exact[path].count else self._similar[fold_path(path)]
        if found.count > 1:
            raise _refuse_several(f"{option} means several files", found, option)
        if not found.count:
            message = f"The volume has no file {shorten_name(choice)}. Set {option} to a path within the volume."
            raise VolumeRefusedError(VolumeFailure.NO_LOAD_FILE, message)
        return found.first[0].path

    def find_table(self, *, is_required: bool) -> str | None:
        """Return the path of the DAT, CSV or TXT file; None if there is none and none is required."""
        root, top = self._root, self._get_places_below_top()
        below = (top[_TABLE] if top[_TABLE].count else top[_NOTE]) if top else _Found()
        found = root[_TABLE] if root[_TABLE].count else _Found(root[_NOTE], below)
        if found.count > 1:
            raise _refuse_several("The volume has several load files", found, "loadFile")
        if not found.count and is_required:
            raise self._refuse_none()
        return found.first[0].path if found.count else None

    def find_images(self) -> list[str]:
        """Return the paths of the OPT files, or of the LFP files, in order; none if there is none."""
        top = self._get_places_below_top()
        found = _Found(self._root[_IMAGES], *([top[_IMAGES]] if top else []))
        if found.count > MAX_IMAGE_LOAD_FILES:
            raise _refuse_several(f"The volume has {found.count:,} image load files", found, "imageLoadFile", _JOIN)
        if len({path.rpartition(".")[2].lower() for path, _ in found.first}) > 1:
            raise _refuse_several("The volume has OPT files and LFP files", found, "imageLoadFile", _TWO_FORMATS)
        return [file.path for file in sorted(found.first)]

    def _get_places_below_top(self) -> dict[str, _Found] | None:
        return self._below_top if self.get_top_folder() is not None else None

    def _refuse_none(self) -> VolumeRefusedError:
        message = "The volume has no DAT, CSV or TXT file in its root, in DATA/ or there below a single top folder."
        others = _Found(self._root[_IMAGES], self._below_top[_TABLE], self._below_top[_IMAGES], self._elsewhere)
        advice = "Set loadFile to the path of the load file, or imageLoadFile to import an OPT or LFP file alone."
        listed = f" Other places have: {others}." if others.count else ""
        if self._archives.count:
            inside = "Archives inside it are not unpacked"
            listed += f" {inside}: {self._archives}. If one has the production, unpack it and send its folder."
        return VolumeRefusedError(VolumeFailure.NO_LOAD_FILE, f"{message}{listed} {advice}")


def _find_kind(name: str) -> str | None:
    stem, _, extension = name.rpartition(".")
    kind = _KINDS.get(extension.lower()) if stem else None
    return _NOTE if name.lower() == _FILE_LIST else kind


def _normalise(choice: str) -> str:
    return "/".join(split_path(choice))


def _refuse_several(what: str, found: _Found, option: str, advice: str = "") -> VolumeRefusedError:
    message = f"{what}: {found}. {advice}Set {option} to the path of one."
    return VolumeRefusedError(VolumeFailure.SEVERAL_LOAD_FILES, message)
