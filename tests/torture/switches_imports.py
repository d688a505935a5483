"""Imports without what makes each row come in exactly once."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from typing import Any

from sqlalchemy import text

from tests.torture.switching import OR_NO_END, Switch, instead, reword, swap, there

_IF_RUNNING = " AND status = 'running'"


def _chunk_row() -> None:
    swap("shell.chunk_ops:_load", lambda load: lambda *place: _with_chunk(load(*place)))
    instead("shell.chunk_ops:_lock", lambda *_: "pending")
    instead("shell.chunk_ops:_WAIT_FOR_CHUNK", text("SELECT 'pending'"))


def _with_chunk(found: Any) -> Any:
    if found is not None:
        found[1].status = "pending"
    return found


def _chunk_transaction() -> None:
    def committing(write: Any) -> Any:
        def written(self: Any, transaction: Any) -> Any:
            counts = write(self, transaction)
            transaction.commit()
            return counts

        return written

    swap("shell.chunk_writing_ops:ChunkWriter.write", committing)


def _chunk_countdown() -> None:
    """As `chunks_left -= 1` does with what was read: the value stays in a variable of the connection meanwhile."""

    def reading_first(lock: Any) -> Any:
        def locked(transaction: Any, import_id: int, *place: Any) -> Any:
            transaction.execute(text("SELECT chunks_left INTO @left FROM imports WHERE id = :id"), {"id": import_id})
            return lock(transaction, import_id, *place)

        return locked

    swap("shell.chunk_ops:_lock", reading_first)
    swap("shell.failed_chunk_ops:_locked", reading_first)
    reword("shell.completion_ops:_COUNT_DOWN", "= chunks_left - 1", "= @left - 1")


def _cancel_check() -> None:
    swap("shell.chunk_ops:_load", lambda load: lambda *place: _with_import(load(*place)))
    reword("shell.completion_ops:_COUNT_DOWN", _IF_RUNNING, "")


def _with_import(found: Any) -> Any:
    if found is not None and found[0].status == "cancelled":
        found[0].status = "running"
    return found


def _upload_key() -> None:
    instead("core.uploads:Upload.upload_key", property(lambda _: secrets.token_bytes(32)))


def _register_once() -> None:
    insert_missing = there("shell.utils.bulk_insert:insert_missing")
    reword("shell.registering_ops:_REGISTER", " AND status = 'splitting'", "")
    instead("shell.registering_ops:insert_new", lambda *given: insert_missing(*given, key=2))
    instead("shell.import_ops:only_splitter", lambda *_: nullcontext())


def _chunks_resent() -> None:
    def start_import(upload: Any) -> int:
        import_id = int(there("shell.import_ops:import_of")(upload))
        if there("shell.import_ops:current_import")(import_id).status == "splitting":
            there("shell.import_ops:resume_import")(import_id)
        return import_id

    instead("shell.import_ops:start_import", start_import)


def _failures_reported() -> None:
    def acknowledging(sqs_handler: Any) -> Any:
        def handler(work: Any, *given: Any, **named: Any) -> Any:
            return sqs_handler(lambda message: _quietly(work, message), *given, **named)

        return handler

    swap("shell.invocation:sqs_handler", acknowledging)


def _quietly(work: Any, message: Any) -> None:
    try:
        work(message)
    except Exception as error:
        there("shell.invocation:log_failure")(error)


OF_IMPORTS = {
    "chunk-row": Switch(
        "a chunk's row is neither locked nor looked at, before it is written or after a lost COMMIT",
        "chunk_ops",
        _chunk_row,
    ),
    "chunk-transaction": Switch(
        "a chunk's rows commit before its status does", "chunk_ops, chunk_writing_ops", _chunk_transaction
    ),
    "chunk-countdown": Switch(
        "chunks_left is counted down by reading it first and writing it later",
        "completion_ops",
        _chunk_countdown,
        shows_as=OR_NO_END,
    ),
    "cancel-check": Switch("chunks go on after their import was cancelled", "completion_ops, chunk_ops", _cancel_check),
    "upload-key": Switch(
        "the same upload is a new one each time its event comes", "uploads, adopting_ops", _upload_key
    ),
    "register-once": Switch(
        "whoever splits a file registers its chunks, also behind another one",
        "registering_ops",
        _register_once,
        why="the semaphore, which saves work, and the refusal of a chunk's row that is there",
    ),
    "chunks-resent": Switch(
        "an event of an upload that is known does nothing", "import_ops", _chunks_resent, shows_as=OR_NO_END
    ),
    "failures-reported": Switch(
        "a message whose work failed is acknowledged", "invocation", _failures_reported, shows_as=OR_NO_END
    ),
    "control-numbers-unique": Switch(
        "a case may hold a control number twice",
        "exhibit_ops, tables/exhibits",
        keys=("exhibits.uq_exhibits_control_number",),
    ),
    "cases-unique": Switch(
        "cases of one name may be several", "case_ops, tables/cases", keys=("cases.uq_cases_tenant_name",)
    ),
    "names-unique": Switch(
        "custodians and tags of one name may be several",
        "named_rows, tables/names",
        keys=("custodians.uq_custodians_name", "tags.uq_tags_name"),
    ),
}
