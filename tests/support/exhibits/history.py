"""What the history of exhibits says, by control number, and whether it is complete."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from core.exhibit_history import decode_changes, describe_changes
from tests.support.database.committed_state import Queried

_ENTRIES = """
    SELECT e.control_number, h.version, h.action, h.user_id, h.import_id IS NOT NULL, h.line_no, h.changes
    FROM exhibit_changes AS h JOIN exhibits AS e ON e.id = h.exhibit_id ORDER BY e.control_number, h.version
"""
# Versions that no row of history explains, and rows of history that no version explains.
_GAPS = """
    SELECT e.control_number FROM exhibits AS e
    WHERE (SELECT COUNT(*) FROM exhibit_changes AS h WHERE h.exhibit_id = e.id) + 1 <> e.version
      OR (SELECT COALESCE(MAX(version), 1) FROM exhibit_changes AS h WHERE h.exhibit_id = e.id) <> e.version
"""


def read_history(world: Queried) -> list[tuple[Any, ...]]:
    """Control number, version, action, user, whether an import did it, line, and changes, of every entry.

    Names are in lower case: which of several spellings an entry has depends on what was done before.
    """
    return [(*row[:6], _spell_alike(row[6])) for row in world.query(_ENTRIES)]


def _spell_alike(stored: bytes) -> str:
    document: dict[str, Any] = describe_changes(decode_changes(stored))
    for kind in ("custodians", "tags"):
        if kind in document:
            document[kind] = {name.lower(): each for name, each in document[kind].items()}
    return json.dumps(document, sort_keys=True)


def find_gaps(world: Queried) -> Sequence[str]:
    """The exhibits whose version is not 1 and the number of their entries."""
    return [row[0] for row in world.query(_GAPS)]
