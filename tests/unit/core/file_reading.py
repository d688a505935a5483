"""Going over a file as the importer does, for tests: opening, splitter fed in blocks, chunks read one by one.

And sample files whose truth is beyond argument, because they show their dialect or come with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from core.load_file.chunk_reader import read_chunk
from core.load_file.dialect import Opening, read_opening
from core.load_file.layout import Layout
from core.load_file.options import parse_options
from core.load_file.record_reader import SourceRecord
from core.load_file.split_state import Chunk, SplitState
from core.load_file.splitter import Splitter
from samples.dialects import PIPE_QUOTE, Quoting
from samples.generator import Generated, generate
from samples.spec import Spec
from samples.strategies import specs


@dataclass(frozen=True)
class Reading:
    """What came out of one pass over a file."""

    data: bytes
    opening: Opening
    layout: Layout
    chunks: list[Chunk]
    splitter: Splitter

    @property
    def chunk_bytes(self) -> list[bytes]:
        """The bytes of every chunk."""
        return [self.data[chunk.byte_start : chunk.byte_end] for chunk in self.chunks]

    @property
    def records(self) -> list[SourceRecord]:
        """The records of all chunks, each chunk read on its own."""
        return [
            record
            for chunk, raw in zip(self.chunks, self.chunk_bytes, strict=True)
            for record in read_chunk(raw, self.layout, chunk.first_line, chunk.byte_start)
        ]

    @property
    def cells(self) -> list[list[str] | None]:
        """The cells of all records."""
        return [record.cells for record in self.records]

    def records_at_once(self) -> list[SourceRecord]:
        """The records of the whole body, read as if it were one chunk."""
        body = self.data[self.layout.body_start :]
        return list(read_chunk(body, self.layout, self.layout.body_line, self.layout.body_start))


def read_file(
    data: bytes,
    options: dict[str, Any] | None = None,
    *,
    chunk_rows: int = 1000,
    cuts: Iterable[int] = (),
    stops: bool = False,
) -> Reading:
    """Split a file that is fed in the blocks between the cuts, and complete its layout.

    With `stops`, another splitter goes on after every block where the state can be exported.
    """
    given = parse_options(options or {})
    opening = read_opening(data, given, whole=True)
    splitter, chunks = feed_all(lambda: Splitter(opening, chunk_rows), data, blocks_between(data, cuts), stops)
    return Reading(data, opening, splitter.build_layout(given), chunks, splitter)


def feed_all(
    make: Callable[[], Splitter], data: bytes, blocks: Iterable[bytes], stops: bool
) -> tuple[Splitter, list[Chunk]]:
    """Feed the blocks to a splitter, or to one for each block if it `stops`; return the last one and the chunks."""
    splitter = make()
    chunks: list[Chunk] = []
    for block in blocks:
        chunks += splitter.feed(block)
        splitter = resume_elsewhere(make(), splitter, data) if stops else splitter
    return splitter, [*chunks, *splitter.finish()]


def resume_elsewhere(fresh: Splitter, splitter: Splitter, data: bytes) -> Splitter:
    """Return a splitter that goes on where this one is, from its stored state; the same one if it has none now."""
    exported = splitter.export_state()
    if exported is None:
        return splitter
    state = SplitState.from_dict(json.loads(json.dumps(exported.to_dict())))
    fresh.resume(state, lambda start, end: data[start:end], lambda: [data[: state.bytes_read]])
    fresh.ids = splitter.ids
    return fresh


def blocks_between(data: bytes, cuts: Iterable[int]) -> Iterator[bytes]:
    """The data in pieces, cut at the positions."""
    places = [0, *sorted(cut for cut in cuts if 0 < cut < len(data)), len(data)]
    return (data[start:end] for start, end in pairwise(places))


def every(size: int, data: bytes) -> range:
    """Cuts that make blocks of one size."""
    return range(size, len(data), size)


def clear_files() -> st.SearchStrategy[Generated]:
    """Files of all dialects, encodings and faults."""
    return specs().map(lambda spec: generate(_with_its_dialect(spec)))


def _with_its_dialect(spec: Spec) -> Spec:
    """The spec, with its dialect in the options where a few rows cannot show it."""
    hidden = spec.dialect is PIPE_QUOTE and spec.quoting is Quoting.MINIMAL
    return replace(spec, explicit_dialect=spec.explicit_dialect or hidden or not spec.header)
