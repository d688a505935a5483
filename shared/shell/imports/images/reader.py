"""Read one chunk of an image load file: its documents, and the files of their pages.

Guaranteed: it only reads; the bytes are those that the splitting pass read, otherwise the chunk is retried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.codes import Rejection
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.documents import ImageDocument, describe_large_document
from core.image_load_file.limits import LIMITS
from core.image_load_file.page_lines import ImageFileKind, LineError
from core.load_file.layout import Layout
from core.volumes.linking import NamedFiles
from core.volumes.path_guesses import NamedPath
from shell.db.session import session
from shell.imports.chunks.chunk_source import LoadedChunk, build_miscount, read_bytes, read_part
from shell.imports.images.documents import DocumentReader, ReadDocument
from shell.imports.images.image_pages import count_images
from shell.imports.images.page_facts import select_uncounted
from shell.imports.splitting.image_split import NOT_READ
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.lookup import find_named_files


@dataclass
class ImageChunk:
    """A chunk of an image load file as it was read; the same for every attempt.

    `images` are the files of its paths, None for a load file that is not of a volume.
    """

    import_record: Imports
    chunk: ImportChunks
    layout: Layout
    documents: Sequence[ReadDocument]
    images: NamedFiles | None = None


def read_page_documents(loaded: LoadedChunk) -> ImageChunk:
    """Read the documents of the chunk in file order, and look up the files of their pages.

    Raises StorageRefusedError if the bytes are not those that the splitting pass read, StorageUnavailableError if an
    image cannot be read now.
    """
    import_record, chunk, layout, first_lines, _ = loaded
    kind = ImageFileKind(str(layout.image_format))
    documents = _list_documents(loaded, kind)
    if len(documents) != chunk.row_count:
        raise build_miscount(len(documents), chunk)
    images = _find_images(import_record, layout, documents)
    verifies = layout.files.verify_images
    named = (images if verifies else select_uncounted(documents, images)) if images else {}
    pages = count_images(import_record, named) if named else None
    reader = DocumentReader(layout, kind, images, pages if verifies else None, pages)
    read = [reader.read(document, first_lines.get(document.line_no)) for document in documents]
    return ImageChunk(import_record, chunk, layout, read, images)


def _list_documents(loaded: LoadedChunk, kind: ImageFileKind) -> list[ImageDocument]:
    """Return the documents of a chunk; of lines that were rejected by their range only the beginning is read."""
    chunk, is_whole = loaded.chunk, bytes(loaded.chunk.sha256) != NOT_READ
    # A whole number of code units of UTF-16.
    end = min(chunk.byte_end, chunk.byte_start + 2 * LIMITS.line_bytes)
    raw = read_bytes(loaded) if is_whole else read_part(loaded, chunk.byte_start, end)
    place = (chunk.first_line, chunk.byte_start, chunk.boundaries)
    found = read_image_chunk(raw, kind, loaded.layout.encoding, *place)
    return list(found) if is_whole else [_reject_range(chunk, next(found, None))]


def _reject_range(chunk: ImportChunks, first: ImageDocument | None) -> ImageDocument:
    """Return the document of rejected lines, which have the key and may have the error of the one that begins there."""
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
def _find_images(import_record: Imports, layout: Layout, documents: Iterable[ImageDocument]) -> NamedFiles | None:
    """Return the file that each path of the documents names, None for one that the volume lacks.

    Return None for a load file that is not of a volume.
    """
    if import_record.volume_id is None:
        return None
    paths = (NamedPath(page.path, page.volume) for document in documents for page in document.pages)
    with session() as reading:
        return find_named_files(reading, import_record, layout, paths)
