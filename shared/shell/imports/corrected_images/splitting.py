"""Register the rejected documents whose rows a correction has, as the chunks of an import of its own.

Guaranteed: the chunks are ranges of the same version of the image load file, at most one of its own chunks long, with
its layout and key column; their lines are those of the file. The lines are claimed in the transaction that registers
the chunks, under the lock of the case: of several corrections of one document, one has it. A line that was taken since
it was found has the message delivered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import ImportBusyError
from core.image_load_file.chunk_boundaries import hash_chunk, pack_boundaries, unpack_boundaries
from core.image_load_file.lines import split_texts
from core.load_file.layout import Layout
from core.load_file.split_state import Chunk
from core.statuses import UNDONE_STATUSES
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.imports.corrected_images.matching import RejectedDocument, find_accepted, find_documents
from shell.imports.splitting.registration import postpone_during_undo, register_chunks
from shell.imports.splitting.split import FileWarning, Split
from shell.imports.state.claims import Claim, lock_claims, take_claims
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_RETRY_AFTER_S = 2


class _Range(NamedTuple):
    """Documents that follow each other in a chunk of the images, and the first line and boundaries of that chunk."""

    documents: Sequence[RejectedDocument]
    first_line: int
    boundaries: bytes | None


class CorrectedImages(Split):
    """The documents of a file whose rows a correction has, as the result of a splitting pass."""

    def __init__(self, images: Imports, documents: Sequence[RejectedDocument], chunks: Sequence[Chunk]) -> None:
        super().__init__(images.size)
        self._images_id, self._lines = images.id, [each.line_no for each in documents]
        self.layout, self.sha256 = Layout.from_json(images.layout or "{}"), bytes(images.sha256 or b"")
        self.chunks, self.chunk_count, self.rows_seen = list(chunks), len(chunks), len(documents)

    def list_warnings(self) -> Iterator[FileWarning]:
        """Yield nothing: what concerns the file as a whole are warnings of its first import."""
        yield from ()

    def store(self, transaction: Session, import_record: Imports) -> None:
        """Claim the lines, in place of claims that are open again. Raises ImportBusyError if one was taken since."""
        claims = lock_claims(transaction, self._images_id, self._lines)
        if claims.taken:
            raise ImportBusyError(retry_after_s=_RETRY_AFTER_S)
        taken = [Claim(line, import_record.id, line) for line in self._lines]
        take_claims(transaction, self._images_id, taken, import_record.user_id, claims.reopened)


def split_corrected_images(import_record: Imports) -> None:
    """Register an import of images of corrected documents, unless another worker has.

    Raises FileRefusedError if the image load file is gone, ImportBusyError, and StorageUnavailableError.
    """
    postpone_during_undo(import_record.id)
    with read_split(import_record) as split:
        register_chunks(import_record.id, split, import_record.user_id, import_record.generation)


def read_split(import_record: Imports) -> CorrectedImages:
    """Return the documents of an import of images of corrected documents. Raises as `split_corrected_images` does."""
    images, documents, ranges = _find(import_record)
    source = ObjectVersion(images.bucket, images.object_key, images.version_id, images.etag)
    encoding = Layout.from_json(images.layout or "{}").encoding
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        read = pool.map(partial(_build_chunk, source, encoding), ranges)
        chunks = [replace(chunk, chunk_no=number) for number, chunk in enumerate(read, start=1)]
    return CorrectedImages(images, documents, chunks)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find(import_record: Imports) -> tuple[Imports, list[RejectedDocument], list[_Range]]:
    """Return the import of the images, the documents, and the ranges that these are in; none if it is undone."""
    with session() as reading:
        images = reading.get_one(Imports, import_record.corrects_import_id)
        if images.status in UNDONE_STATUSES:
            return images, [], []
        accepted = find_accepted(reading, import_record.after_import_id or 0)
        documents = [each for each in find_documents(reading, images) if each.exhibit_id in accepted]
        numbers = {each.chunk_no for each in documents}
        return images, documents, list(_join(documents, _read_chunks(reading, images.id, numbers)))


def _read_chunks(reading: Session, import_id: int, numbers: set[int]) -> dict[int, ImportChunks]:
    statement = select(ImportChunks).where(ImportChunks.import_id == import_id, ImportChunks.chunk_no.in_(numbers))
    return {chunk.chunk_no: chunk for chunk in reading.scalars(statement)} if numbers else {}


def _join(documents: Sequence[RejectedDocument], chunks: dict[int, ImportChunks]) -> Iterator[_Range]:
    """Yield ranges of documents that follow each other in a chunk, so that a range has no more than the chunk."""
    ranges: list[list[RejectedDocument]] = []
    for document in documents:
        before = ranges[-1][-1] if ranges else None
        if before and (before.byte_end, before.chunk_no) == (document.byte_start, document.chunk_no):
            ranges[-1].append(document)
        else:
            ranges.append([document])
    for found in ranges:
        chunk = chunks[found[0].chunk_no]
        yield _Range(found, chunk.first_line, chunk.boundaries and bytes(chunk.boundaries))


def _build_chunk(source: ObjectVersion, encoding: str, found: _Range) -> Chunk:
    """Return the chunk of a range, without its number: its bytes are read for their hash and their lines."""
    first, last = found.documents[0], found.documents[-1]
    raw = source.read(first.byte_start, last.byte_end)
    last_line = first.line_no + len(split_texts(raw, encoding)[0]) - 1
    boundaries = None
    if found.boundaries is not None:
        starts = unpack_boundaries(found.boundaries, found.first_line).items()
        inside = [(line, level) for line, level in starts if first.line_no <= line <= last_line]
        boundaries = pack_boundaries(first.line_no, inside)
    place = (0, first.byte_start, last.byte_end, first.line_no, last_line, len(found.documents))
    return Chunk(*place, hash_chunk([raw], boundaries), boundaries)
