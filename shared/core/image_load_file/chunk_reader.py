"""Read the bytes of a chunk into documents with their positions in the file.

Guaranteed: the documents of all chunks are those of the file read at once, for every size of the chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.image_load_file.chunk_boundaries import unpack_boundaries
from core.image_load_file.documents import (
    ImageDocument,
    check_page_count,
    count_pages,
    describe_large_document,
    describe_missing_break,
    list_pages,
)
from core.image_load_file.limits import LIMITS
from core.image_load_file.lines import read_line, split_texts
from core.image_load_file.page_lines import ImageFileKind, LineError, PageLine, SkippedLine


@dataclass
class _OpenDocument:
    """A document whose end is not known yet: its pages' lines with their numbers, and the first error of the others."""

    key: str
    line_no: int
    byte_start: int
    error: LineError | None = None
    last_line: int = 0
    byte_end: int = 0
    lines: list[tuple[int, PageLine]] = field(default_factory=list)

    def add(self, line: PageLine | LineError, line_no: int, byte_end: int) -> None:
        self.last_line, self.byte_end = line_no, byte_end
        if isinstance(line, PageLine):
            self.lines.append((line_no, line))
        else:
            self.error = self.error or line._replace(line_no=line_no)

    def build(self) -> ImageDocument:
        if self.error is None and count_pages(self.lines[0][1], len(self.lines)) > LIMITS.document_pages:
            self.error = describe_large_document(self.line_no)
        pages = [] if self.error else list_pages(self.lines)
        declared = self.lines[0][1].page_count if self.lines else None
        return ImageDocument(
            *(self.key, self.line_no, self.last_line - self.line_no + 1),
            *(self.byte_start, self.byte_end - self.byte_start, pages),
            declared_count=declared if self.error is None else None,
            error=self.error,
            warnings=() if self.error else check_page_count(declared, len(pages)),
        )


def read_image_chunk(
    raw: bytes,
    kind: ImageFileKind,
    encoding: str,
    first_line: int,
    byte_start: int,
    boundaries: bytes | None = None,
) -> Iterator[ImageDocument]:
    """Yield the documents of a chunk that begins at this physical line and this byte of the file.

    `boundaries` are those of the chunk, if it has some: they say which lines begin documents, and not their flags.
    """
    starts = None if boundaries is None else unpack_boundaries(boundaries, first_line)
    texts, sizes, _ = split_texts(raw, encoding)
    document: _OpenDocument | None = None
    position = byte_start
    for line_no, (text, size) in enumerate(zip(texts, sizes, strict=True), start=first_line):
        line = read_line(kind, text)
        if not isinstance(line, SkippedLine):
            if starts is not None:
                line = line._replace(starts_document=line_no in starts)
            if line.starts_document or document is None:
                if document:
                    yield document.build()
                missing = None if line.starts_document else describe_missing_break(line_no)
                document = _OpenDocument(line.image_key, line_no, position, missing)
            document.add(line, line_no, position + size)
        position += size
    if document:
        yield document.build()
