"""Write the flags that boundary commands leave the pages of an image load file into the records of its error file.

Guaranteed: the error file alone gives its documents the pages that they have in the whole file, although the commands
are not in it. Records of other files stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import text

from core.image_load_file.chunk_boundaries import unpack_boundaries, write_flags
from core.image_load_file.page_lines import ImageFileKind
from core.load_file.layout import Layout
from shell.db.session import session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# The chunks of an image load file are numbered in the order of their lines.
_CHUNK = text(
    "SELECT chunk_no, first_line, last_line, boundaries FROM import_chunks "
    "WHERE import_id = :import_id AND chunk_no >= :chunk_no AND last_line >= :line_no ORDER BY chunk_no LIMIT 1"
)


class BoundaryFlags:
    """The boundaries of the chunk that was asked for last; ask in the order of lines."""

    def __init__(self, import_id: int, layout: Layout) -> None:
        self._import_id, self._encoding = import_id, layout.encoding
        self._has_commands = layout.image_format == ImageFileKind.LFP
        self._chunk: Any = None

    def write(self, line_no: int, record: Iterable[bytes]) -> Iterable[bytes]:
        """Return the bytes of the record that begins at a line, with the flags of its pages."""
        if not self._has_commands:
            return record
        if self._chunk is None or self._chunk.last_line < line_no:
            self._chunk = _find_chunk(self._import_id, self._chunk.chunk_no if self._chunk else 0, line_no)
        if self._chunk is None or self._chunk.boundaries is None:
            return record
        starts = unpack_boundaries(bytes(self._chunk.boundaries), self._chunk.first_line)
        return write_flags(record, self._encoding, line_no, starts)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_chunk(import_id: int, chunk_no: int, line_no: int) -> Any:
    with session() as reading:
        return reading.execute(_CHUNK, {"import_id": import_id, "chunk_no": chunk_no, "line_no": line_no}).one_or_none()
