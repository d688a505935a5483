"""The arguments and help texts of the commands about one document: `show`, `open` and `history`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from exhibit_ingest.arguments import parse_number, parse_path
from exhibit_ingest.parser import Parser

_EXITS = """
exit status: 0 success; 1 failure; 2 wrong usage, or there is no such case or document"""

SHOW = """\
Shows a document: fields, properties, custodians, tags, family, files with their state, pages, and who imported and who
changed it last."""
SHOW_EPILOG = f"""\
examples:
  exhibit-ingest show SMITH0000017 --case "Smith v. Jones"

--json prints {{"document": {{...}}}} with the fields of the API in snake_case, and "files" (of pages, too),
"family" (the control numbers of its documents, itself included), "imported" and "changed" (the first and the last
change).
{_EXITS}"""

OPEN = """\
Downloads the native, the text or a page of a document to a folder that only you can read, and opens it with the viewer
of this machine. Only types that viewers show are opened: PDF, images, text, e-mail, Office documents (the old formats
doc, xls and ppt can contain macros), sound and video. Every other file is saved only. If the
SHA-256 of the file is known, what arrived is compared with it."""
OPEN_EPILOG = f"""\
examples:
  exhibit-ingest open SMITH0000017 --case "Smith v. Jones" --native
  exhibit-ingest open SMITH0000017 --case "Smith v. Jones" --page 3
  exhibit-ingest open SMITH0000017 --case "Smith v. Jones" --text --output text.txt

--json prints {{"file": {{"kind", "page", "path", "opened"}}}}.
{_EXITS}"""

HISTORY = """\
Lists the changes of a document, newest first, a line for each: when (UTC), who, and what. The last line is the import
that created the document. --all has a row for each value before and after it, with the source, and fields of the
application itself; --json has all values whole. The history of a document that
an undo removed stays in the database (table exhibit_changes); this command no longer lists it."""
HISTORY_EPILOG = f"""\
examples:
  exhibit-ingest history SMITH0000017 --case "Smith v. Jones"

--json prints {{"history": [{{"version", "action", "user_id", "user_name", "changed_at", "import_id", "line", "undo_no",
"tagging_job_id", "fields", "properties", "custodians", "tags"}}]}}; the last four have {{"old", "new"}} by name. A
property that the document did not have has no "old".
{_EXITS}"""

parse_limit = partial(parse_number, least=1, most=2**31 - 1, expected="a number from 1")
Add = Callable[[str, str, str, str], Parser]


def add_document_commands(add: Add, finish: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the commands; `finish` adds the arguments that all commands have."""
    for parser in (
        add("show", "show a document with its files, family and history", SHOW, SHOW_EPILOG),
        _add_open_arguments(add("open", "open or save a file of a document", OPEN, OPEN_EPILOG)),
        _add_history_arguments(add("history", "list the changes of a document", HISTORY, HISTORY_EPILOG)),
    ):
        parser.add_argument("control_number", metavar="CONTROL_NUMBER", help="control number of the document")
        finish(parser)


def _add_open_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--native", dest="kind", action="store_const", const="native", help="the native file")
    which.add_argument("--text", dest="kind", action="store_const", const="text", help="the text")
    page = partial(parse_number, least=1, most=2**31 - 1, expected="a number of a page, from 1")
    which.add_argument("--page", type=page, metavar="N", help="the image of page N of the document")
    parser.add_argument("--output", type=parse_path, metavar="FILE", help="save it as this new file; do not open it")
    return parser


def _add_history_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--limit", type=parse_limit, metavar="N", help="at most N changes (default for a table: 50)")
    parser.add_argument("--all", action="store_true", help="a row for each value before and after a change")
    return parser
