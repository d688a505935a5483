"""Find the custodians and tags that histories name, and add those that a restored link needs.

Guaranteed: names that the column's collation takes for one are one, in the spelling that is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy.orm import DeclarativeBase, Session

from core.errors import ConflictError
from core.exhibit_history import Entry, Key
from core.imports.undo import list_link_names
from shell.imports.undo.context import UndoContext
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.named_rows import NamedRow, add_named, find_named

KINDS: Mapping[str, NameKind] = {kind.table: kind for kind in NAME_KINDS}
FoundNames = dict[Key, NamedRow]


def find_names(reading: Session, context: UndoContext, entries: Iterable[Entry]) -> FoundNames:
    """Return the names of all links in the entries that the case has, by the key of the link."""
    keys = {key for entry in entries for key in list_link_names([entry])}
    return _find(reading, context.import_record.case_id, keys) if keys else {}


def add_names(transaction: Session, context: UndoContext, lines: Mapping[Key, int]) -> FoundNames:
    """Add names that the case does not have any more, as this import's, so that the end of an undo can drop them."""
    case_id, import_id = context.import_record.case_id, context.import_record.id
    for kind in NAME_KINDS:
        missing = {key.name: line for key, line in lines.items() if key.kind == kind.table}
        if missing:
            add_named(transaction, kind.model, case_id, import_id, missing)
    found = _find(transaction, case_id, lines)
    if len(found) < len(lines):
        raise ConflictError("A custodian or tag was deleted while a link to it was restored.")
    return found


def _find(reading: Session, case_id: int, keys: Iterable[Key]) -> FoundNames:
    names: dict[type[DeclarativeBase], list[str]] = {kind.model: [] for kind in NAME_KINDS}
    requested = {key: KINDS[key.kind.value].model for key in keys}
    for key, model in requested.items():
        names[model].append(key.name)
    found = find_named(reading, case_id, names)
    return {key: found[model][key.name] for key, model in requested.items() if key.name in found[model]}
