"""The commands `cases`, `imports`, `documents` and `history`: what a database holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from core.errors import NotFoundError
from core.exhibit_fields import LISTED_TEXTS
from exhibit_ingest.catalog.application import application_on
from exhibit_ingest.catalog.change_rows import CHANGE_COLUMNS, describe_entry, list_page_sets
from exhibit_ingest.catalog.import_table import print_imports
from exhibit_ingest.catalog.listing import (
    count_pages,
    iterate_cases,
    iterate_documents,
    iterate_history,
    iterate_imports,
)
from exhibit_ingest.catalog.output import print_json, print_table, to_row, write_csv
from exhibit_ingest.program import format_command
from local.errors import UsageError

TABLE_ROWS = 50
# By the name in the output: the field of the API.
CASE_FIELDS = {"name": "name", "documents": "documents", "imports": "imports", "last_import_at": "last_import_at"}
IMPORT_FIELDS = {
    name: name
    for name in (
        *("id", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated", "rejected"),
        *("warnings", "started_at", "finished_at"),
    )
}
DOCUMENT_FIELDS = {
    name: name
    for name in ("control_number", "bates_begin", "bates_end", *LISTED_TEXTS, "document_date", "version", "id")
}
HISTORY_FIELDS = {
    name: name
    for name in (
        *("version", "action", "user_id", "changed_at", "import_id", "line", "undo_no"),
        *("fields", "properties", "custodians", "tags"),
    )
}


def list_cases(database_url: str, tenant: str, *, as_json: bool) -> None:
    """Print the tenant's cases with the numbers of their documents and imports. Raises LocalError."""
    with application_on(database_url):
        _print("cases", (to_row(each, CASE_FIELDS) for each in iterate_cases(tenant)), CASE_FIELDS, as_json)


def list_imports(database_url: str, tenant: str, case: str, *, as_json: bool) -> None:
    """Print the imports of a case, newest first. Raises UsageError for an unknown case, and LocalError."""
    with application_on(database_url), _naming(case, tenant):
        rows = (to_row(each, IMPORT_FIELDS) for each in iterate_imports(tenant, case))
        if as_json:
            _print("imports", rows, IMPORT_FIELDS, as_json)
            return
        print_imports(list(rows), sys.stdout)


@contextmanager
def _naming(case: str, tenant: str) -> Iterator[None]:
    """Raise UsageError with the name of the case if the tenant does not have it."""
    try:
        yield
    except NotFoundError as exc:
        raise UsageError(
            f"the tenant {tenant!r} has no case {case!r}; names of cases are compared character by character, and "
            f"listed by: {format_command('cases')}"
        ) from exc


def _print(member: str, rows: Iterator[dict[str, Any]], names: Mapping[str, str], as_json: bool) -> None:
    rows = _begin(rows)
    if as_json:
        print_json(member, rows, sys.stdout)
    else:
        print_table(rows, list(names), sys.stdout)


def _begin(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return the rows, of which the first page is read now: an error must not leave half a list behind."""
    return chain(list(islice(rows, 1)), rows)


def list_documents(
    database_url: str, tenant: str, filters: Mapping[str, Any], *, limit: int | None, csv: Path | None, as_json: bool
) -> None:
    """Print the documents that match the filters, or write them to a CSV file; up to `limit`, None for all.

    A table has up to 50 documents unless there is a limit, and says if there are more. Raises UsageError for an unknown
    case, LocalError for filters that would read too many documents.
    """
    with application_on(database_url), _naming(filters["case"], tenant):
        rows = (to_row(each, DOCUMENT_FIELDS) for each in iterate_documents(tenant, filters))
        if csv is not None:
            count = write_csv(csv, islice(_begin(rows), limit), list(DOCUMENT_FIELDS))
            print(f"{count:,} documents are in {csv}")
        elif as_json:
            _print("documents", islice(rows, limit), DOCUMENT_FIELDS, as_json)
        else:
            _print_documents(rows, limit or TABLE_ROWS)


def _print_documents(rows: Iterator[dict[str, Any]], limit: int) -> None:
    listed = list(islice(rows, limit))
    print_table(listed, list(DOCUMENT_FIELDS)[:-2], sys.stdout)
    if not listed:
        print("No document of the case matches all filters.")
    if next(rows, None) is not None:
        print(f"These are the first {len(listed):,}; there are more: add filters or --limit, or write them with --csv.")


def list_history(
    database_url: str, tenant: str, case: str, control_number: str, *, limit: int | None, as_json: bool
) -> None:
    """Print the changes of a document, newest first; up to `limit`, None for all, in a table for 50.

    A table has a row for each changed value. Raises UsageError for an unknown case or document, LocalError if the
    changes cannot be read.
    """
    with application_on(database_url), _naming(case, tenant):
        entries = iterate_history(tenant, case, control_number)
        if as_json:
            _print(
                "history", (to_row(each, HISTORY_FIELDS) for each in islice(entries, limit)), HISTORY_FIELDS, as_json
            )
            return
        listed = list(islice(entries, limit or TABLE_ROWS))
        page_counts = count_pages(tenant, list_page_sets(listed))
        print_table((row for each in listed for row in describe_entry(each, page_counts)), CHANGE_COLUMNS, sys.stdout)
        if next(entries, None) is not None:
            print(f"These are the last {len(listed):,} changes; there are more: add --limit or --json.")
