"""Imports without what makes each row come in exactly once."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from functools import partial
from typing import Any

from sqlalchemy import text

from tests.torture.protections.switch import OR_NO_END, Switch, instead, reword, swap, take_any, there

_PROGRESS, _IF_ACTIVE = "shell.imports.state.progress", " AND status = :status"


def _chunk_row() -> None:
    swap("shell.imports.chunks.chunk_source:_load", lambda load: lambda *place: _with_chunk(load(*place)))
    take_any(f"{_PROGRESS}:CHUNKS")


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

    swap("shell.imports.chunks.writer:ChunkWriter.write", committing)


def _chunk_countdown() -> None:
    """As `chunks_left -= 1` does with what was read: the value stays in a variable of the connection meanwhile."""

    def reading_first(lock: Any) -> Any:
        def locked(transaction: Any, import_id: int, *place: Any) -> Any:
            transaction.execute(text("SELECT chunks_left INTO @left FROM imports WHERE id = :id"), {"id": import_id})
            return lock(transaction, import_id, *place)

        return locked

    swap(f"{_PROGRESS}:CHUNKS.lock", reading_first)
    reword(f"{_PROGRESS}:CHUNKS.count_down", "= chunks_left - 1", "= @left - 1")


def _completion_request() -> None:
    """The message goes once the chunk has committed, as an event's wake does."""
    late: list[Any] = []
    send = there(f"{_PROGRESS}:send_messages")
    instead(f"{_PROGRESS}:send_messages", lambda *given, **named: late.append(partial(send, *given, **named)))

    def sending(write: Any) -> Any:
        def written(*given: Any) -> Any:
            late.clear()
            result = write(*given)
            for each in late:
                each()
            return result

        return written

    for name in (
        "chunks.write_or_check:write_chunk",
        "chunks.write_or_check:check_chunk",
        "twins.writer:complete_by_twin",
    ):
        swap(f"shell.imports.{name}", sending)
    swap("shell.imports.images.writer:write_images", sending)
    swap("shell.imports.chunks.failed_chunks:_fail_chunk", sending)


def _completion_check() -> None:
    for module in ("completing.completion", "state.completion_lock"):
        instead(f"shell.imports.{module}:check_completing", lambda *_: None)


def _cancel_check() -> None:
    swap("shell.imports.chunks.chunk_source:_load", lambda load: lambda *place: _with_import(load(*place)))
    reword(f"{_PROGRESS}:CHUNKS.count_down", _IF_ACTIVE, "")


def _with_import(found: Any) -> Any:
    if found is not None and found[0].status == "cancelled":
        found[0].status = "running"
    return found


def _upload_key() -> None:
    instead("core.imports.uploads:Upload.upload_key", property(lambda _: secrets.token_bytes(32)))


def _register_once() -> None:
    insert_missing = there("shell.db.bulk_insert:insert_missing")
    fence = " AND status = 'splitting' AND generation = :generation AND split_checkpoint <=> :checkpoint"
    for place in ("registration:_REGISTER", "checkpoint_store:_ADVANCE"):
        reword(f"shell.imports.splitting.{place}", fence, "")
    instead("shell.imports.splitting.registration:insert_new", lambda *given: insert_missing(*given, key=2))
    instead("shell.imports.start:split_lock", lambda *_: nullcontext())


def _chunks_resent() -> None:
    def start_import(upload: Any) -> int | None:
        import_id: int | None = there("shell.imports.start:get_or_create_import")(upload)
        if import_id is None:
            there("shell.imports.start:delete_version")(upload.bucket, upload.key, upload.version_id)
        elif there("shell.imports.start:load_current_import")(import_id).status == "splitting":
            there("shell.imports.start:resume_import")(import_id)
        return import_id

    instead("shell.imports.start:start_import", start_import)


def _failures_reported() -> None:
    def acknowledging(sqs_handler: Any) -> Any:
        def handler(work: Any, *given: Any, **named: Any) -> Any:
            return sqs_handler(lambda message: _quietly(work, message), *given, **named)

        return handler

    swap("shell.lambda_handlers:sqs_handler", acknowledging)


def _quietly(work: Any, message: Any) -> None:
    try:
        work(message)
    except Exception as error:
        there("shell.observability:log_failure")(error)


OF_IMPORTS = {
    "chunk-row": Switch(
        "a chunk's row is neither locked nor read, before it is written or after a lost COMMIT",
        "work.units, imports.chunks.chunk_source",
        _chunk_row,
    ),
    "chunk-transaction": Switch(
        "a chunk's rows commit before its status does", "imports.chunks.writer", _chunk_transaction
    ),
    "chunk-countdown": Switch(
        "chunks_left is read first and written later",
        "work.units, imports.state.progress",
        _chunk_countdown,
        shows_as=OR_NO_END,
    ),
    "completion-request": Switch(
        "the completion of an import is requested once its last chunk has committed",
        "work.units, imports.state.progress",
        _completion_request,
        shows_as=OR_NO_END,
    ),
    "completion-check": Switch(
        "a completion does not check whether its import was cancelled, retried or completed meanwhile",
        "imports.state.completion_lock, imports.completing.completion",
        _completion_check,
    ),
    "cancel-check": Switch(
        "chunks continue after their import was cancelled", "work.units, imports.chunks.chunk_source", _cancel_check
    ),
    "upload-key": Switch(
        "each event of an upload counts as a new upload", "core.imports.uploads, imports.upload_matching", _upload_key
    ),
    "register-once": Switch(
        "every worker that splits a file registers its chunks, even after another worker",
        "imports.splitting.registration, imports.splitting.checkpoint_store",
        _register_once,
        why="the semaphore, which saves work, and the refusal of an existing chunk row",
    ),
    "chunks-resent": Switch(
        "an event of a known upload does nothing", "imports.start", _chunks_resent, shows_as=OR_NO_END
    ),
    "failures-reported": Switch(
        "a message whose work failed is acknowledged", "lambda_handlers", _failures_reported, shows_as=OR_NO_END
    ),
    "control-numbers-unique": Switch(
        "a case may hold a control number twice",
        "imports.chunks.exhibit_store, tables.exhibits",
        keys=("exhibits.uq_exhibits_control_number",),
    ),
    "cases-unique": Switch(
        "several cases may have one name", "exhibits.cases, tables.cases", keys=("cases.uq_cases_tenant_name",)
    ),
    "names-unique": Switch(
        "several custodians or tags may have one name",
        "utils.named_rows, tables.custodians_tags",
        keys=("custodians.uq_custodians_name", "tags.uq_tags_name"),
    ),
}
