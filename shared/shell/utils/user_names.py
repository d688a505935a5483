"""The names of users, as their tokens had them last.

Guaranteed: a name is written in a transaction of its own, and only if it differs from the stored one. An upsert in the
transaction of a request would hold the lock of the user's row until that transaction ends, so that all requests of one
user, such as a service account, would wait for each other.
Not guaranteed: that a user has a name. Nothing but the display depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from shell.db.session import session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_READ = text("SELECT name FROM users WHERE tenant_id = :tenant_id AND user_id = :user_id")
_WRITE = text(
    "INSERT INTO users (tenant_id, user_id, name, seen_at) VALUES (:tenant_id, :user_id, :name, NOW(6)) "
    "ON DUPLICATE KEY UPDATE name = VALUES(name), seen_at = VALUES(seen_at)"
)
_NAMES = text("SELECT user_id, name FROM users WHERE tenant_id = :tenant_id AND user_id IN :ids").bindparams(
    bindparam("ids", expanding=True)
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def store_user_name(caller: Caller) -> None:
    """Store the name of the caller's user unless it is stored already, or the token has none."""
    if caller.user_name is None:
        return
    user = {"tenant_id": caller.tenant_id, "user_id": caller.user_id}
    with session() as transaction:
        if transaction.execute(_READ, user).scalar() != caller.user_name:
            transaction.execute(_WRITE, {**user, "name": caller.user_name})


def read_user_names(reading: Session, tenant_id: str, user_ids: Iterable[str | None]) -> dict[str, str]:
    """Return the names of those of the tenant's users that have one, by id, in one statement."""
    ids = sorted({each for each in user_ids if each is not None})
    rows = reading.execute(_NAMES, {"tenant_id": tenant_id, "ids": ids}) if ids else ()
    return {row.user_id: row.name for row in rows}
