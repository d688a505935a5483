"""List the rejected rows of one code, with their cells."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from exhibit_ingest.acts.imports import name_import, request_import
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.rejections.arguments import MOST_SHOWN
from exhibit_ingest.rejections.outcome import Outcome
from exhibit_ingest.session.following import Display
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.pages import MOST_ITEMS, build_query, iterate
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import print_rows

_CELLS = 160
Row = dict[str, Any]


def list_rows(session: Session, options: argparse.Namespace, display: Display) -> Outcome:
    """Return the rejected rows of a code. Raises CommandError."""
    state = request_import(session, "GET", options.import_id, "/progress")
    limit = options.limit or (None if options.json else MOST_SHOWN)
    filters = {"code": options.code, **({"open": True} if options.open else {})}
    columns, items, is_whole = _read(session, options.import_id, limit, filters)
    ids = _read_ids(session, options.import_id, items, filters)
    rows = [_build_row(each, ids) for each in items]
    document = {"import": options.import_id, "code": options.code, "columns": columns, "rows": rows}
    return Outcome(document, lambda: _print(session, state, options.code, rows, is_whole=is_whole))


def _read(
    session: Session, import_id: int, limit: int | None, filters: Mapping[str, Any]
) -> tuple[list[str], list[Row], bool]:
    """Return the names of the columns, the rows, and whether these are all."""
    columns: list[str] = []
    items: list[Row] = []
    after: str | None = None
    while True:
        left = MOST_ITEMS if limit is None else min(limit - len(items), MOST_ITEMS)
        query = build_query({**filters, "limit": left, "after": after})
        page = request_import(session, "GET", import_id, f"/rejected-rows{query}")
        columns = columns or [each["name"] for each in page["columns"] or []]
        items += page["items"]
        after = page["next"]
        if after is None or len(items) == limit:
            return columns, items, after is None


def _read_ids(session: Session, import_id: int, items: list[Row], filters: Mapping[str, Any]) -> dict[int, str]:
    """Return the id of each row that states one, by its line."""
    ids: dict[int, str] = {}
    if not items:
        return ids
    for each in iterate(session.api, f"/imports/{import_id}/rejections", **filters):
        if each["line"] > items[-1]["line"]:
            break
        ids[each["line"]] = each["controlNumber"]
    return ids


def _build_row(item: Row, ids: Mapping[int, str]) -> Row:
    return {
        "line": item["line"],
        "id": ids.get(item["line"]),
        "cells": item["cells"],
        "raw": item["raw"],
        "errors": [
            {name: error[name] for name in ("column", "code", "message", "suggestion")} for error in item["errors"]
        ],
        "corrected_by": item["correctedBy"],
        "discarded_by": item["discardedByName"] or item["discardedBy"],
        "discarded_at": item["discardedAt"],
    }


def _print(session: Session, state: Row, code: str, rows: list[Row], *, is_whole: bool) -> None:
    number, names = str(state["id"]), session.name_options()
    if not rows:
        listed = format_command("rejections", number, *names)
        print(f"{name_import(state)} has no such row with {code}. To list its codes: {listed}")
        return
    table = [
        (str(row["line"]), row["id"], _describe_reasons(row, code), _describe_state(row), _describe_cells(row))
        for row in rows
    ]
    print_rows(("line", "id", "reason", "state", "cells"), table)
    if not is_whole:
        print(f"These are the first {format_count(len(rows), 'row')}; --limit N shows more, --json all.")


def _describe_reasons(row: Row, code: str) -> str:
    found = [each for each in row["errors"] if each["code"] == code]
    return " ".join(
        each["message"] + (f" Perhaps: {each['suggestion']}" if each["suggestion"] else "") for each in found
    )


def _describe_state(row: Row) -> str:
    if row["discarded_by"]:
        return f"discarded by {row['discarded_by']}"
    return f"import {row['corrected_by']}" if row["corrected_by"] else "open"


def _describe_cells(row: Row) -> str:
    return shorten_printable(row["raw"] if row["cells"] is None else " | ".join(row["cells"]), _CELLS)
