"""The commands `cases`, `imports`, `custodians` and `tags`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from exhibit_ingest.catalog.columns import to_camel
from exhibit_ingest.catalog.import_table import print_imports
from exhibit_ingest.catalog.values import format_time
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.output import print_list
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import Column, print_table

_FIELDS = {
    "cases": ("name", "documents", "imports", "last_import_at", "status", "hold", "purge"),
    "imports": (
        *("id", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated", "rejected"),
        *("warnings", "started_at", "finished_at"),
    ),
    **dict.fromkeys(("custodians", "tags"), ("name", "documents")),
}
_NAME = Column("name", least=20)
_DOCUMENTS = Column("documents", is_number=True)
_COLUMNS = {
    "cases": (_NAME, _DOCUMENTS, Column("imports", is_number=True), Column("last import at"), Column("status")),
    **dict.fromkeys(("custodians", "tags"), (_NAME, _DOCUMENTS)),
}


def print_catalog(session: Session, options: argparse.Namespace) -> int:
    """Print the list of the command. Raises CommandError."""
    kind = options.command
    given = {name: value for name in ("case", "search") if (value := getattr(options, name, None)) is not None}
    rows = _choose_fields(iterate(session.api, f"/{kind}", **given), _FIELDS[kind])
    if options.json:
        print_list(kind, rows, sys.stdout)
    elif kind == "imports":
        print_imports(list(rows), sys.stdout)
    else:
        print_table(_COLUMNS[kind], [_build_cells(row) for row in rows], sys.stdout)
    return DONE


def describe_status(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case with its status, its hold and its requested purge in one cell, as people read them."""
    shown = {name: value for name, value in case.items() if name not in ("hold", "purge")}
    held, purge = case["hold"], case["purge"]
    more = [*(["on hold"] if held else []), *([f"purge from {purge['after']}"] if purge else [])]
    return {**shown, "status": ", ".join([case["status"], *more])}


def _choose_fields(items: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    return ({name: item[to_camel(name)] for name in names} for item in items)


def _build_cells(row: Mapping[str, Any]) -> dict[str, str]:
    row = describe_status(row) if "hold" in row else row
    cells = {name.replace("_", " "): f"{value:,}" if isinstance(value, int) else value for name, value in row.items()}
    if "last import at" in cells:
        cells["last import at"] = format_time(cells["last import at"])
    return cells
