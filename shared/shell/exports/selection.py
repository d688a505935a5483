"""Select the documents of an export by the filters of the list of exhibits, and the windows in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from core.contracts.exhibit_queries import ExhibitQuery
from shell.exhibits.case_list import count_documents
from shell.exhibits.match_keys import MatchKey, Start, count_matches, iterate_keys
from shell.exhibits.matches import Matches, find_matches
from shell.tables.exhibits import Exhibits

WINDOW = 1_000
Filters = Mapping[str, Any]


def count_expected(reading: Session, case_id: int, filters: Filters) -> int | None:
    """Return how many documents match now; None for filters with more matches than one search counts."""
    matches = _find_matches(reading, case_id, filters)
    if matches is None:
        return 0
    if not matches.filters:
        return count_documents(reading, case_id)
    counted = count_matches(reading, matches)
    return None if counted.is_least else counted.number


def list_windows(
    reading: Session, case_id: int, filters: Filters, highest_id: int, after: str | None
) -> Iterator[list[MatchKey]]:
    """Yield the documents after a control number, in the order of the list, WINDOW at a time.

    Those with higher ids than `highest_id` are left out, so that an export ends whatever is imported meanwhile.
    """
    matches = _find_matches(reading, case_id, filters)
    if matches is not None:
        matches = matches._replace(conditions=(*matches.conditions, Exhibits.id <= highest_id))
        yield from iterate_keys(reading, matches, Start(after), WINDOW)


def _find_matches(reading: Session, case_id: int, filters: Filters) -> Matches | None:
    return find_matches(reading, case_id, ExhibitQuery.model_validate({"caseId": case_id, **filters}))
