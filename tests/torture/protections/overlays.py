"""Overlays, and undos of imports, without what keeps the edits beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import text

from tests.torture.protections.switch import Switch, instead, swap, there

_ROWS, _STORE = "shell.imports.chunks.overlay_targets", "shell.exhibits.updates"


def _overlay_lock() -> None:
    """Decide from what is read without locks; an entry of the history gets the version that the exhibit has by then."""
    instead(f"{_ROWS}:lock_exhibits", read_exhibits)
    for write in ("write_entries", "write_encoded"):
        swap(f"shell.imports.chunks.overlay_writer:{write}", at_current_version)


def _undo_lock() -> None:
    """As an overlay without its locks."""
    instead("shell.imports.undo.parts:lock_exhibits", read_exhibits)
    swap("shell.imports.undo.restoring:write_entries", at_current_version)


def read_exhibits(transaction: Any, ids: Any) -> Any:
    """Do what `lock_exhibits` does, without locks."""
    if not ids:
        return {}
    listed = there("shell.db.sql_literals:format_in_list")(sorted(ids))
    found = there(f"{_STORE}:_select")(transaction, f"WHERE id IN ({listed}) ORDER BY id")
    return {exhibit.id: exhibit for exhibit in found}


def at_current_version(write: Any) -> Any:
    """Make of `write_entries` or `write_encoded` one that takes the versions that the exhibits have by then."""

    def written(transaction: Any, author: Any, entries: Any) -> None:
        current = [entry._replace(version=_read_version(transaction, entry.exhibit_id)) for entry in entries]
        write(transaction, author, current)

    return written


def _read_version(transaction: Any, exhibit_id: int) -> int:
    statement = text("SELECT version FROM exhibits WHERE id = :id")
    return int(transaction.execute(statement, {"id": exhibit_id}).scalar_one())


def _undo_apart() -> None:
    """Undo an import while others of its case run, and begin others while it is undone."""
    instead("shell.imports.undo.commands:find_running_import", lambda *_: None)
    for module in ("splitting.registration", "state.access"):
        instead(f"shell.imports.{module}:find_undo", lambda *_: None)


def _undo_comparison() -> None:
    """Restore what a value was before the import wherever it still is what the import made of it."""

    def restore(entries: Any, import_id: int, _live: object, current: Any) -> Any:
        undo = "core.imports.undo"
        changes, kept = {}, []
        for key, made in _list_made(entries, import_id).items():
            if current[key] == made.new:
                changes[key] = there("core.exhibit_history:Change")(current[key], made.old)
            elif key.name != "row_hash":
                code = there("core.codes:KeptCode").CHANGED_SINCE
                kept.append(there(f"{undo}:Kept")(code, key, entries[-1]))
        differing = {key: change for key, change in changes.items() if change.old != change.new}
        return there(f"{undo}:Restored")(differing, kept)

    instead("shell.imports.undo.restoring:restore", restore)


def _undo_statements() -> None:
    """Undo by what imports were seen to change alone, whatever else their files state."""

    def seen(restore: Any) -> Any:
        def restored(entries: Any, *rest: Any) -> Any:
            return restore([replace(entry, stated=None) for entry in entries], *rest)

        return restored

    swap("shell.imports.undo.restoring:restore", seen)


def _list_made(entries: Any, import_id: int) -> dict[Any, Any]:
    """Return the last change of the import itself, by key."""
    mine = [entry for entry in entries if entry.import_id == import_id and entry.undo_no is None]
    return {key: change for entry in mine for key, change in entry.changes.items()}


OF_OVERLAYS = {
    "overlay-lock": Switch(
        "an overlay decides from values that it reads without locks",
        "imports.chunks.overlay_targets, exhibits.updates",
        _overlay_lock,
        why="the primary key of the history, which refuses a version twice",
    ),
    "undo-lock": Switch(
        "an undo decides from histories and values that it reads without locks",
        "imports.undo.parts, exhibits.updates",
        _undo_lock,
        why="the primary key of the history, which refuses a version twice",
    ),
    "undo-apart": Switch(
        "imports of a case run while one of them is being undone",
        "exhibits.case_locks",
        _undo_apart,
    ),
    "undo-comparison": Switch(
        "an undo restores each value that is still the one of its import, whatever was done since",
        "core.imports.undo, imports.undo.restoring",
        _undo_comparison,
    ),
    "undo-statements": Switch(
        "an undo takes values and links away that the file of another import states too",
        "core.imports.history_fold, imports.undo.restoring",
        _undo_statements,
    ),
}
