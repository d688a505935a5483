"""The command `documents`: a table, JSON, or a CSV file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from exhibit_ingest.catalog import columns as catalog
from exhibit_ingest.catalog.columns import Chosen, Document, choose_columns, needs_details, resolve_properties
from exhibit_ingest.catalog.document_source import Source, open_source
from exhibit_ingest.catalog.filters import collect_filters
from exhibit_ingest.catalog.finding import require_names
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.output import format_count, neutralize_formula, print_list, write_csv
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import Column, print_table

TABLE_ROWS = 50
_DAY = len("2019-12-31")
_HEADINGS = {
    "document_date": "date",
    "page_count": "pages",
    "has_native": "native",
    "has_text": "text",
}
_NUMBERS = ("page_count", "import_id", "version", "id", "line")
# By the column: the width down to which it wraps, and how early it is left out of a narrow terminal.
_LEAST = {"custodians": 12, "tags": 10, "title": 16, "file_name": 14, "native_path": 16, "text_path": 16}
_RANKS = {"has_text": 6, "has_native": 5, "page_count": 4, "type": 3, "bates_end": 2, "tags": 1}


def check_columns(options: argparse.Namespace) -> None:
    """Raise WrongUsageError for columns that are not written as they have to be."""
    choose_columns(options.columns, ())


def print_documents(session: Session, options: argparse.Namespace) -> int:
    """Print the documents that match the filters, or write them to a file. Raises CommandError."""
    filters = collect_filters(options)
    require_names(session, options.case, filters)
    default = catalog.IN_CSV if options.csv else catalog.IN_JSON if options.json else catalog.IN_TABLE
    chosen = choose_columns(options.columns, default)
    if options.csv:
        _write(session, options, filters, chosen)
    elif options.json:
        _print_json(session, options, filters, chosen)
    else:
        _print_table(session, options, filters, chosen)
    return DONE


def _write(session: Session, options: argparse.Namespace, filters: dict[str, Any], chosen: list[Chosen]) -> None:
    with open_source(session, options.case, filters, chosen, options.limit, is_whole=True) as source:
        resolved = _resolve(source, chosen)
        rows = ([column.format_cell(each) for column in resolved] for each in source.read())
        # The names of properties are those of the other party.
        count = write_csv(options.csv, [neutralize_formula(column.heading) for column in resolved], rows)
    print(f"{format_count(count, 'document is in', 'documents are in')} {options.csv}")


def _print_json(session: Session, options: argparse.Namespace, filters: dict[str, Any], chosen: list[Chosen]) -> None:
    is_whole = needs_details(chosen)
    with open_source(session, options.case, filters, chosen, options.limit, is_whole=is_whole) as source:
        resolved = _resolve(source, chosen)
        rows = ({column.heading: column.get_value(each) for column in resolved} for each in source.read())
        print_list("documents", rows, sys.stdout)


def _print_table(session: Session, options: argparse.Namespace, filters: dict[str, Any], chosen: list[Chosen]) -> None:
    limit = options.limit or TABLE_ROWS
    # One more shows whether there are more.
    with open_source(session, options.case, filters, chosen, limit + 1, is_whole=False) as source:
        resolved = _resolve(source, chosen)
        documents = list(source.read())
    listed = documents[:limit]
    has_choice = options.columns is not None
    columns = [_describe_column(column, has_choice=has_choice) for column in resolved]
    print_table(columns, list(_build_rows(columns, resolved, listed)), sys.stdout)
    if not listed:
        print("No document of the case matches all filters." if filters else "The case has no documents.")
    if len(documents) > limit:
        print(f"These are the first {limit:,}; there are more: add filters or --limit, or write them with --csv.")


def _resolve(source: Source, chosen: list[Chosen]) -> list[Chosen]:
    if not any(each.is_property or each.name == catalog.PROPERTIES for each in chosen):
        return chosen
    found: dict[str, None] = {}
    has_rows = False
    for document in source.read():
        has_rows = True
        found.update(dict.fromkeys(document[catalog.PROPERTIES]))
    return resolve_properties(chosen, list(found), has_rows=has_rows)


def _describe_column(column: Chosen, *, has_choice: bool) -> Column:
    if column.is_property:
        return Column(column.heading, least=16)
    name = _HEADINGS.get(column.name, column.name.replace("_", " "))
    # Columns that the user has chosen are all there.
    rank = 0 if has_choice else _RANKS.get(column.name, 0)
    return Column(name, column.name in _NUMBERS, _LEAST.get(column.name), rank)


def _build_rows(
    columns: Iterable[Column], chosen: Iterable[Chosen], documents: Iterable[Document]
) -> Iterator[dict[str, str]]:
    named = list(zip((column.name for column in columns), chosen, strict=True))
    return ({name: _format_cell(column, document) for name, column in named} for document in documents)


def _format_cell(column: Chosen, document: Document) -> str:
    """Return the value for a table, in which a date is a day."""
    cell = column.format_cell(document)
    return cell[:_DAY] if column.name in catalog.DATES and not column.is_property else cell
