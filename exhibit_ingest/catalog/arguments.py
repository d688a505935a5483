"""The arguments and help texts of the commands about cases, and of those that list what a case has."""

from __future__ import annotations

import argparse

from exhibit_ingest.arguments import parse_path
from exhibit_ingest.catalog.case_arguments import CASES, CASES_EPILOG, add_case_arguments
from exhibit_ingest.catalog.columns import IN_JSON, NAMES
from exhibit_ingest.catalog.document_arguments import Add, add_document_commands, parse_limit
from exhibit_ingest.catalog.filters import add_filters
from exhibit_ingest.catalog.tag_arguments import add_tag_commands
from exhibit_ingest.session.arguments import add_session_arguments

_EXITS = "exit status: 0 success; 1 failure; 2 wrong usage, or there is no such {}"

IMPORTS = """\
Lists the imports of a case, newest first; times are in UTC. The counts of a check, in parentheses, are what an import
would do. --json also has when each ended."""
IMPORTS_EPILOG = f"""\
--json prints {{"imports": [{{"id", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated",
"rejected", "warnings", "started_at", "finished_at"}}]}}; the phase is "import" or "check".

{_EXITS.format("case")}"""

DOCUMENTS = """\
Lists the documents of a case by control number: the first 50, or as many as --limit says. --csv writes all of them to a
file, in UTF-8 for Excel, with each property as a column; a cell that a spreadsheet would evaluate begins with '."""
DOCUMENTS_EPILOG = f"""\
examples:
  exhibit-ingest documents --case acme --custodian "Ada Lovelace" --title "board budget"
  exhibit-ingest documents --case acme --bates-from SMITH100 --bates-to SMITH0000200
  exhibit-ingest documents --case acme --tag Privileged --columns "control_number,document_date,Author,To"
  exhibit-ingest documents --case acme --date-from 2019-01-01 --date-to 2019-12-31 --no-text --csv no_text.csv

--columns takes these fields, and names of properties (property:NAME if a field has the name, too; "properties" for all
of them):
  {", ".join(NAMES[:8])},
  {", ".join(NAMES[8:17])},
  {", ".join(NAMES[17:])}
A date is a day where its load file had a day; --csv has the time of the others, in UTC if it is known. The type is the
extension of the file name.
Dates, files, title and confidentiality have no index: in a large case, documents are searched part by part until there
are enough, and a terminal shows how many it has looked at.
--json prints {{"documents": [{{{", ".join(f'"{name}"' for name in IN_JSON[:6])},
{", ".join(f'"{name}"' for name in IN_JSON[6:13])},
{", ".join(f'"{name}"' for name in IN_JSON[13:])}}}]}}, or the columns of --columns; a date has its time.

{_EXITS.format("case, custodian, tag or column")}"""

NAMED = """\
Lists the {} of a case with the number of documents of each."""
NAMED_EPILOG = """\
--json prints {{"{}": [{{"name", "documents"}}]}}.

{}"""


def add_lists(add: Add) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    cases = add("cases", "list, close, hold and purge cases", CASES, CASES_EPILOG)
    add_case_arguments(cases, parse_case)
    _finish(cases, has_case=False)
    _finish(add("imports", "list the imports of a case", IMPORTS, IMPORTS_EPILOG))
    _add_documents_arguments(add("documents", "list or export documents of a case", DOCUMENTS, DOCUMENTS_EPILOG))
    add_document_commands(add, _finish)
    for name in ("custodians", "tags"):
        epilog = NAMED_EPILOG.format(name, _EXITS.format("case"))
        parser = add(name, f"list the {name} of a case", NAMED.format(name), epilog)
        parser.add_argument("--search", metavar="WORDS", help="only names that have all of these words")
        _finish(parser)
    add_tag_commands(add, _finish)


def _add_documents_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--columns", metavar="A,B,C", help="columns of the output, in their order")
    parser.add_argument("--limit", type=parse_limit, metavar="N", help="at most N documents (default for a table: 50)")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", type=parse_path, metavar="FILE", help="write the documents to a file")
    output.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
    add_filters(parser)
    _finish(parser, has_json=False)


def _finish(parser: argparse.ArgumentParser, *, has_case: bool = True, has_json: bool = True) -> None:
    """Add the arguments that the commands have in common."""
    if has_case:
        parser.add_argument("--case", required=True, type=parse_case, metavar="NAME", help="case of the documents")
    if has_json:
        parser.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
    add_session_arguments(parser)


def parse_case(text: str) -> str:
    """Return the name of a case; raise argparse.ArgumentTypeError for one that no case can have."""
    if not text.strip() or text != text.strip() or "/" in text or not text.isprintable() or len(text) > 255:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a case; `cases` lists them")
    return text
