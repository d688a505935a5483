"""What the reconciliation of pages needs of the documents of a chunk, and which files are opened for it.

Guaranteed: it depends on the load file and the volume's files alone, and not on the case: a check and the import after
it have the same facts, also of documents that the case has already, or not yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.checks.page_facts import DocumentPages, build_runs, pack_documents
from core.image_load_file.documents import ImageDocument, has_uncounted_file
from core.image_load_file.page_lines import FileType
from core.volumes.linking import NamedFiles
from core.volumes.path_guesses import NamedPath
from shell.imports.images.documents import ReadDocument


def select_uncounted(documents: Iterable[ImageDocument], images: NamedFiles) -> NamedFiles:
    """Return the PDF files of which one line without a page count names the whole: nothing says how many pages they
    have. TIFF files are not among them, because most have one page.
    """
    pages = (document.pages[0] for document in documents if has_uncounted_file(document.pages, document.declared_count))
    named = {NamedPath(page.path, page.volume) for page in pages if _is_pdf(page.path, page.file_type)}
    return {path: images[path] for path in named if path in images}


def _is_pdf(path: str, file_type: FileType | None) -> bool:
    return file_type is FileType.PDF or path.lower().endswith(".pdf")


def pack_page_facts(documents: Sequence[ReadDocument]) -> bytes:
    """Return the facts of the documents that can be read, whatever the case has."""
    return pack_documents(_build_facts(read) for read in documents if read.error is None)


def _build_facts(read: ReadDocument) -> DocumentPages:
    document, pages = read.document, read.document.pages
    is_uncounted = has_uncounted_file(pages, document.declared_count)
    is_one_file = is_uncounted or (len(pages) > 1 and pages[0].line_no == pages[-1].line_no)
    keys = [(page.image_key, page.line_no) for page in (pages[:1] if is_one_file else pages)]
    # A file that several lines name can have pages of other documents.
    has_own_files = is_one_file or len(dict.fromkeys(read.files)) == len(pages)
    return DocumentPages(
        *(document.line_no, document.key, None if is_uncounted else len(pages)),
        *(read.counted if has_own_files else None, is_one_file),
        is_uncounted and not _is_pdf(pages[0].path, pages[0].file_type),
        build_runs(keys),
    )
