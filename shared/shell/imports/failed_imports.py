"""Imports whose request failed in every attempt: one more try, then they are recorded as failed, with the reason.

Guaranteed: an import is given up only after its request was sent back once, never while somebody splits its file, and
not if it was retried since.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import text

from core.errors import UploadRefusedError
from core.reasons import FileFailure
from core.statuses import ImportStatus
from core.uploads import parse_upload
from shell.adopting_ops import current_import, import_of, named_import, only_splitter
from shell.observability import logger
from shell.outbox_ops import nudge_publisher
from shell.registering_ops import fail, pending_chunks
from shell.settings import settings
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.queues import send_all

GIVING_UP_S = 60


def settle_failed_imports(message: dict[str, Any]) -> None:
    """For a request that failed in every attempt: send it back once, then record its imports as failed.

    An import that is registered already only lacks messages for its chunks; they are sent. One that was retried since
    is left alone. Raises ImportBusyError while somebody splits the file.
    """
    if int(message.get("redrive", 0)) == 0:
        # While the database is down nothing is sent, and the message stays where it is: an outage is no failure.
        _ask_database()
        again = {**message, "redrive": 1}
        send_all(settings().import_requests_queue_url, [again], delay_s=settings().redrive_delay_seconds)
        return
    for import_id in _imports_of(message):
        _give_up(import_id, int(message.get("generation", 1)))


def _imports_of(message: dict[str, Any]) -> Iterator[int]:
    named = named_import(message)
    if named is not None:
        yield named
        return
    for record in message.get("Records", []):
        with suppress(UploadRefusedError):
            upload = parse_upload(record)
            if upload is not None:
                yield import_of(upload)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _ask_database() -> None:
    with session() as reading:
        reading.execute(text("SELECT 1"))


def _give_up(import_id: int, generation: int) -> None:
    the_import = current_import(import_id)
    if the_import is not None and the_import.status == ImportStatus.SPLITTING:
        with only_splitter(the_import, GIVING_UP_S):
            fail(import_id, generation, FileFailure.NOT_READ, "reading the file failed in every attempt")
        logger.error("import given up", extra={"import_id": import_id, "generation": generation})
        nudge_publisher()
    send_all(settings().import_chunks_queue_url, pending_chunks(import_id))
