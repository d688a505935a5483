"""Write a chunk of rows that was read, or check it: what its import is for."""

from __future__ import annotations

from shell.imports.chunks.checker import check_chunk
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.writer import write_chunk
from shell.outbox.writer import wake_relay


def finish_chunk(prepared: ChunkInput | str) -> str:
    """Write or check the chunk; return the status of the chunk, or that of an import that is not running any more.

    Raises ChunkBusyError while another worker holds the chunk, WorkRetriedError if the import was retried while this
    one was read, and another UnavailableError for any failure that a later delivery of the message can overcome.
    """
    if isinstance(prepared, str):
        return prepared
    result = check_chunk(prepared) if prepared.is_check else write_chunk(prepared)
    if result.has_events:
        wake_relay()
    return result.status
