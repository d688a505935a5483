"""Split an image load file in one pass: chunks of documents, duplicate keys, and the column that the keys belong to.

Guaranteed: memory does not grow with the file; keys are spilled to files under /tmp. Lines that are rejected without
being read are a chunk of their own, whose hash is NOT_READ: they are counted, reported and retried like any other.
The column is decided by all keys of the file, so that it is the same for every chunk. Not guaranteed: checkpoints. A
file that one invocation cannot split is not imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import select

from core.codes import FileFailure, WarningCode
from core.errors import FileRefusedError
from core.image_load_file.boundaries import BOUNDARY_COMMANDS
from core.image_load_file.detection import LONGEST_MARK_BYTES, SAMPLE_BYTES, Detection, detect_with_options
from core.image_load_file.image_layout import build_image_layout
from core.image_load_file.limits import LIMITS
from core.image_load_file.page_lines import ImageFileKind
from core.image_load_file.splitter import ImageSplitter, RejectedRange
from core.load_file.encoding import BYTEWISE, has_surrogates
from core.load_file.options import ImportOptions
from core.load_file.split_state import Chunk
from core.load_mode import OverlayKey
from core.statuses import ImportKind
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.exhibits.numbers import find_claimants
from shell.imports.splitting.boundaries import find_boundaries
from shell.imports.splitting.duplicate_ids import SpilledIds
from shell.imports.splitting.split import FileWarning, Split, refuse_large_file
from shell.tables.exhibits import Exhibits
from shell.tables.imports import Imports
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import is_storable

# The hash of a chunk that is rejected by its range.
NOT_READ = bytes(32)
KEYS_PER_STATEMENT = 1_000
_KEY_COLUMNS = {
    OverlayKey.CONTROL_NUMBER: Exhibits.control_number,
    OverlayKey.BATES_BEGIN: Exhibits.bates_begin,
}


class ImageSplit(Split):
    """The result of the splitting pass; a context manager that deletes the spilled keys."""

    def __init__(self, size: int, splitter: ImageSplitter) -> None:
        super().__init__(size)
        self.splitter = splitter

    def decode_key(self, key: str) -> str:
        """Return a key as the case has it."""
        return self.splitter.decode_key(key)

    def list_warnings(self) -> Iterator[FileWarning]:
        """Yield the warnings about the whole file."""
        yield from super().list_warnings()
        for command, lines in sorted(self.splitter.counts.other_commands.items()):
            if command in BOUNDARY_COMMANDS:
                # They are applied, or the file is refused.
                continue
            message = f"The command {command} is not read: {lines.list_lines()}. Check that no page depends on it."
            yield WarningCode.LFP_COMMAND_IGNORED, None, message


def split_images(import_record: Imports, source: ObjectVersion, options: ImportOptions) -> ImageSplit | None:
    """Split an image load file; return None, having read its beginning, for a file of rows.

    Raises FileRefusedError if the file has to be an image load file and is not one, or cannot be imported.
    """
    found = _detect(import_record, source, options)
    if found.kind is None:
        is_named_so = found.has_pages and import_record.file_name.lower().endswith(".opt")
        if import_record.kind != ImportKind.IMAGES and not is_named_so:
            return None
        raise build_not_images(found)
    refuse_large_file(import_record.size)
    split = _read_documents(import_record.size, source, found.kind, found)
    try:
        key = _choose_key(import_record.case_id, split)
        encoding = split.splitter.encoding
        split.layout = build_image_layout(ImageFileKind(found.kind), encoding, found.mark_bytes, options, key)
    except BaseException:
        split.__exit__(None, None, None)
        raise
    return split


def build_not_images(found: Detection) -> FileRefusedError:
    """Return the error of a file that has to be an image load file and is not one."""
    message = f"The file is not an image load file (OPT or LFP). {found.reason}"
    return FileRefusedError(FileFailure.UNSUPPORTED_FORMAT, message)


def _detect(import_record: Imports, source: ObjectVersion, options: ImportOptions) -> Detection:
    head = source.read(0, min(import_record.size, SAMPLE_BYTES + LONGEST_MARK_BYTES))
    in_volume = import_record.volume_id is not None
    whole = len(head) == import_record.size
    return detect_with_options(head, whole=whole, encoding=options.encoding, in_volume=in_volume)


def _read_documents(size: int, source: ObjectVersion, kind: ImageFileKind, found: Detection) -> ImageSplit:
    """Return the documents of a file; one with boundary commands is read three times.

    Raises FileRefusedError (LFP_BOUNDARIES) if these cannot be applied.
    """
    place = (kind, found.encoding, found.mark_bytes)
    split = _try_to_read(ImageSplit(size, ImageSplitter(*place)), source)
    if not split.splitter.has_unread_boundaries:
        return split
    split.__exit__(None, None, None)
    encoding = found.encoding or BYTEWISE
    with find_boundaries(source.read_blocks(size), encoding, found.mark_bytes, LIMITS.line_bytes) as levels:
        split = ImageSplit(size, ImageSplitter(*place))
        split.splitter.apply_boundaries(levels)
        return _try_to_read(split, source)


def _try_to_read(split: ImageSplit, source: ObjectVersion) -> ImageSplit:
    try:
        _read_file(split, source)
    except BaseException:
        split.__exit__(None, None, None)
        raise
    return split


def _read_file(split: ImageSplit, source: ObjectVersion) -> None:
    """Read the file to its end, or to a boundary command whose effect on the pages before it is not known."""
    splitter = split.splitter
    for block in source.read_blocks(split.size):
        _take(split, splitter.feed(block))
        if splitter.has_unread_boundaries:
            return
    _take(split, splitter.finish())
    split.chunk_count, split.rows_seen, split.sha256 = len(split.chunks), splitter.rows_seen, splitter.sha256
    split.byte_order_marks, split.first_utf8_line = splitter.byte_order_marks, splitter.first_utf8_line


def _take(split: ImageSplit, found: Iterator[Chunk | RejectedRange]) -> None:
    for each in found:
        place = (each.byte_start, each.byte_end, each.first_line, each.last_line)
        rest = (1, NOT_READ) if isinstance(each, RejectedRange) else (each.row_count, each.sha256)
        split.chunks.append(Chunk(len(split.chunks) + 1, *place, *rest, each.boundaries))
    split.keys.add(split.splitter.keys)
    split.splitter.keys.clear()


def _choose_key(case_id: int, split: ImageSplit) -> OverlayKey:
    """Return the column that has more of the file's keys; the control number if both have equally many."""
    numbers = _count_matches(case_id, split, OverlayKey.CONTROL_NUMBER)
    if numbers == split.rows_seen or numbers >= _count_matches(case_id, split, OverlayKey.BATES_BEGIN):
        return OverlayKey.CONTROL_NUMBER
    return OverlayKey.BATES_BEGIN


def _count_matches(case_id: int, split: ImageSplit, key: OverlayKey) -> int:
    return sum(_count_found(case_id, key, _decode(split, keys)) for keys in _list_keys(split.keys))


def _list_keys(keys: SpilledIds) -> Iterator[list[str]]:
    return keys.list_distinct(KEYS_PER_STATEMENT)


def _decode(split: ImageSplit, keys: Collection[str]) -> set[str]:
    decoded = map(split.splitter.decode_key, keys)
    return {key for key in decoded if not has_surrogates(key)}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _count_found(case_id: int, key: OverlayKey, keys: set[str]) -> int:
    column = _KEY_COLUMNS[key]
    if not keys:
        return 0
    with session() as reading:
        # Compared again, byte for byte: the collation of the column may find more.
        found = reading.scalars(select(column).where(Exhibits.case_id == case_id, is_in(column, sorted(keys))))
        matches = keys.intersection(filter(None, found))
        if key is OverlayKey.BATES_BEGIN:
            matches |= find_claimants(reading, case_id, {each for each in keys - matches if _is_storable(each)}).keys()
        return len(matches)


def _is_storable(key: str) -> bool:
    return is_storable(key, "exhibits", "bates_begin")
