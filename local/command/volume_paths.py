"""Find the files of a folder or zip by the paths of its load files, on this machine, without any server.

Guaranteed: the rules and the code are those of an import; every row and page is read. Not guaranteed: that each row is
imported: ids are not compared, so that paths of a row that an import rejects count too. Memory grows with the paths of
the volume's files, and with the OPT or LFP file.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.detection import SAMPLE_BYTES, detect_image_file
from core.load_file.chunk_reader import read_chunk
from core.load_file.dialect import HEAD_BYTES, read_head, read_opening
from core.load_file.options import ImportOptions, parse_options
from core.load_file.rows import parse_row
from core.load_file.splitter import Splitter
from core.volumes.discovery import discover_files
from core.volumes.folders import FolderSurvey
from core.volumes.inflate import EntryReader
from core.volumes.linking import PATH_FIELDS
from core.volumes.path_guesses import NamedPath, resolve_guesses
from core.volumes.path_tally import PathTally
from core.volumes.paths import Elsewhere, PathError, Resolved, fold_path, hash_path, resolve
from core.volumes.places import VolumePlace
from core.volumes.zip_directory import ZipEntry, read_directory
from exhibit_ingest.volumes.survey import list_files
from exhibit_ingest.volumes.volume_folders import list_top_archives

_ROWS_PER_CHUNK, _MAX_PLACES = 2_000, 20
_LATIN = "cp1252"


class _File(NamedTuple):
    path: str


class _LocalVolume:
    """The files of a folder or zip by path: with what is needed to read them."""

    def __init__(self, source: Path, zip_names: str | None) -> None:
        self._source, self._entries = source, dict[str, ZipEntry]()
        if source.is_dir():
            self.sizes = {file.path: file.size for file in list_files(source)}
        else:
            with source.open("rb") as archive:
                size = archive.seek(0, os.SEEK_END)
                directory = read_directory(_read_from(archive.fileno()), size, zip_names)
                self._entries = {entry.path: entry for entry in directory.list_entries()}
            self.sizes = {path: entry.size for path, entry in self._entries.items()}

    @contextmanager
    def open(self, path: str) -> Iterator[Any]:
        """Open a file of the volume; an entry of a zip is expanded into a temporary file."""
        if not self._entries:
            with (self._source / path).open("rb") as opened:
                yield opened
            return
        with self._source.open("rb") as archive, tempfile.TemporaryFile() as expanded:
            for block in EntryReader(_read_from(archive.fileno()), self._entries[path]).read_blocks():
                expanded.write(block)
            expanded.seek(0)
            yield expanded


def _read_from(number: int) -> Any:
    return lambda start, end: os.pread(number, end - start, start)


class _Lookup:
    """Finds the files of paths, as the lookup of a chunk does."""

    def __init__(self, volume: _LocalVolume) -> None:
        self._by_hash: dict[bytes, list[_File]] = defaultdict(list)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in volume.sizes:
            self._by_hash[hash_path(fold_path(path))].append(_File(path))
            self._by_name[fold_path(path.rpartition("/")[2])].append(path)

    def find(self, place: VolumePlace, named: NamedPath) -> Resolved[_File] | PathError | Elsewhere | None:
        candidates = place.list_candidates(named)
        if isinstance(candidates, PathError):
            return candidates._replace(elsewhere=self._find_elsewhere(place, named))
        found = resolve(candidates, self._by_hash) or resolve_guesses(place.list_guesses(named), self._by_hash)
        return found or self._find_elsewhere(place, named)

    def _find_elsewhere(self, place: VolumePlace, named: NamedPath) -> Elsewhere | None:
        name = fold_path(place.get_file_name(named))
        paths = self._by_name.get(name, []) if name else []
        return place.choose_elsewhere(named, paths) if len(paths) <= _MAX_PLACES else None


class VolumePaths(NamedTuple):
    """How the paths of a volume's load files are found, the paths of these, and the first archives at its top."""

    tally: PathTally
    load_files: list[str]
    archives: list[str]


def tally_volume(source: Path, document: dict[str, Any], settings: Mapping[str, str]) -> VolumePaths:
    """Return how the paths of the volume's load files are found.

    `document` are the options, `settings` members of the request to import a volume. Raises FileRefusedError for a
    volume or load file that is refused, InvalidInputError, LocalError, and OSError for a file that cannot be read.
    """
    volume, options = _LocalVolume(source, settings.get("zipNames")), parse_options(document)
    survey = FolderSurvey()
    found = discover_files(
        survey.watch(volume.sizes.items()),
        load_file=settings.get("loadFile"),
        image_load_file=settings.get("imageLoadFile"),
    )
    name = source.resolve().name if source.is_dir() else source.stem
    folders, lookup, tally = survey.select_near(found.list_paths()), _Lookup(volume), PathTally()
    for path in found.list_paths():
        list_paths = _list_row_paths if path == found.load_file else _list_page_paths
        place = VolumePlace.of_load_file(name, path, found.top_folder, folders, options.files)
        with volume.open(path) as opened:
            for kind, line_no, named in list_paths(opened, volume.sizes[path], options):
                tally.add(kind, line_no, named.text, lookup.find(place, named))
    return VolumePaths(tally, found.list_paths(), list_top_archives(volume.sizes))


def _list_row_paths(opened: Any, size: int, options: ImportOptions) -> Iterator[tuple[str, int, NamedPath]]:
    head = read_head(_read_blocks(opened), size)
    splitter = Splitter(read_opening(head, options, whole=len(head) == size), _ROWS_PER_CHUNK)
    opened.seek(0)
    chunks = [chunk for block in _read_blocks(opened) for chunk in splitter.feed(block)]
    chunks += splitter.finish()
    layout = splitter.build_layout(options)
    for chunk in chunks:
        opened.seek(chunk.byte_start)
        raw = opened.read(chunk.byte_end - chunk.byte_start)
        for record in read_chunk(raw, layout, chunk.first_line, chunk.byte_start):
            values = parse_row(record, layout).values
            for kind, field in PATH_FIELDS.items():
                if (text := values.get(field)) and text.strip():
                    yield kind.value, record.line_no, NamedPath(text)


def _list_page_paths(opened: Any, size: int, options: ImportOptions) -> Iterator[tuple[str, int, NamedPath]]:
    raw = opened.read()
    found = detect_image_file(raw[: SAMPLE_BYTES + 4], whole=len(raw) <= SAMPLE_BYTES + 4, encoding=options.encoding)
    if found.kind is None:
        return
    encoding = found.encoding or ("utf-8" if _is_utf8(raw) else _LATIN)
    for document in read_image_chunk(raw[found.mark_bytes :], found.kind, encoding, 1, found.mark_bytes):
        for page in document.pages:
            yield "image", page.line_no, NamedPath(page.path, page.volume)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_blocks(opened: Any) -> Iterator[bytes]:
    while block := opened.read(HEAD_BYTES):
        yield block
