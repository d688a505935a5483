"""What the end of a check needs of each chunk: the spellings of names, and the facts of the rows, in one value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

_LENGTH_BYTES = 4


class Occurrence(NamedTuple):
    """A spelling of a name of a kind (custodians or tags), the lowest line that has it, and the column there."""

    kind: str
    name: str
    line_no: int
    column: str | None


class ChunkFacts(NamedTuple):
    """The names of a chunk, and the facts of its rows as `core.checks` encodes them."""

    names: Sequence[Occurrence]
    rows: bytes


def pack_facts(facts: ChunkFacts) -> bytes:
    """Return the facts as bytes for `unpack_facts`."""
    names = json.dumps(facts.names).encode()
    return len(names).to_bytes(_LENGTH_BYTES, "big") + names + facts.rows


def unpack_facts(packed: bytes) -> ChunkFacts:
    """Return the facts that `pack_facts` wrote."""
    end = _LENGTH_BYTES + int.from_bytes(packed[:_LENGTH_BYTES], "big")
    return ChunkFacts([Occurrence(*each) for each in json.loads(packed[_LENGTH_BYTES:end])], packed[end:])
