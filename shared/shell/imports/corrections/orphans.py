"""Delete the objects of corrections that were never registered: their request died before it committed.

Guaranteed: an object that an import names is never deleted, whenever its request committed: only days that have ended
are looked at, and a request takes seconds. The versions of a deleted object stay in the bucket, behind a marker, so
that nothing is lost if the database was restored to an earlier time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, text

from core.imports.uploads import build_day_prefix
from shell.aws.s3 import hide_objects, list_objects
from shell.db.session import session
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# The day that ended last may have requests that are under way; the purge runs once a day at least.
DAYS, KEYS_PER_STATEMENT = range(2, 9), 500
_NAMED = text(
    "SELECT object_key FROM imports FORCE INDEX (ix_imports_corrects) "
    "WHERE corrects_import_id IS NOT NULL AND object_key IN :keys"
).bindparams(bindparam("keys", expanding=True))


def delete_orphans() -> int:
    """Delete the objects of the last days that no import names; return how many. Raises StorageUnavailableError."""
    deleted, listed = 0, list(_list_keys())
    for start in range(0, len(listed), KEYS_PER_STATEMENT):
        keys = listed[start : start + KEYS_PER_STATEMENT]
        named = _find_named(keys)
        orphans = [key for key in keys if key not in named]
        hide_objects(settings().bucket, orphans)
        deleted += len(orphans)
    return deleted


def _list_keys() -> Iterator[str]:
    today = datetime.now(UTC).date()
    for age in DAYS:
        yield from (key for key, _ in list_objects(settings().bucket, build_day_prefix(today - timedelta(days=age))))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_named(keys: Sequence[str]) -> set[str]:
    with session() as reading:
        return set(reading.execute(_NAMED, {"keys": list(keys)}).scalars())
