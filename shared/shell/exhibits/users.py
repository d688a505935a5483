"""Describe the caller, and return the names of the tenant's users."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, cast

from core.caller import Caller
from core.contracts.common import API_VERSION, MAX_BATCH, MAX_PAGE
from core.contracts.imports.announcements import PART_BYTES, SINGLE_PUT_BYTES
from core.contracts.queries import UsersQuery
from core.contracts.users import Limits, Me, NamedUser, UserList
from core.errors import ForbiddenError
from core.roles import Role
from shell.db.column_limits import column_limits
from shell.db.session import session
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names


@retry_on_db_conflict(resolve=rerun_if_unknown)
def describe_caller(caller: Caller, role: Role, expires_at: datetime | None) -> Me:
    """Return who the caller is and what requests may have."""
    return Me(
        user_id=caller.user_id,
        user_name=caller.user_name,
        tenant_id=caller.tenant_id,
        role=role,
        cases=None if caller.cases is None else sorted(caller.cases),
        token_expires_at=expires_at,
        limits=Limits(
            max_file_bytes=settings().max_file_bytes,
            single_put_bytes=SINGLE_PUT_BYTES,
            part_bytes=PART_BYTES,
            max_page=MAX_PAGE,
            max_batch=MAX_BATCH,
        ),
        version=API_VERSION,
        charset=cast("Literal['utf8mb3', 'utf8mb4']", column_limits("custodians")["name"].charset),
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_users(caller: Caller, query: UsersQuery) -> UserList:
    """Return those of the tenant's users that are known by name.

    Raises ForbiddenError for a caller who is limited to cases: users may have worked on others only. The lists of the
    caller's cases have their users' names.
    """
    if caller.cases is not None:
        raise ForbiddenError("Users belong to the whole tenant, and your token is limited to cases.")
    with session() as reading:
        names = read_user_names(reading, caller.tenant_id, query.ids.split(","))
    return UserList(items=[NamedUser(user_id=each, name=names[each]) for each in sorted(names)])
