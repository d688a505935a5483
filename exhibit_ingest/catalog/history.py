"""The command `history`: the changes of a document."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from exhibit_ingest.catalog.change_rows import LINE_COLUMNS, VALUE_COLUMNS, describe_line, describe_values
from exhibit_ingest.catalog.finding import find_document
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.output import name_snake, print_list
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import print_table

_TABLE_CHANGES = 50


def print_history(session: Session, options: argparse.Namespace) -> int:
    """Print the changes, newest first; in a table 50, unless there is a limit. Raises CommandError."""
    document = find_document(session, options.case, options.control_number)
    if options.json:
        entries = iterate_changes(session, document["id"], options.limit)
        print_list("history", ({name_snake(name): entry[name] for name in entry} for entry in entries), sys.stdout)
        return DONE
    limit = options.limit or _TABLE_CHANGES
    entries = iterate_changes(session, document["id"], limit + 1)
    listed = list(islice(entries, limit))
    if options.all:
        print_table(VALUE_COLUMNS, [row for each in listed for row in describe_values(each)], sys.stdout)
    else:
        print_table(LINE_COLUMNS, [describe_line(each) for each in listed], sys.stdout)
    if next(entries, None) is not None:
        print(f"These are the last {len(listed):,} changes; there are more: add --limit or --json.")
    return DONE


def iterate_changes(session: Session, document_id: int, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the changes of a document, newest first; at most `limit`."""
    return iterate(session.api, f"/exhibits/{document_id}/changes", limit)
