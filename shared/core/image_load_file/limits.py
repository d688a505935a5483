"""How much of an image load file is one chunk, one document and one line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The most documents, pages, lines and bytes of a chunk, pages and bytes of a document, and bytes of a line.

    A document over the limits of a chunk is a chunk of its own; one over its own limits, or with a line over the limit,
    is rejected.
    """

    chunk_documents: int = 1_000
    # A line can declare many pages of its file.
    chunk_pages: int = 20_000
    chunk_lines: int = 5_000
    chunk_bytes: int = 4_000_000
    document_pages: int = 100_000
    document_bytes: int = 16_000_000
    line_bytes: int = 65_536


LIMITS = Limits()
