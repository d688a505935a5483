"""Which links to custodians and tags the rows of a chunk add, remove and state.

Guaranteed: links are compared as sets of texts; names are read and exhibits looked at only where a set differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy.orm import DeclarativeBase, Session

from core.errors import ConflictError
from core.exhibit_history import Change, Key, Kind
from core.imports.overlay import RowOverlay
from core.load_file.layout import Layout
from core.load_file.rows import Name
from shell.exhibits.updates import KeyedExhibit, read_names, select_links, split_link, write_link
from shell.imports.rows.coercion import StorableRow
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.named_rows import NamedRow

Link = tuple[NameKind, int, str]
_Targets = Sequence[tuple[StorableRow, KeyedExhibit]]


class LinkChanges(NamedTuple):
    """The links of one exhibit that change: the names' kinds, ids and names as stored; and those that the row states.

    Where the names of a row replace others, it states the kind as a whole.
    """

    added: tuple[Link, ...] = ()
    removed: tuple[Link, ...] = ()
    stated: frozenset[Key] = frozenset()
    whole: frozenset[Kind] = frozenset()

    def list_changes(self) -> dict[Key, Change]:
        """Return the changes as the history has them."""
        changes = {Key(Kind(kind.table), name): Change(False, True) for kind, _, name in self.added}
        return changes | {Key(Kind(kind.table), name): Change(True, False) for kind, _, name in self.removed}


NO_LINK_CHANGES = LinkChanges()


class _Named(NamedTuple):
    """Names of one kind as stored, by id, and as keys of the history."""

    names: Mapping[int, str]
    keys: frozenset[Key]


class ChunkLinks:
    """The links of one attempt at one chunk; `found_names` are the names that exist, by model and spelling."""

    def __init__(
        self, layout: Layout, overlay: RowOverlay, found_names: Mapping[type[DeclarativeBase], Mapping[str, NamedRow]]
    ) -> None:
        self._layout, self._overlay, self._found_names = layout, overlay, found_names

    def find(self, transaction: Session, targets: _Targets) -> dict[int, LinkChanges]:
        """Return the changes of each exhibit whose row may change or state links, by id; two statements.

        Raises ConflictError for a name that was not found.
        """
        found: dict[int, LinkChanges] = {}
        for kind in NAME_KINDS:
            named = self._name_targets(kind, targets)
            added, removed = self._compare(transaction, kind, named)
            whole = frozenset([Kind(kind.table)]) if self._overlay.replaces_names else None
            for exhibit_id, (_, keys) in named.items():
                before, new = found.get(exhibit_id, NO_LINK_CHANGES), tuple(added.get(exhibit_id, ()))
                gone = tuple(removed.get(exhibit_id, ()))
                if whole is None and new:
                    keys = keys.difference(Key(Kind(kind.table), name) for _, _, name in new)
                stated = before.stated if whole else before.stated | keys
                changes = (before.added + new, before.removed + gone)
                found[exhibit_id] = LinkChanges(*changes, stated, before.whole | whole if whole else before.whole)
        return found

    def _compare(
        self, transaction: Session, kind: NameKind, named: Mapping[int, _Named]
    ) -> tuple[dict[int, list[Link]], dict[int, list[Link]]]:
        """Return what is missing of the named links, and what replacing takes away, by exhibit."""
        added: dict[int, list[Link]] = {}
        removed: dict[int, list[Link]] = {}
        if not named:
            return added, removed
        expected = {
            write_link(exhibit_id, name_id): (exhibit_id, name_id, name)
            for exhibit_id, (names, _) in named.items()
            for name_id, name in names.items()
        }
        stored = set(select_links(transaction, kind, named))
        for link, (exhibit_id, name_id, name) in expected.items():
            if link not in stored:
                added.setdefault(exhibit_id, []).append((kind, name_id, name))
        gone = sorted(stored - expected.keys()) if self._overlay.replaces_names else []
        pairs = list(map(split_link, gone))
        by_id = read_names(transaction, kind, {name_id for _, name_id in pairs})
        for exhibit_id, name_id in pairs:
            # Without locks on the exhibits, a link and its name can be deleted meanwhile.
            if name_id in by_id:
                removed.setdefault(exhibit_id, []).append((kind, name_id, by_id[name_id]))
        return added, removed

    def _name_targets(self, kind: NameKind, targets: _Targets) -> dict[int, _Named]:
        """Return the names of the rows that can change links, by exhibit.

        Such a row has names, or blanks clear what the file has a column for.
        """
        clears = self._overlay.clears and self._overlay.replaces_names and kind.table in self._layout.fields
        # Many rows have the same names.
        known: dict[tuple[Name, ...], _Named] = {}
        named: dict[int, _Named] = {}
        for row, exhibit in targets:
            names = tuple(row.get_names(kind))
            if names or clears:
                found = known.get(names) or known.setdefault(names, self._find_names(kind, names))
                named[exhibit.id] = found
        return named

    def _find_names(self, kind: NameKind, names: Sequence[Name]) -> _Named:
        """Return names as stored."""
        found = self._found_names[kind.model]
        try:
            by_id = {each.id: each.name for each in (found[name.name] for name in names)}
        except KeyError as error:
            raise ConflictError("A name changed while the chunk was prepared; the chunk is imported again.") from error
        return _Named(by_id, frozenset(Key(Kind(kind.table), each) for each in by_id.values()))
