"""Show how an import would read an image load file (OPT or LFP), from the file's first bytes.

Guaranteed: what the file is, and what its lines say, is decided by the code that decides it for the import. The last
line of a prefix may be cut and is left out. Not guaranteed: that the documents are those of the import if commands of
an LFP decide which lines begin one; `documents` is then None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.image_load_file.boundaries import BOUNDARY_COMMANDS
from core.image_load_file.detection import Detection as ImageFile
from core.image_load_file.document_stream import ImageFileCounts
from core.image_load_file.image_layout import COLUMNS
from core.image_load_file.limits import LIMITS
from core.image_load_file.lines import LineStream, describe_long_line, read_line
from core.image_load_file.page_lines import ImageFileKind, LineError, PageLine, SkippedLine
from core.imports.findings import Certainty, Detected, Detection, explain_evidence
from core.imports.preview import SHOWN_ROWS, ImageLines, Preview, RowPreview, shorten
from core.load_file import encoding as enc
from core.load_file.options import ImportOptions

# So many paths are looked up in the listing of a volume.
COMPARED_PATHS = 1_000
_COMMAS = Detected(",", "Lines of an image load file have columns between commas.", Certainty.CERTAIN)
_NONE = Detected(None, "An image load file has none.", Certainty.CERTAIN)
_NO_HEADER = Detected(False, "An image load file has none.", Certainty.CERTAIN)


@dataclass(frozen=True)
class PathOfLine:
    """The path that a line names, and its volume column."""

    line: int
    path: str
    volume: str


def build_image_preview(
    head: bytes, size: int, options: ImportOptions, file: ImageFile
) -> tuple[Preview, list[PathOfLine]]:
    """Return the preview of a file of `size` bytes that begins with `head`, and the first COMPARED_PATHS paths.

    `file` is what `detect_image_file` returned, of a kind that is not None.
    """
    reader = _Reader(ImageFileKind(file.kind or ""), head, file, whole=len(head) == size)
    detection = Detection(_explain_encoding(reader, options, file), _COMMAS, _NONE, _NONE, _NO_HEADER, _NONE)
    return _build(reader, size, file, detection), reader.paths


def _build(reader: _Reader, size: int, file: ImageFile, detection: Detection) -> Preview:
    columns, counts = COLUMNS[reader.kind], reader.counts
    has_commands = not BOUNDARY_COMMANDS.isdisjoint(counts.other_commands)
    documents = None if has_commands else counts.documents
    return Preview(
        provisional=not reader.whole,
        bytes_read=reader.bytes,
        size=size,
        may_change=detection.list_changeable(),
        detection=detection,
        rows_read=counts.documents,
        rows_counted=0,
        rows=reader.rows,
        column_count=len(columns),
        columns=[],
        header_fingerprint=None,
        warnings=[],
        images=ImageLines(reader.kind.value, file.reason, list(columns), documents, counts.page_lines),
    )


def _explain_encoding(reader: _Reader, options: ImportOptions, file: ImageFile) -> Detected:
    if file.encoding is None:
        return explain_evidence(reader.encoding, reader.evidence, whole=reader.whole)
    if file.encoding == options.encoding:
        return Detected(file.encoding, "It was chosen.", Certainty.GIVEN)
    return Detected(file.encoding, "The file begins with a byte order mark.", Certainty.CERTAIN)


class _Reader:
    """The lines of the first bytes: the first ones, what all are, and the first paths."""

    def __init__(self, kind: ImageFileKind, head: bytes, file: ImageFile, *, whole: bool) -> None:
        self.kind, self.whole, self.bytes = kind, whole, len(head)
        self.counts, self.rows, self.paths = ImageFileCounts(), list[RowPreview](), list[PathOfLine]()
        stream = LineStream(file.encoding or enc.BYTEWISE, file.mark_bytes)
        texts = list(_list_texts(stream, head[file.mark_bytes :], whole=whole))
        self.evidence, self._given = stream.evidence, file.encoding
        self.encoding = file.encoding or stream.evidence.choose_encoding()
        for line_no, text in texts:
            self._add(line_no, text)

    def _add(self, line_no: int, text: str | None) -> None:
        decoded = None if text is None else self._decode(text)
        line = describe_long_line(line_no, LIMITS.line_bytes) if decoded is None else read_line(self.kind, decoded)
        if isinstance(line, SkippedLine):
            self.counts.add_skipped(line, line_no)
        else:
            self.counts.add_page(line)
        if isinstance(line, PageLine) and len(self.paths) < COMPARED_PATHS:
            self.paths.append(PathOfLine(line_no, line.path, line.volume))
        if len(self.rows) < SHOWN_ROWS and line != SkippedLine():
            self.rows.append(self._show(line_no, decoded, line))

    def _decode(self, text: str) -> str:
        return text if self._given or text.isascii() else enc.decode(text.encode(enc.BYTEWISE), self.encoding)

    def _show(self, line_no: int, text: str | None, line: PageLine | LineError | SkippedLine) -> RowPreview:
        last = len(COLUMNS[self.kind]) - 1
        cells = None if text is None else [shorten(cell) for cell in text.split(",", last)]
        return RowPreview(line_no, cells, [line.code.value] if isinstance(line, LineError) else [])


def _list_texts(stream: LineStream, data: bytes, *, whole: bool) -> Iterator[tuple[int, str | None]]:
    """Yield each complete line with its number; the last one without a line end only of a whole file."""
    for batch in stream.feed(data):
        yield from enumerate(batch.texts, start=batch.line_no)
    for batch in stream.finish() if whole else ():
        yield from enumerate(batch.texts, start=batch.line_no)
