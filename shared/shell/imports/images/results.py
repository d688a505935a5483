"""The results of a chunk of an image load file: rejections, warnings and counts, or the findings of a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from core.events import Event, rows_changed
from core.load_file.encoding import replace_surrogates
from core.load_file.rows import RowError, ValueChange
from core.statuses import ChunkStatus
from core.volumes.documents import NamedDocument
from core.volumes.path_guesses import NamedPath
from core.volumes.path_tally import PathTally
from shell.imports.chunks.results import MAX_COLUMN_CHARACTERS, MAX_MESSAGE_CHARACTERS, MAX_ORIGINAL_BYTES
from shell.imports.images.decisions import ImageResults, describe_key
from shell.imports.images.documents import ReadDocument
from shell.imports.images.reader import ImageChunk
from shell.imports.state.findings import FindingRow, build_finding
from shell.imports.state.progress import ChunkOutcome, Counts, RejectionRow, WarningRow

# What accepted documents count, and what they count in addition if their images are verified.
_COUNTED = ("documents", "pages", "missing_images", "declared", "listed")
_HASH_DIGITS = 32
_VERIFIED = (*_COUNTED, "in_files", "unreadable_images")


def build_rejections(images: ImageChunk, results: ImageResults) -> Iterator[RejectionRow]:
    """Yield a row for each rejected document, whose bytes are all of its lines."""
    for read, error in results.rejected:
        document = read.document
        yield RejectionRow(
            *(images.import_record.id, document.line_no, 0, images.chunk.chunk_no, error.column, error.code.value),
            *(error.message[:MAX_MESSAGE_CHARACTERS], _clean(document.key), document.byte_start, document.byte_len),
        )


def build_warnings(images: ImageChunk, results: ImageResults) -> Iterator[WarningRow]:
    """Yield a row for each warning about documents that have their pages."""
    for line_no, seq, change, key in _list_warnings(results):
        where = (images.import_record.id, line_no, seq, images.chunk.chunk_no, change.column, change.code.value)
        original = None if change.original is None else change.original.encode("utf-8", "surrogatepass")
        kept = original if original is not None and len(original) <= MAX_ORIGINAL_BYTES else None
        size = None if original is None else len(original)
        yield WarningRow(*where, change.message[:MAX_MESSAGE_CHARACTERS], key, kept, size)


def build_findings(images: ImageChunk, results: ImageResults) -> Iterator[FindingRow]:
    """Yield what an import would reject, and warn of."""
    import_id = images.import_record.id
    for read, error in results.rejected:
        yield _build_finding(import_id, read.document.line_no, 0, error, _clean(read.document.key))
    for line_no, seq, change, key in _list_warnings(results):
        yield _build_finding(import_id, line_no, seq, change, key)


def _build_finding(import_id: int, line_no: int, seq: int, found: RowError | ValueChange, key: str) -> FindingRow:
    place = (import_id, found.code.value, line_no, seq, found.message)
    return build_finding(*place, column=found.column, control_number=key)


def _list_warnings(results: ImageResults) -> Iterator[tuple[int, int, ValueChange, str]]:
    for target in results.list_accepted():
        key, seqs = describe_key(target), Counter[int]()
        line = target.read.document.line_no
        replaced = [(line, results.replaced[line])] if line in results.replaced else []
        for line_no, change in (*target.read.warnings, *replaced):
            yield line_no, seqs[line_no], change, key
            seqs[line_no] += 1


def count_pages(images: ImageChunk, results: ImageResults) -> dict[str, int]:
    """Return what the chunk has: lines and documents, pages that were imported, lines that were rejected.

    `missing_images` are the pages of accepted documents whose image the volume lacks. Of these documents, `declared`
    are the pages by their page counts, `listed` by their lines, and `in_files` by their images if these were counted.
    """
    totals = Counter(dict.fromkeys(_VERIFIED if images.layout.files.verify_images else _COUNTED, 0))
    for result, target in results.list_results():
        totals.update(_count_document(images, result, target.read))
    return {
        "lines": sum(_count_lines(read) for read in images.documents),
        "lines_rejected": sum(_count_lines(read) for read, _ in results.rejected),
        **totals,
    }


def _count_document(images: ImageChunk, result: str, read: ReadDocument) -> dict[str, int]:
    """Return what an accepted document adds to the counts."""
    pages = len(read.document.pages)
    new = 0 if result == "unchanged" else pages
    counts = (1, new, read.missing, read.document.declared_count or 0, pages, read.frames, read.unreadable)
    return dict(zip(_VERIFIED if images.layout.files.verify_images else _COUNTED, counts, strict=False))


def list_documents(images: ImageChunk, results: ImageResults) -> Iterator[NamedDocument]:
    """Yield the accepted documents by their image keys, with what each of them counts."""
    for result, (read, exhibit) in results.list_results():
        counts = {result: 1, "lines": _count_lines(read), **_count_document(images, result, read)}
        document = read.document
        place = (document.line_no, exhibit.id if exhibit else 0, document.key)
        yield NamedDocument(*place, counts=counts, numbers=[read.content_hash.hex()[:_HASH_DIGITS]])


def tally_paths(images: ImageChunk, results: ImageResults) -> PathTally:
    """Return how the paths of the accepted documents were found; a path that several pages name counts for each."""
    tally = PathTally()
    for target in results.list_accepted() if images.images is not None else ():
        for page in target.read.document.pages:
            named = (images.images or {})[NamedPath(page.path, page.volume)]
            tally.add("image", page.line_no, page.path, named)
    return tally


def _count_lines(read: ReadDocument) -> int:
    """Return the lines of the document's pages; of one that is rejected, all of its lines."""
    lines = {page.line_no for page in read.document.pages}
    return len(lines) or read.document.line_count


def build_outcome(images: ImageChunk, results: ImageResults, warnings: int, *, with_events: bool) -> ChunkOutcome:
    """Return the outcome of the chunk, whose rows are documents."""
    counts = Counts(
        *(len(results.imported), len(results.unchanged), len(results.updated)),
        *(len(results.rejected), warnings),
    )
    return ChunkOutcome(ChunkStatus.DONE, counts, list(_build_events(images, results)) if with_events else ())


def _build_events(images: ImageChunk, results: ImageResults) -> Iterator[Event]:
    """Yield one event per warning code; it has counts, and no content."""
    lines: dict[str, list[int]] = {}
    changes: dict[str, ValueChange] = {}
    for line_no, _, change, _ in _list_warnings(results):
        lines.setdefault(change.code.value, []).append(line_no)
        changes.setdefault(change.code.value, change)
    record, chunk_no = images.import_record, images.chunk.chunk_no
    for name, change in sorted(changes.items()):
        yield rows_changed(record.id, record.tenant_id, chunk_no, change.code, len(lines[name]), min(lines[name]))


def _clean(text: str) -> str:
    return replace_surrogates(text[:MAX_COLUMN_CHARACTERS])
