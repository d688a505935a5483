"""Use the application's queries in this process, on the database of a URL.

Guaranteed: for the block only, and for queries only; what an API caller of the tenant could read is read, no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from core.caller import Caller
from core.errors import ExhibitIngestError
from local.errors import LocalError
from shell.db.column_limits import column_limits
from shell.db.session import engine
from shell.settings import settings

# Settings that every function has, and no query uses.
_UNUSED = (
    *("BUCKET", "IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "IMPORT_COMPLETIONS_QUEUE_URL"),
    *("OUTBOX_WAKE_QUEUE_URL", "PRODUCTION_CHECKS_QUEUE_URL", "EVENTS_TOPIC_ARN"),
)


@contextmanager
def application_on(database_url: str) -> Iterator[None]:
    """Give this process the settings of a function with this database, for the block.

    Raises LocalError, with what to do, for an error of the application or the database.
    """
    before = dict(os.environ)
    os.environ.update({**dict.fromkeys(_UNUSED, "unused"), "DATABASE_URL": database_url})
    _reset()
    try:
        yield
    except ExhibitIngestError as exc:
        raise LocalError(str(exc)) from exc
    except DBAPIError as exc:
        raise LocalError(f"database error: {exc.orig}; check DATABASE_URL and that the server is running") from exc
    finally:
        engine().dispose()
        os.environ.clear()
        os.environ.update(before)
        _reset()


def _reset() -> None:
    for cached in (settings, engine, column_limits):
        cached.cache_clear()


def build_caller(tenant: str) -> Caller:
    """Return the caller that reads for the command: a user of the tenant without a limit to cases."""
    return Caller(tenant_id=tenant, user_id="exhibit-ingest")
