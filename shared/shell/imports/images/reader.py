"""Read one chunk of an image load file: its documents, and the files of their pages.

Guaranteed: it only reads; the bytes are those that the splitting pass read, otherwise the chunk is retried. What is
wrong with a document by itself is found here, so that it does not depend on the case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.codes import Rejection, WarningCode
from core.file_options import MissingFiles
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.documents import ImageDocument, ImagePage, describe_large_document
from core.image_load_file.limits import LIMITS
from core.image_load_file.page_lines import ImageFileKind, LineError
from core.load_file.layout import Layout
from core.load_file.rows import RowError, ValueChange
from core.volumes.linking import VolumeFile
from core.volumes.paths import PathError
from shell.db.column_limits import column_limits
from shell.db.session import session
from shell.imports.chunks.importer import LoadedChunk, build_miscount, get_source, read_bytes
from shell.imports.images.files import Images, describe_image, find_images
from shell.imports.images.image_pages import PageCounts, count_images
from shell.imports.splitting.image_split import NOT_READ
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import key_error

_PATH_COLUMNS = {ImageFileKind.OPT: "path", ImageFileKind.LFP: "file"}


class PageWarning(NamedTuple):
    """A warning about a document, or about the image that one of its lines names."""

    line_no: int
    change: ValueChange


@dataclass
class ReadDocument:
    """A document with the file of each page, all None without a volume; `error` is why it is rejected as a whole.

    `missing` is the number of pages whose image the volume lacks, `unreadable` of those whose image cannot be opened;
    `frames` are the pages in the images, as far as they were counted. `same_as` is the page set of another volume that
    the case has for the document, if it is known to have the same pages.
    """

    document: ImageDocument
    files: Sequence[VolumeFile | None] = ()
    error: RowError | None = None
    warnings: list[PageWarning] = field(default_factory=list)
    missing: int = 0
    unreadable: int = 0
    frames: int = 0
    same_as: int | None = None

    @property
    def content_hash(self) -> bytes:
        """The SHA-256 of the pages and their files: pages whose images were found since are other ones."""
        ids = ",".join(str(file.id) if file else "" for file in self.files)
        return hashlib.sha256(self.document.content_hash + ids.encode()).digest()


@dataclass
class ImageChunk:
    """A chunk of an image load file as it was read; the same for every attempt."""

    import_record: Imports
    chunk: ImportChunks
    layout: Layout
    documents: Sequence[ReadDocument]


def read_page_documents(loaded: LoadedChunk) -> ImageChunk:
    """Read the documents of the chunk in file order, and look up the files of their pages.

    Raises StorageRefusedError if the bytes are not those that the splitting pass read, StorageUnavailableError if an
    image cannot be read now.
    """
    import_record, chunk, first_lines = loaded
    layout = Layout.from_json(import_record.layout or "{}")
    kind = ImageFileKind(str(layout.image_format))
    if bytes(chunk.sha256) == NOT_READ:
        documents = [_read_range(import_record, chunk, layout, kind)]
    else:
        raw = read_bytes(import_record, chunk)
        documents = list(read_image_chunk(raw, kind, layout.encoding, chunk.first_line, chunk.byte_start))
    if len(documents) != chunk.row_count:
        raise build_miscount(len(documents), chunk)
    images = _find_images(import_record, layout, documents)
    pages = count_images(import_record, images) if images and layout.files.verify_images else None
    reader = _DocumentReader(layout, _PATH_COLUMNS[kind], images, pages)
    read = [reader.read(document, first_lines.get(document.line_no)) for document in documents]
    return ImageChunk(import_record, chunk, layout, read)


def _read_range(import_record: Imports, chunk: ImportChunks, layout: Layout, kind: ImageFileKind) -> ImageDocument:
    """Return the document of lines that were rejected by their range; only the beginning is read."""
    # A whole number of code units of UTF-16.
    end = min(chunk.byte_end, chunk.byte_start + 2 * LIMITS.line_bytes)
    raw = get_source(import_record).read(chunk.byte_start, end)
    first = next(read_image_chunk(raw, kind, layout.encoding, chunk.first_line, chunk.byte_start), None)
    error = first and first.error
    if not error or error.code is not Rejection.OPT_NO_DOC_BREAK:
        error = _describe_large_range(chunk)
    lines, size = chunk.last_line - chunk.first_line + 1, chunk.byte_end - chunk.byte_start
    return ImageDocument(first.key if first else "", chunk.first_line, lines, chunk.byte_start, size, [], error=error)


def _describe_large_range(chunk: ImportChunks) -> LineError:
    limits = f"{LIMITS.document_pages:,} pages or {LIMITS.document_bytes:,} bytes"
    return describe_large_document(
        chunk.first_line, f"more than {limits}, or a line of more than {LIMITS.line_bytes:,} bytes"
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_images(import_record: Imports, layout: Layout, documents: Iterable[ImageDocument]) -> Images | None:
    """Return the images of a volume's load file; None for one that is not of a volume."""
    if import_record.volume_id is None:
        return None
    with session() as reading:
        return find_images(reading, import_record, layout, documents)


class _DocumentReader:
    def __init__(self, layout: Layout, path_column: str, images: Images | None, pages: PageCounts | None) -> None:
        self._rejects = layout.files.missing_files is MissingFiles.REJECT
        self._column, self._images, self._limits = path_column, images, column_limits("pages")
        self._pages = pages

    def read(self, document: ImageDocument, first_line: int | None) -> ReadDocument:
        """Return the document with its files, or why it is rejected; `first_line` has the same key."""
        error = self._find_error(document, first_line)
        if error:
            return ReadDocument(document, error=error)
        files = [self._find_file(page) for page in document.pages]
        found = [image if isinstance(image, VolumeFile) else None for image in files]
        changes = (ValueChange(code, None, message, None) for code, message in document.warnings)
        warnings = [PageWarning(document.line_no, change) for change in changes]
        read = ReadDocument(document, found, warnings=warnings)
        if self._images is not None:
            self._check_images(read, files)
        if self._pages is not None:
            self._compare_pages(read, self._pages)
        return read

    def _find_file(self, page: ImagePage) -> VolumeFile | PathError | None:
        return None if self._images is None else self._images[page.path]

    def _find_error(self, document: ImageDocument, first_line: int | None) -> RowError | None:
        if document.error:
            return RowError(document.error.code, document.error.column, _describe_line(document, document.error))
        if first_line is not None:
            message = f"Line {first_line} of this file begins a document with the same image key. Keep one of the two."
            return RowError(Rejection.OPT_DUPLICATE_KEY, "image key", message)
        return next(self._list_unstorable(document), None)

    def _list_unstorable(self, document: ImageDocument) -> Iterator[RowError]:
        for page in document.pages:
            for column, name, text in (("image_key", "image key", page.image_key), ("path", self._column, page.path)):
                found = key_error(text, self._limits[column])
                if found:
                    yield RowError(found[0], name, f"Line {page.line_no}: {found[1]}")

    def _check_images(self, read: ReadDocument, images: Sequence[VolumeFile | PathError | None]) -> None:
        """Add a warning for each line whose image is not as it should be, or the error of the document."""
        last_line = 0
        for page, image in zip(read.document.pages, images, strict=True):
            read.missing += not isinstance(image, VolumeFile)
            change = describe_image(image, self._column) or self._describe_unreadable(image)
            read.unreadable += change is not None and change.code is WarningCode.IMAGE_UNREADABLE
            if change and page.line_no != last_line:
                read.warnings.append(PageWarning(page.line_no, change))
                last_line = page.line_no
            if self._rejects and read.error is None and change and not isinstance(image, VolumeFile):
                read.error = RowError(change.code, change.column, f"Line {page.line_no}: {change.message}")

    def _describe_unreadable(self, image: VolumeFile | PathError | None) -> ValueChange | None:
        if self._pages is None or not isinstance(image, VolumeFile) or self._pages[image.id] is not None:
            return None
        message = "The image cannot be opened, so that its pages are unknown. Ask the sender for it again."
        return ValueChange(WarningCode.IMAGE_UNREADABLE, self._column, message, None)

    def _compare_pages(self, read: ReadDocument, pages: PageCounts) -> None:
        """Add the pages of the document's images, and a warning if all are known and the document has others."""
        counts = [pages[file.id] if file else None for file in dict.fromkeys(read.files)]
        read.frames = sum(count or 0 for count in counts)
        listed = len(read.document.pages)
        if None not in counts and read.frames != listed:
            found = f"The document has {listed} pages by its lines, and its images have {read.frames}"
            message = f"{found}. Find out which is right."
            change = ValueChange(WarningCode.OPT_PAGE_COUNT, None, message, None)
            read.warnings.append(PageWarning(read.document.line_no, change))


def _describe_line(document: ImageDocument, error: LineError) -> str:
    """Return the message, with the line at fault if it is not the first one of the document."""
    if error.line_no in (0, document.line_no):
        return error.message
    return f"Line {error.line_no}: {error.message}"
