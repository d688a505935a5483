"""Decide what is wrong with the documents of an image load file by themselves, from their lines and images.

Guaranteed: what is decided depends on the document and the volume's files alone, and not on the case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.cells.keys import show_text
from core.codes import Rejection, VolumeCode, WarningCode
from core.file_options import MissingFiles
from core.image_load_file.documents import ImageDocument, ImagePage
from core.image_load_file.page_lines import ImageFileKind, LineError
from core.load_file.layout import Layout
from core.load_file.rows import RowError, ValueChange
from core.volumes.linking import NamedFiles, VolumeFile
from core.volumes.path_guesses import NamedPath
from core.volumes.path_messages import describe_file, describe_path_error
from core.volumes.paths import Elsewhere, PathError, Resolved
from shell.db.column_limits import column_limits
from shell.imports.images.image_pages import PageCounts
from shell.utils.key_validation import key_error

_Image = VolumeFile | PathError | Elsewhere | None
_PATH_COLUMNS = {ImageFileKind.OPT: "path", ImageFileKind.LFP: "file"}


class PageWarning(NamedTuple):
    """A warning about a document, or about the image that one of its lines names."""

    line_no: int
    change: ValueChange


@dataclass
class ReadDocument:
    """A document with the file of each page, all None without a volume; `error` is why it is rejected as a whole.

    `missing` is the number of pages whose image the volume lacks, `unreadable` of those whose image cannot be opened;
    `frames` are the pages in the images, as far as they were counted; `counted` is their number if all were, None
    otherwise. `same_as` is the page set of another volume that the case has for the document, if it is known to have
    the same pages.
    """

    document: ImageDocument
    files: Sequence[VolumeFile | None] = ()
    error: RowError | None = None
    warnings: list[PageWarning] = field(default_factory=list)
    missing: int = 0
    unreadable: int = 0
    frames: int = 0
    counted: int | None = None
    same_as: int | None = None

    @property
    def content_hash(self) -> bytes:
        """The SHA-256 of the pages and their files: pages whose images were found since are other ones."""
        ids = ",".join(str(file.id) if file else "" for file in self.files)
        return hashlib.sha256(self.document.content_hash + ids.encode()).digest()


class DocumentReader:
    """Reads the documents of one chunk; `images` is None without a volume, `pages` if they are not counted.

    `opened` are the pages of files that were opened without a request, because no line counts them.
    """

    def __init__(
        self,
        layout: Layout,
        kind: ImageFileKind,
        images: NamedFiles | None,
        pages: PageCounts | None,
        opened: PageCounts | None = None,
    ) -> None:
        self._rejects = layout.files.missing_files is MissingFiles.REJECT
        self._column, self._images, self._limits = _PATH_COLUMNS[kind], images, column_limits("pages")
        self._pages, self._opened = pages, opened if pages is None else pages
        self._any_number = layout.any_number

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
        read.counted = self._count(read)
        if self._pages is not None:
            self._compare_pages(read, self._pages)
        return read

    def _count(self, read: ReadDocument) -> int | None:
        """Return the pages in the images of a document, None unless all of them were counted."""
        opened = self._opened or {}
        counts = [opened.get(file.id) if file else None for file in dict.fromkeys(read.files)]
        known = [count for count in counts if count]
        return sum(known) if known and len(known) == len(counts) else None

    def _find_file(self, page: ImagePage) -> _Image:
        named = None if self._images is None else self._images[NamedPath(page.path, page.volume)]
        return named.file if isinstance(named, Resolved) else named

    def _find_error(self, document: ImageDocument, first_line: int | None) -> RowError | None:
        if document.error:
            return RowError(document.error.code, document.error.column, _describe_line(document, document.error))
        if first_line is not None:
            return (
                describe_same_document(first_line) if self._any_number else _describe_same_key(document.key, first_line)
            )
        return next(self._list_unstorable(document), None)

    def _list_unstorable(self, document: ImageDocument) -> Iterator[RowError]:
        for page in document.pages:
            for column, name, text in (("image_key", "image key", page.image_key), ("path", self._column, page.path)):
                found = key_error(text, self._limits[column])
                if found:
                    yield RowError(found[0], name, f"Line {page.line_no}: {found[1]} The value: {show_text(text)}")

    def _check_images(self, read: ReadDocument, images: Sequence[_Image]) -> None:
        """Add a warning for each line whose image is not as it should be, or the error of the document."""
        last_line = 0
        for page, image in zip(read.document.pages, images, strict=True):
            read.missing += not isinstance(image, VolumeFile)
            change = _describe_image(page, image, self._column) or self._describe_unreadable(page, image)
            read.unreadable += change is not None and change.code is WarningCode.IMAGE_UNREADABLE
            if change and page.line_no != last_line:
                read.warnings.append(PageWarning(page.line_no, change))
                last_line = page.line_no
            if self._rejects and read.error is None and change and not isinstance(image, VolumeFile):
                read.error = RowError(change.code, change.column, f"Line {page.line_no}: {change.message}")

    def _describe_unreadable(self, page: ImagePage, image: _Image) -> ValueChange | None:
        if self._pages is None or not isinstance(image, VolumeFile) or self._pages[image.id] is not None:
            return None
        what = "The image cannot be opened, so that its pages are unknown. Ask the sender for it again."
        return ValueChange(WarningCode.IMAGE_UNREADABLE, self._column, describe_file(page.path, what), page.path)

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


def _describe_same_key(key: str, first_line: int) -> RowError:
    begins = f"begins a document with the same image key, {show_text(key)}"
    message = f"Line {first_line} of this file {begins}. Keep one of the two."
    return RowError(Rejection.OPT_DUPLICATE_KEY, "image key", message)


def describe_same_document(first_line: int) -> RowError:
    """Return why a document is rejected that an earlier line names, too, maybe by another of its numbers."""
    message = (
        f"Line {first_line} of this file begins a document with the same image key, or with another number of the same "
        "document of the case. Keep one of the two."
    )
    return RowError(Rejection.OPT_DUPLICATE_KEY, "image key", message)


def _describe_line(document: ImageDocument, error: LineError) -> str:
    """Return the message, with the line at fault if it is not the first one of the document."""
    if error.line_no in (0, document.line_no):
        return error.message
    return f"Line {error.line_no}: {error.message}"


def _describe_image(page: ImagePage, image: _Image, column: str) -> ValueChange | None:
    """Return what is wrong with the image of a page, None if nothing is."""
    if not isinstance(image, VolumeFile):
        code, message = describe_path_error(page.path, image, WarningCode.IMAGE_MISSING, "image")
        return ValueChange(code, column, message, page.path)
    if image.size == 0:
        message = describe_file(page.path, "The image is empty. Ask the sender whether it should be.")
        return ValueChange(VolumeCode.FILE_EMPTY, column, message, page.path)
    return None
