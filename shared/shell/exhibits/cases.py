"""Find and create cases, to which a tenant's imports, exhibits and custodians belong.

Guaranteed: a case that a caller is not limited to does not exist for them, if every statement on behalf of a caller has
`build_wall` beside the tenant (WALL in SQL text), and every name of a case goes through `require_case`. Names are
compared byte for byte: the collation of the column ignores trailing spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import BindParameter, ColumnElement, bindparam, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.errors import ForbiddenError, InvalidInputError, NameTakenError, NotFoundError
from shell.case_state.fence import FORMER_NAME, enter_named_case
from shell.case_state.names import is_former
from shell.tables.cases import Cases
from shell.utils.db_helpers import insert_or_get, is_exactly
from shell.utils.key_validation import is_storable

NO_SUCH_CASE = "You have no case with this name; case names are compared character by character."
_OTHER_SPELLING = "You have a case with this name and other spaces at its end; use its name as GET /cases lists it."
_CASE = text("SELECT id, name FROM cases WHERE tenant_id = :tenant_id AND name = :name")
# For a statement in which the cases are `c`; its values are those of `wall_values`.
WALL = "(:is_limited = 0 OR CAST(c.name AS BINARY) IN :cases)"
_NO_SUCH_ID = "You have no case with this id; GET /cases lists yours."
WALL_CASES: BindParameter[Sequence[str]] = bindparam("cases", expanding=True)


class CaseChoice(Protocol):
    """A request that names a case, by its name or by its id, or none."""

    @property
    def case(self) -> str | None:
        """The name."""
        ...

    @property
    def case_id(self) -> int | None:
        """The id."""
        ...


def build_wall(caller: Caller) -> list[ColumnElement[bool]]:
    """Return the condition, if any, that the caller's cases are the only ones; the statement joins Cases."""
    return [] if caller.cases is None else [is_exactly(Cases.name, _list_storable(caller.cases))]


def wall_values(caller: Caller) -> dict[str, Any]:
    """Return the values of WALL."""
    return {"is_limited": caller.cases is not None, "cases": _list_storable(caller.cases or frozenset())}


def _list_storable(names: frozenset[str]) -> list[str]:
    """Return the names that a case can have; the server refuses to compare some of the others."""
    return [name for name in sorted(names) if is_storable(name, "cases", "name")]


def require_case(caller: Caller, name: str) -> None:
    """Raise NotFoundError if the caller is limited to other cases than the one with this name."""
    if caller.cases is not None and name not in caller.cases:
        raise NotFoundError(NO_SUCH_CASE)


def require_whole_tenant(caller: Caller) -> None:
    """Raise ForbiddenError if the caller is limited to cases: what the request concerns belongs to none."""
    if caller.cases is not None:
        raise ForbiddenError("This request concerns the whole tenant, and your token is limited to cases.")


def get_or_create_case(transaction: Session, tenant_id: str, name: str) -> int:
    """Return the id of the tenant's case with this name, for a change, and create the case if it does not exist.

    The case is locked in shared mode (`shell.case_state.fence`). Raises InvalidInputError if the case's name is another
    one that the database takes for the same, NameTakenError for a former name of a case, WrongStateError unless the
    case is open.
    """
    found = get_or_add_case(transaction, tenant_id, name, reuse_purged=True)
    if found is None:
        raise NameTakenError(FORMER_NAME)
    enter_named_case(transaction, found, name)
    return found


def get_or_add_case(transaction: Session, tenant_id: str, name: str, *, reuse_purged: bool) -> int | None:
    """Return the id of the case with this name, created if need be; None for the former name of a case.

    With `reuse_purged`, a name that only a purged case had is a new one. Does not lock an existing case. Raises
    InvalidInputError as `get_or_create_case` does.
    """
    key = {"tenant_id": tenant_id, "name": name}
    found: Any = transaction.execute(_CASE, key).one_or_none()
    if found is None:
        found, is_new = insert_or_get(transaction, Cases, key, {}, unique_key="uq_cases_tenant_name")
        # After the insert: a renaming that frees the name has committed then, with its alias.
        if is_new and is_former(transaction, tenant_id, name, reuse_purged=reuse_purged):
            transaction.delete(found)
            transaction.flush()
            return None
    if found.name != name:
        raise InvalidInputError(_OTHER_SPELLING)
    return int(found.id)


def get_case_id(reading: Session, caller: Caller, name: str) -> int:
    """Return the id of the tenant's case with this name; raise NotFoundError if there is none."""
    require_case(caller, name)
    found = find_case_id(reading, caller.tenant_id, name)
    if found is None:
        raise NotFoundError(NO_SUCH_CASE)
    return found


def is_known_case(reading: Session, caller: Caller, name: str) -> bool:
    """Return whether the caller has a case with exactly this name."""
    is_open = caller.cases is None or name in caller.cases
    return is_open and find_case_id(reading, caller.tenant_id, name) is not None


def find_case_id(reading: Session, tenant_id: str, name: str) -> int | None:
    """Return the id of the tenant's case with exactly this name, None without one."""
    if not is_storable(name, "cases", "name"):
        return None
    own = (Cases.tenant_id == tenant_id, is_exactly(Cases.name, [name]))
    return reading.scalars(select(Cases.id).where(*own)).one_or_none()


def find_chosen_case(reading: Session, caller: Caller, chosen: CaseChoice) -> int | None:
    """Return the id of the case that a request names, None if it names none. Raises NotFoundError."""
    if chosen.case is not None:
        return get_case_id(reading, caller, chosen.case)
    return None if chosen.case_id is None else load_case(reading, caller, chosen.case_id).id


def get_chosen_case(reading: Session, caller: Caller, chosen: CaseChoice) -> int:
    """Return the id of the case that a request names. Raises NotFoundError, also if it names none."""
    found = find_chosen_case(reading, caller, chosen)
    if found is None:
        raise NotFoundError(NO_SUCH_CASE)
    return found


def load_case(reading: Session, caller: Caller, case_id: int) -> Cases:
    """Return the tenant's case with this id. Raises NotFoundError, also for one that the caller is not limited to."""
    own = (Cases.id == case_id, Cases.tenant_id == caller.tenant_id, *build_wall(caller))
    found = reading.scalars(select(Cases).where(*own)).one_or_none()
    if found is None:
        raise NotFoundError(_NO_SUCH_ID)
    return found
