"""What the undo of an import does to one document, by the rule of docs/load-files.md: as if the import had never been.

Nothing of the application is imported here. The values without the import are those of the creating row with every
change that counts, in their order: those of users, and of imports that are not undone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tests.torture.overlay_case import Entry
from tests.torture.overlay_model import CUSTODIAN, FIELD, ROW_HASH, TAG, Document, Key, Value, compare, default


@dataclass(frozen=True)
class TakenBack:
    """What an undo changes, and what it keeps: codes with the key, or with None for the whole document."""

    changes: Mapping[Key, tuple[Value, Value]] = field(default_factory=dict)
    kept: frozenset[tuple[str, Key | None]] = frozenset()


def apply(document: Document, entry: Entry) -> dict[Key, Value]:
    """Return the document after the entry."""
    after = {key: new for key, (_, new) in entry.changes.items() if new != default(key) or key[0] == FIELD}
    return {key: value for key, value in document.items() if key not in entry.changes} | after


def counts(entry: Entry, undone: Collection[int]) -> bool:
    """Return whether the entry counts although these imports are undone."""
    return entry.undo_no is None and entry.import_id not in undone


def take_back(created: Document, entries: Sequence[Entry], import_id: int, undone: Collection[int]) -> TakenBack:
    """Undo an import that has overlaid the document; `created` is what the creating row made, `entries` came since."""
    last = {
        key: each.version
        for each in entries
        if each.import_id == import_id and not each.undo_no
        for key in each.changes
    }
    now, without, since = dict(created), dict(created), set[Key]()
    for each in entries:
        now = apply(now, each)
        if counts(each, undone):
            without = apply(without, each)
            since |= {key for key in each.changes if each.version > last.get(key, 0)}
    changes = {key: pair for key, pair in compare(now, without).items() if key in last.keys() - since}
    restored = {key for each in entries if each.import_id == import_id and each.undo_no for key in each.changes}
    kept = frozenset(("CHANGED_SINCE", key) for key in (last.keys() & since) - restored if key != ROW_HASH)
    return TakenBack(changes, kept)


def find_reason_to_stay(entries: Sequence[Entry], undone: Collection[int]) -> str | None:
    """Return why a document stays when the import that created it is undone; None if it is removed."""
    actions = {each.action for each in entries if counts(each, undone)}
    if not actions:
        return None
    return "TAGGED_SINCE" if actions == {"tagged"} else "CHANGED_SINCE"


def count_links_made(entry: Entry) -> int:
    """Return how many links the entry makes."""
    return sum(key[0] in (CUSTODIAN, TAG) and new is True for key, (_, new) in entry.changes.items())
