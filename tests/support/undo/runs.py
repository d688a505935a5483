"""Undo imports as the queues would, and compare what a case holds before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import complete_import
import start_import
from core.caller import Caller
from core.contracts.imports.undos import Undo, UndoRequest
from core.contracts.pages import ListQuery
from core.exhibit_fields import KEYS, TEXTS
from shell.db.session import session
from shell.imports.undo.commands import undo_import
from shell.imports.undo.queries import get_undo, list_kept
from tests.support.application.driver import Message, World, call, completion_messages, request_messages
from tests.support.database.committed_state import Queried

CALLER = Caller(tenant_id="tenant", user_id="ann@example.com")
CaseDump = dict[str, list[tuple[Any, ...]]]
_DUMP = {
    "exhibits": f"""
        SELECT id, {", ".join((*KEYS, *TEXTS))}, document_date,
               date_sent, date_received, date_created, date_modified, document_date_source,
               date_precision, HEX(row_hash), import_id, line_no, line_count, document_properties
        FROM exhibits ORDER BY id""",
    "custodians": "SELECT CAST(name AS BINARY), import_id, line_no FROM custodians ORDER BY 1",
    "tags": "SELECT CAST(name AS BINARY), import_id, line_no FROM tags ORDER BY 1",
    "custodian_exhibits": """
        SELECT l.exhibit_id, CAST(c.name AS BINARY), l.user_id FROM custodian_exhibits AS l
        JOIN custodians AS c ON c.id = l.custodian_id ORDER BY 1, 2""",
    "taggings": """
        SELECT l.exhibit_id, CAST(t.name AS BINARY), l.user_id FROM taggings AS l
        JOIN tags AS t ON t.id = l.tag_id ORDER BY 1, 2""",
    "texts": """
        SELECT e.control_number, t.object_key, t.version_id, t.byte_start, t.byte_len, HEX(t.sha256), t.import_id,
               t.line_no
        FROM exhibits AS e LEFT JOIN texts AS t ON t.id = e.text_id ORDER BY 1""",
    "pages": """
        SELECT e.control_number, p.page_no, p.image_key, p.path, f.path, p.page_in_file, p.rotation, s.import_id,
               s.line_no, s.volume_id, s.page_count, s.declared_count
        FROM exhibits AS e JOIN page_sets AS s ON s.id = e.page_set_id JOIN pages AS p ON p.page_set_id = s.id
        LEFT JOIN volume_files AS f ON f.id = p.file_id ORDER BY 1, 2""",
}


def dump_documents(world: Queried) -> CaseDump:
    """Every value and link of all documents, byte for byte, and every name; no versions."""
    return {name: [tuple(row) for row in world.query(query)] for name, query in _DUMP.items()}


def request_undo(import_id: int, caller: Caller = CALLER, *, dry_run: bool = False) -> Undo:
    """Request the undo of an import."""
    with session() as transaction:
        return undo_import(transaction, caller, import_id, UndoRequest.model_validate({"dryRun": dry_run}))


def begin_undo(world: World, import_id: int, *, dry_run: bool = False) -> list[Message]:
    """Request an undo and deliver the request; return the messages of its parts."""
    request_undo(import_id, dry_run=dry_run)
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    return world.chunk_messages()


def end_undo() -> None:
    """Deliver the messages that request the end of an undo."""
    for message in completion_messages():
        assert call(complete_import.lambda_handler, message), message


def undo(world: World, import_id: int, *, dry_run: bool = False) -> Undo:
    """Undo an import to its end; return the result."""
    for message in begin_undo(world, import_id, dry_run=dry_run):
        assert world.import_chunk(message), message
    end_undo()
    return get_undo(CALLER, import_id)


def counts(undone: Undo) -> tuple[str, int, int, int, int]:
    """Status, restored, removed, kept, links that were made again."""
    return undone.status.value, undone.restored, undone.removed, undone.kept, undone.links_restored


def kept(import_id: int) -> Sequence[tuple[Any, ...]]:
    """Line, control number, code and name of all that was kept."""
    items = list_kept(CALLER, import_id, ListQuery()).items
    return [(each.line, each.control_number, each.code.value, each.name) for each in items]
