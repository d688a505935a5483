"""Read documents with what columns need: page by page, with a request for each document, or from an export.

Guaranteed: memory does not grow with the documents of a list without details, nor with those of an export.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from exhibit_ingest.catalog.columns import DATES, TYPE, Chosen, Document, needs_details, to_camel
from exhibit_ingest.catalog.exporting import export_documents
from exhibit_ingest.catalog.progress import Line
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.pages import build_query, iterate
from exhibit_ingest.session.session import Session

# Requests for documents at once; the whole API takes 100 a second.
_CONNECTIONS = 4


@dataclass(frozen=True)
class Source:
    """Documents that `read` yields: with details from the first on each time that it is called, else once."""

    read: Callable[[], Iterable[Document]]


@contextlib.contextmanager
def open_source(
    session: Session,
    case: str,
    filters: Mapping[str, Any],
    columns: Sequence[Chosen],
    limit: int | None,
    *,
    is_whole: bool,
) -> Iterator[Source]:
    """Give the documents of the case that match the filters, for the block; at most `limit`, None for all.

    All documents come from an export if they are to come as a whole (`is_whole`): a million of them, with details, are
    one file. Others are read as the list has them, with a request for each if a column needs it. Raises CommandError.
    """
    if limit is None and is_whole:
        with export_documents(session, case, filters, _name_exported(columns)) as path:

            def read_lines() -> Iterator[Document]:
                with open(path, encoding="utf-8") as lines:
                    yield from map(json.loads, lines)

            yield Source(read_lines)
        return
    found = _list_documents(session, case, filters, limit)
    if not needs_details(columns):
        yield Source(lambda: found)
        return
    with ThreadPoolExecutor(_CONNECTIONS) as threads:
        details = list(threads.map(lambda each: _read_details(session, each), found))
    yield Source(lambda: details)


def _list_documents(session: Session, case: str, filters: Mapping[str, Any], limit: int | None) -> Iterator[Document]:
    """Yield the documents as the list has them; a terminal shows how many a search has looked at."""
    line, all_documents = Line(sys.stderr), ""

    def show(searched: int) -> None:
        nonlocal all_documents
        if not all_documents:
            query = build_query({"case": case, "count": True, "limit": 1})
            all_documents = format_count(session.api.request("GET", f"/exhibits{query}")["total"], "document")
        line.show(f"Looked at {searched:,} of about {all_documents}")

    options = {"case": case, **filters, "include": "custodians,tags"}
    try:
        for each in iterate(session.api, "/exhibits", limit, on_searched=show, **options):
            line.clear()
            yield each
    finally:
        line.clear()


def _read_details(session: Session, listed: Document) -> Document:
    details = session.api.request("GET", f"/exhibits/{listed['id']}")
    # The list knows of files what the document does not.
    return {**listed, **details}


def _name_exported(columns: Sequence[Chosen]) -> list[str]:
    """Return the columns of the export that these columns are made from."""
    names: dict[str, None] = {}
    for each in columns:
        if each.is_property:
            names["properties"] = None
        elif each.name == TYPE:
            names.update(dict.fromkeys(("fileName", "nativePath")))
        else:
            names[to_camel(each.name)] = None
            if each.name in DATES:
                names["datePrecision"] = None
    return list(names)
