"""Find the cases whose names a given name may be a misspelling of.

Guaranteed: cases of another tenant, and those that the caller is not limited to, are neither compared nor found.
Not guaranteed: speed beyond some 20,000 cases. All names are read, by one index, and their characters are counted.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.case_names import UnknownCaseError, find_similar_names
from core.contracts.cases import SimilarCases
from core.contracts.queries import SimilarQuery
from shell.db.session import session
from shell.exhibits.case_list import describe_cases
from shell.exhibits.cases import build_wall, is_known_case
from shell.tables.cases import Cases
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict


class _Compared(NamedTuple):
    """The id of the case with exactly a name, and the ids and names of those with similar ones."""

    exact: int | None
    similar: list[tuple[int, str]]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_similar_cases(caller: Caller, query: SimilarQuery) -> SimilarCases:
    """Return the case with the name, if there is one, and up to 5 cases with similar names."""
    with session() as reading:
        exact, similar = _compare(reading, caller, query.name)
        ids = [case_id for case_id in (exact, *dict(similar)) if case_id is not None]
        rows = reading.scalars(select(Cases).where(is_in(Cases.id, ids))).all() if ids else []
        described = {each.id: each for each in describe_cases(reading, rows)}
    return SimilarCases(
        exact=None if exact is None else described[exact], similar=[described[case_id] for case_id, _ in similar]
    )


def require_known_case(reading: Session, caller: Caller, name: str) -> None:
    """Raise UnknownCaseError, with the similar names, unless the caller has a case with exactly this name."""
    if not is_known_case(reading, caller, name):
        raise UnknownCaseError(_compare(reading, caller, name).similar)


def _compare(reading: Session, caller: Caller, name: str) -> _Compared:
    own = select(Cases.name, Cases.id).where(Cases.tenant_id == caller.tenant_id, *build_wall(caller))
    ids = {row.name: row.id for row in reading.execute(own)}
    return _Compared(ids.get(name), [(ids[each], each) for each in find_similar_names(name, ids)])
