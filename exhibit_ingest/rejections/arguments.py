"""The arguments and help texts of `exhibit-ingest rejections`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from exhibit_ingest.arguments import parse_id, parse_number, parse_path
from exhibit_ingest.session.arguments import add_session_arguments

MOST_SHOWN = 50

REJECTIONS = """\
Lists what an import rejected, by code and column, with what each code means, what to do, and an example. A rejected row
is open until it is corrected or discarded. --csv saves the rejected rows in the format of the load file (also a
DAT), with a last column ExhibitIngestLine that names their lines. Correct the cells in a text editor (Excel changes þ
and leading zeros), keep all columns, delete rows that you do not correct yet, and import the file with --fix. A line
can be corrected once; a second correction of it is rejected (LINE_NOT_OPEN)."""
REJECTIONS_EPILOG = """\
examples:
  exhibit-ingest rejections 12
      list the codes; with --code MISSING_ID the rows of that code, with line, id, reason and cells
  exhibit-ingest rejections 12 --csv bad.dat
      save the rejected rows to bad.dat, in the format of the load file, and their reasons to bad-report.csv
  exhibit-ingest rejections 12 --fix bad.dat
      import the corrected rows, wait, and say how many rows are still open
  exhibit-ingest rejections 12 --discard 17 23
      leave these lines out for good; --discard-code MISSING_ID does so with all open rows of a code

--discard and --discard-code ask first, because it cannot be taken back; in a script, or with --json, --yes is required.
--json prints {"import", "rejected", "open_rejections", "rejections": [{"code", "column", "count", "rows",
"first_line", "message"}], "is_complete"}; with --code {"import", "code", "columns", "rows": [{"line", "id", "cells",
"raw", "errors": [{"column", "code", "message", "suggestion"}], "corrected_by", "discarded_by", "discarded_at"}]};
with --csv {"import", "rejected_rows", "report"}; with --fix the members of `retry` of the import of the corrected
rows, and "corrects", "open_rejections" (of the import that they are of), "rejections": [{"line", "original_line",
"column", "code", "message"}], "images": the imports of pages that followed; with --discard {"import", "discarded",
"open_rejections"}.

exit status: 0 success; 3 corrected rows were rejected again, or another user was first; 1 failure, or the answer was
no; 2 wrong usage, or there is no such import"""


def add_rejection_arguments(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the command with `add`, which takes a name, a summary, a description and an epilog."""
    parser = add("rejections", "list and correct the rejected rows of an import", REJECTIONS, REJECTIONS_EPILOG)
    parser.add_argument("import_id", type=parse_id, metavar="IMPORT", help="number of the import")
    parser.add_argument("--open", action="store_true", help="with --code: only rows that are open")
    parser.add_argument(
        "--limit",
        type=partial(parse_number, least=1, most=2**31 - 1, expected="a number from 1"),
        metavar="N",
        help=f"with --code: at most N rows (default for a table: {MOST_SHOWN})",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--code", metavar="CODE", help="list the rows of this code")
    what.add_argument(
        "--csv",
        type=parse_path,
        metavar="FILE",
        help="save the rejected rows to a new file, in the load file's format",
    )
    what.add_argument("--fix", type=parse_path, metavar="FILE", help="import corrected rows: the file that --csv saved")
    what.add_argument(
        "--discard",
        type=partial(parse_id, kind="a line of the file"),
        nargs="+",
        metavar="LINE",
        help="leave out the rows of these lines, for good",
    )
    what.add_argument("--discard-code", metavar="CODE", help="leave out all open rows of this code, for good")
    parser.add_argument("--yes", action="store_true", help="do not ask before rows are discarded")
    parser.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
    add_session_arguments(parser)
