"""The arguments and help texts of `exhibit-ingest cases`, `imports`, `documents` and `history`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from core.exhibit_fields import FILTERED_TEXTS, LISTED_TEXTS, Filter

CASES = """\
Lists the cases of a tenant by name, with the number of documents, the number of imports and checks, and when the last
one began (UTC)."""
CASES_EPILOG = """\
--json prints {"cases": [{"name", "documents", "imports", "last_import_at"}]}."""

IMPORTS = """\
Lists the imports of a case, newest first; times are in UTC. The counts of a check, in parentheses, are what an import
would do. --json also has when each ended."""
IMPORTS_EPILOG = """\
--json prints {"imports": [{"id", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated",
"rejected", "warnings", "started_at", "finished_at"}]}; the phase is "import" or "check".

exit status: 0 success; 1 failure; 2 wrong usage, or there is no such case"""

DOCUMENTS = """\
Lists the documents of a case by control number: the first 50, or as many as --limit says. All filters must match.
--csv writes all of them to a file, in UTF-8 for Excel; a cell that a spreadsheet would evaluate begins with '."""
DOCUMENTS_EPILOG = """\
examples:
  exhibit-ingest documents --case acme --custodian "Ada Lovelace" --title "board budget"
  exhibit-ingest documents --case acme --bates-from SMITH100 --bates-to SMITH0000200
  exhibit-ingest documents --case acme --date-from 2019-01-01 --date-to 2019-12-31 --no-text --csv no_text.csv

In a case of more than 100,000 documents, dates, files, title and confidentiality need another filter that at most
100,000 documents match: --control-number, --custodian, --tag, --import or a Bates range.
--json prints {"documents": [{"control_number", "bates_begin", "bates_end", TEXTS,
"document_date", "version", "id"}]}.

exit status: 0 success; 1 failure; 2 wrong usage, or there is no such case"""
DOCUMENTS_EPILOG = DOCUMENTS_EPILOG.replace("TEXTS", ", ".join(f'"{name}"' for name in LISTED_TEXTS))

HISTORY = """\
Lists the changes of a document, newest first: edits, overlays, undos, custodians and tags, with the values before and
after, the user and the time (UTC). The last row is the import that created the document. A table shortens long values;
--json has them whole. An undo that removes a document also deletes its history."""
HISTORY_EPILOG = """\
examples:
  exhibit-ingest history SMITH0000017 --case "Smith v. Jones"

--json prints {"history": [{"version", "action", "user_id", "changed_at", "import_id", "line", "undo_no", "fields",
"properties", "custodians", "tags"}]}; the last four have {"old", "new"} by name. A property that the document did not
have has no "old".

exit status: 0 success; 1 failure; 2 wrong usage, or there is no such case or document"""


def add_lists(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    add_cases_arguments(add("cases", "list the cases", CASES, CASES_EPILOG))
    add_imports_arguments(add("imports", "list the imports of a case", IMPORTS, IMPORTS_EPILOG))
    add_documents_arguments(add("documents", "list or export documents of a case", DOCUMENTS, DOCUMENTS_EPILOG))
    add_history_arguments(add("history", "list the changes of a document", HISTORY, HISTORY_EPILOG))


def add_history_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `history`."""
    parser.add_argument("control_number", metavar="CONTROL_NUMBER", help="control number of the document")
    parser.add_argument("--case", required=True, metavar="NAME", help="case of the document")
    parser.add_argument("--limit", type=_limit, metavar="N", help="at most N changes (default for a table: 50)")
    add_cases_arguments(parser)


def add_cases_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `cases`."""
    _add_tenant(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, also for wrong usage")


def add_imports_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `imports`."""
    parser.add_argument("--case", required=True, metavar="NAME", help="case whose imports are listed")
    add_cases_arguments(parser)


def add_documents_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `documents`."""
    parser.add_argument("--case", required=True, metavar="NAME", help="case whose documents are listed")
    _add_tenant(parser)
    parser.add_argument("--control-number", metavar="N", help="only the document with this control number")
    parser.add_argument("--custodian", metavar="NAME", help="only documents of this custodian")
    parser.add_argument("--tag", metavar="NAME", help=r"only documents with this tag, such as Hot\Really Hot")
    parser.add_argument(
        "--import", dest="import_id", type=_import, metavar="ID", help="only documents that this import created"
    )
    parser.add_argument("--date-from", metavar="DAY", help="only documents of this day (UTC) or later: 2019-12-31")
    parser.add_argument("--date-to", metavar="DAY", help="only documents of this day (UTC) or earlier")
    parser.add_argument("--bates-from", metavar="N", help="only documents with Bates numbers from this one on")
    parser.add_argument("--bates-to", metavar="N", help="only documents with Bates numbers up to this one")
    for name in ("native", "text"):
        parser.add_argument(f"--{name}", action=_Presence, help=f"only documents with, or without, a {name} file")
    for text in FILTERED_TEXTS:
        name = text.name.replace("_", " ")
        only = f"whose {name} has all of these words" if text.filter is Filter.WORDS else f"with this {name}"
        metavar = "WORDS" if text.filter is Filter.WORDS else "TEXT"
        parser.add_argument(f"--{text.name.replace('_', '-')}", metavar=metavar, help=f"only documents {only}")
    parser.add_argument("--limit", type=_limit, metavar="N", help="at most N documents (default for a table: 50)")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", type=Path, metavar="FILE", help="write the documents to a file")
    output.add_argument("--json", action="store_true", help="print one JSON object, also for wrong usage")


class _Presence(argparse.BooleanOptionalAction):
    """--native or --no-native, as the API writes it: true or false."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, "false" if (option_string or "").startswith("--no-") else "true")


def _add_tenant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tenant", default="local", metavar="T", help="tenant that owns the case (default: local)")


def _import(text: str) -> str:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an import, which `imports` lists")
    return text


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) < 2**31):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)
