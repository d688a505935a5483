"""All pages of the API's lists, one row at a time.

Guaranteed: memory does not grow with the length of a list; pages follow keys, so that no row comes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from core.contracts.cases import CaseSummary
from core.contracts.common import MAX_PAGE
from core.contracts.exhibit_lists import ExhibitSummary
from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.exhibits import ExhibitHistoryEntry
from core.contracts.imports.states import ImportState
from core.contracts.pages import NewestFirst
from core.contracts.queries import CasesQuery, ImportQuery
from exhibit_ingest.catalog.application import build_caller
from exhibit_ingest.program import format_command
from local.errors import UsageError
from shell.exhibits import case_list
from shell.exhibits import pages as exhibit_pages
from shell.exhibits import queries as exhibit_queries
from shell.exhibits.listing import list_exhibits
from shell.imports import queries as import_queries

T = TypeVar("T")


def iterate_cases(tenant: str) -> Iterator[CaseSummary]:
    """Yield the tenant's cases in the byte order of their names."""
    caller = build_caller(tenant)

    def list_page(after: str | None) -> tuple[list[CaseSummary], str | None]:
        page = case_list.list_cases(caller, CasesQuery(limit=MAX_PAGE, after=after))
        return page.items, page.next

    return _iterate(list_page)


def iterate_imports(tenant: str, case: str) -> Iterator[ImportState]:
    """Yield the imports of a case, newest first. Raises NotFoundError for a case that the tenant does not have."""
    caller = build_caller(tenant)

    def list_page(after: str | None) -> tuple[list[ImportState], str | None]:
        page = import_queries.list_imports(caller, ImportQuery(case=case, limit=MAX_PAGE, after=after))
        return page.items, page.next

    return _iterate(list_page)


def iterate_documents(tenant: str, filters: Mapping[str, Any]) -> Iterator[ExhibitSummary]:
    """Yield the exhibits that match the filters, which have the API's names.

    Raises UsageError for a filter in another form, NotFoundError for an unknown case and FilterTooBroadError.
    """
    caller, query = build_caller(tenant), _build_query({**filters, "limit": MAX_PAGE})

    def list_page(after: str | None) -> tuple[list[ExhibitSummary], str | None]:
        page = list_exhibits(caller, query.model_copy(update={"after": after}))
        return page.items, page.next

    return _iterate(list_page)


def iterate_history(tenant: str, case: str, control_number: str) -> Iterator[ExhibitHistoryEntry]:
    """Yield the changes of a document, newest first. Raises NotFoundError (case) or UsageError (document)."""
    document = next(iterate_documents(tenant, {"case": case, "controlNumber": control_number}), None)
    if document is None:
        raise UsageError(
            f"the case {case!r} has no document {control_number!r}; control numbers are compared character by "
            f"character; they are listed by: {format_command('documents', '--case', case)}"
        )
    caller, exhibit_id = build_caller(tenant), document.id

    def list_page(after: str | None) -> tuple[list[ExhibitHistoryEntry], str | None]:
        page = exhibit_queries.list_changes(caller, exhibit_id, NewestFirst(limit=MAX_PAGE, after=after))
        return page.items, page.next

    return _iterate(list_page)


def count_pages(tenant: str, page_sets: Collection[int]) -> dict[int, int]:
    """Return the number of pages of those page sets of the tenant that there are."""
    return exhibit_pages.count_pages(build_caller(tenant), sorted(page_sets)) if page_sets else {}


def _build_query(values: Mapping[str, Any]) -> ExhibitQuery:
    try:
        return ExhibitQuery.model_validate(values)
    except ValidationError as exc:
        error = exc.errors()[0]
        place = f"{error['loc'][0]}: " if error["loc"] else ""
        raise UsageError(f"{place}{error['msg'].removeprefix('Value error, ')}") from exc


def _iterate(list_page: Callable[[str | None], tuple[list[T], str | None]]) -> Iterator[T]:
    items, after = list_page(None)
    yield from items
    while after is not None:
        items, after = list_page(after)
        yield from items
