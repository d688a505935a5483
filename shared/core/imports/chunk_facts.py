"""What the end of a check needs of each chunk, in one value: spellings of names, what would change, facts of rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.imports.check_updates import Updates
from core.imports.columns import facts as column_facts
from core.imports.columns.facts import ColumnFacts

CLAIM, KEPT = "claim", "kept"
_LENGTH_BYTES = 4


class Occurrence(NamedTuple):
    """A spelling of a name of a kind (custodians or tags), the lowest line that has it, and the column there."""

    kind: str
    name: str
    line_no: int
    column: str | None


class FamilyReference(NamedTuple):
    """A document that a row names as one of its family: the kind of the statement, the number, and the line.

    Of the kind CLAIM, the number is one that the row's own document claims; of the kind KEPT, the Bates number that
    the case has of it and the row does not change.
    """

    kind: str
    key: str
    line_no: int


class ChunkFacts(NamedTuple):
    """The names of a chunk, what its rows would change, and their facts as `core.checks` encodes them.

    `columns` are the facts of the columns, None if an earlier version checked the chunk; `families` are the documents
    that the rows would name.
    """

    names: Sequence[Occurrence]
    rows: bytes
    updates: Updates
    columns: ColumnFacts | None = None
    families: Sequence[FamilyReference] = ()


def pack_facts(facts: ChunkFacts) -> bytes:
    """Return the facts as bytes for `unpack_facts`."""
    columns = None if facts.columns is None else column_facts.encode_facts(facts.columns)
    members: dict[str, Any] = {"names": facts.names, "updates": facts.updates.write(), "columns": columns}
    if facts.families:
        members["families"] = facts.families
    head = json.dumps(members).encode()
    return len(head).to_bytes(_LENGTH_BYTES, "big") + head + facts.rows


def unpack_facts(packed: bytes) -> ChunkFacts:
    """Return the facts that `pack_facts` wrote."""
    end = _LENGTH_BYTES + int.from_bytes(packed[:_LENGTH_BYTES], "big")
    head = json.loads(packed[_LENGTH_BYTES:end])
    if isinstance(head, list):
        # An earlier version checked the chunk, before there were overlays.
        head = {"names": head, "updates": None}
    names = [Occurrence(*each) for each in head["names"]]
    columns = head.get("columns")
    of_columns = None if columns is None else column_facts.decode_facts(columns)
    families = [FamilyReference(*each) for each in head.get("families", ())]
    return ChunkFacts(names, packed[end:], Updates.read(head["updates"]), of_columns, families)
