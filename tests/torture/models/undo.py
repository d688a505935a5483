"""What the undo of an import does to one document, by the rule of docs/load-files.md: as if the import had never been.

Nothing of the application is imported here. The values without the import are those of the creating row with all that
counts, in its order: what users set, and what rows of imports that are not undone set or state.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tests.torture.models.fold import (
    CUSTODIAN,
    FIELD,
    PAGES,
    PROPERTY,
    ROW_HASH,
    TAG,
    Document,
    Key,
    Value,
    Write,
    compare,
    default,
    fold,
)
from tests.torture.models.stored_documents import Entry


@dataclass(frozen=True)
class TakenBack:
    """What an undo changes, and what it keeps: codes with the key, or with None for the whole document."""

    changes: Mapping[Key, tuple[Value, Value]] = field(default_factory=dict)
    kept: frozenset[tuple[str, Key | None]] = frozenset()


def apply(document: Document, entry: Entry) -> dict[Key, Value]:
    """Return the document after the entry."""
    return Write(entry.import_id, {key: new for key, (_, new) in entry.changes.items()}).apply(document)


def counts(entry: Entry, undone: Collection[int]) -> bool:
    """Return whether the entry counts although these imports are undone."""
    return entry.undo_no is None and entry.import_id not in undone


def take_back(created: Document, entries: Sequence[Entry], import_id: int, undone: Collection[int]) -> TakenBack:
    """Undo an import that has overlaid the document; `created` is what the creating row made, `entries` came since."""
    known = {key for each in entries for key in each.changes} - {ROW_HASH}
    mine = [each for each in entries if each.import_id == import_id and not each.undo_no]
    if not mine:
        # An undo looks at no document that the import has not written to, also if its hash could come back.
        return TakenBack()
    last = {key: each.version for each in mine for key in known if key in each.changes or each.states(key)}
    now, writes, since = dict(created), list[Write](), dict[Key, bool]()
    for each in entries:
        now = apply(now, each)
        if counts(each, undone):
            writes.append(each.describe_write(now))
            # The last of them decides whether the value was set or only stated.
            since |= {
                key: key in each.changes for key in known if each.version > last.get(key, 0) and _names(each, key)
            }
    without = fold(created, writes)
    changes = {key: pair for key, pair in compare(now, without).items() if key in last.keys() - since.keys()}
    restored = {key for each in entries if each.import_id == import_id and each.undo_no for key in each.changes}
    changed = {key for each in mine for key in each.changes}
    kept = frozenset(("CHANGED_SINCE", key) for key, is_set in since.items() if is_set and key in changed - restored)
    return TakenBack(changes | _restore_hash(created, entries, now, changes), kept)


def _names(entry: Entry, key: Key) -> bool:
    return key in entry.changes or entry.states(key)


def _restore_hash(
    created: Document, entries: Sequence[Entry], now: Document, changes: Mapping[Key, tuple[Value, Value]]
) -> dict[Key, tuple[Value, Value]]:
    """The hash is that of the creating row if all of its values are there again, whatever the links are, else None."""
    if not any(ROW_HASH in each.changes for each in entries):
        return {}
    after = {**now, **{key: new for key, (_, new) in changes.items()}}
    named = {key for each in entries for key in each.changes if key[0] in (FIELD, PROPERTY)}
    values = named - {ROW_HASH, PAGES}
    is_first = all(after.get(key, default(key)) == created.get(key, default(key)) for key in values)
    row_hash = created.get(ROW_HASH) if is_first else None
    return {} if row_hash == now.get(ROW_HASH) else {ROW_HASH: (now.get(ROW_HASH), row_hash)}


def find_reason_to_stay(entries: Sequence[Entry], undone: Collection[int]) -> str | None:
    """Return why a document stays when the import that created it is undone; None if it is removed."""
    actions = {each.action for each in entries if counts(each, undone)}
    if not actions:
        return None
    return "TAGGED_SINCE" if actions == {"tagged"} else "CHANGED_SINCE"


def count_links_made(entry: Entry) -> int:
    """Return how many links the entry makes."""
    return sum(key[0] in (CUSTODIAN, TAG) and new is True for key, (_, new) in entry.changes.items())
