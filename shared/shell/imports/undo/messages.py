"""The messages of an undo, which travel in the queues of imports."""

from __future__ import annotations

from typing import Any

from shell.tables.undos import ImportUndos

UNDO, COMPLETE_UNDO = "undo", "complete_undo"


def build_request(undo: ImportUndos, **more: object) -> dict[str, object]:
    """Return the message that has an undo begun or resumed."""
    return {**_name(undo), "task": UNDO, **more}


def build_completion(undo: ImportUndos) -> dict[str, object]:
    """Return the message that requests the end of an undo."""
    return {**_name(undo), "task": COMPLETE_UNDO, "redrive": 0}


def build_part(undo: ImportUndos, chunk_no: int) -> dict[str, object]:
    """Return the message that has a part of an undo done."""
    return {**_name(undo), "chunk_no": chunk_no, "redrive": 0}


def _name(undo: ImportUndos) -> dict[str, object]:
    """Return the members that identify the undo and its retry."""
    return {"import_id": undo.import_id, "undo_no": undo.undo_no, "generation": undo.generation}


def is_undo(message: dict[str, Any]) -> bool:
    """Return whether the message is about an undo or a part of one."""
    return "undo_no" in message
