"""Read the activities of a tenant.

Guaranteed: data of another tenant, and of cases that the caller is not limited to, is not found; a caller who is
limited to cases sees no activity of the whole tenant. A page takes three statements at most, and reads an index in its
order; each activity that was committed before the first page was read is on exactly one page.
Not guaranteed: that an activity which commits later appears at the beginning. It has the time of its statement, so that
one of a long transaction may take its place on a page that was read before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.activities import Activity, ActivityPage
from core.contracts.queries import ActivityQuery
from core.pagination import build_cursor_error, decode_cursor, paginate
from shell.db.session import session
from shell.exhibits.cases import build_wall, find_chosen_case
from shell.tables.activities import Activities
from shell.tables.cases import Cases
from shell.utils.db_helpers import force_index, rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_activities(caller: Caller, query: ActivityQuery) -> ActivityPage:
    """Return a page of the activities that match all filters, newest first.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    with session() as reading:
        statement = _filter(reading, caller, query, _select(caller, query))
        order = (Activities.at.desc(), Activities.id.desc())
        rows = reading.execute(statement.order_by(*order).limit(query.limit + 1)).all()
        page, following = paginate(rows, query.limit, lambda row: (row.Activities.at.isoformat(), row.Activities.id))
        names = read_user_names(reading, caller.tenant_id, [row.Activities.user_id for row in page])
    return ActivityPage(items=[_describe(row.Activities, row.case, names) for row in page], next=following)


def _select(caller: Caller, query: ActivityQuery) -> Select[Any]:
    columns: tuple[Any, ...] = (Activities, Cases.name.label("case"))
    statement = select(*columns).where(Activities.tenant_id == caller.tenant_id)
    # An outer join keeps what belongs to the whole tenant, unless the wall removes it.
    statement = statement.outerjoin(Cases, Cases.id == Activities.case_id).where(*build_wall(caller))
    return force_index(statement, Activities, _choose_index(query))


def _choose_index(query: ActivityQuery) -> str:
    """Return the index that has the fewest rows of a filter and the order of the list: the server might sort."""
    if query.object is not None:
        return "ix_activities_object"
    if query.user is not None:
        return "ix_activities_user"
    if query.case is not None or query.case_id is not None:
        return "ix_activities_case"
    return "ix_activities_action" if query.action is not None else "ix_activities_tenant"


def _filter(reading: Session, caller: Caller, query: ActivityQuery, statement: Select[Any]) -> Select[Any]:
    case_id = find_chosen_case(reading, caller, query)
    if case_id is not None:
        statement = statement.where(Activities.case_id == case_id)
    if query.user is not None:
        statement = statement.where(Activities.user_id == query.user)
    if query.action is not None:
        statement = statement.where(Activities.action == query.action)
    if query.object is not None:
        object_type, _, object_id = query.object.partition(":")
        statement = statement.where(Activities.object_type == object_type, Activities.object_id == int(object_id))
    if query.begin is not None:
        statement = statement.where(Activities.at >= query.begin)
    if query.after is not None:
        at, last = _decode(query.after)
        later = or_(Activities.at < at, and_(Activities.at == at, Activities.id < last))
        statement = statement.where(Activities.at <= at, later)
    return statement


def _decode(after: str) -> tuple[datetime, int]:
    text, last = decode_cursor(after, (str, int))
    try:
        at = datetime.fromisoformat(text)
    except ValueError as exc:
        raise build_cursor_error() from exc
    if at.isoformat() != text or at.tzinfo is not None:
        raise build_cursor_error()
    return at, last


def _describe(row: Activities, case: str | None, names: Mapping[str, str]) -> Activity:
    return Activity(
        id=row.id,
        at=row.at,
        user_id=row.user_id,
        user_name=names.get(row.user_id or ""),
        action=row.action,
        object_type=row.object_type,
        object_id=row.object_id,
        case_id=row.case_id,
        case=case,
        summary=json.loads(row.summary),
    )
